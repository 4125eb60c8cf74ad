/** How many runs match, by status: read when the filter changes, and now and then while the page is in view. */
import { useEffect, useState } from "react";
import { requestPlain } from "../../wire/api.ts";
import { serverNow } from "../../wire/clock.ts";
import { summed } from "./changing.ts";
import { toQuery, type Filters } from "./filters.ts";
import type { CountOut } from "../../wire/contract.ts";

export interface Counts {
  readonly count: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly more: boolean;
}

type Answer = CountOut;

const MAX_REQUESTS = 5;
const AGAIN_MS = 15_000;

async function counts(filters: Filters, signal: AbortSignal): Promise<Counts> {
  const query = toQuery(filters, serverNow());
  let found: Counts = { count: 0, statuses: {}, more: true };
  for (let round = 0; round < MAX_REQUESTS && found.more; round += 1) {
    const answer = await requestPlain("GET", `/runs/count?${query.toString()}`, undefined, signal) as Answer;
    found = { count: found.count + answer.count, statuses: summed(found.statuses, answer.statuses), more: answer.cursor !== null };
    if (answer.cursor !== null) query.set("cursor", answer.cursor);
  }
  return found;
}

/** null until they are known, and where they cannot be had: the list itself says why. Another `turn` reads them at once. */
export function useCounts(filters: Filters, turn: number): Counts | null {
  const [found, setFound] = useState<Counts | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = (): void => {
      const next = (): void => { if (!leaving.signal.aborted) timer = setTimeout(ask, AGAIN_MS); };
      if (document.hidden) next();
      else counts(filters, leaving.signal).then((made) => { setFound(made); next(); }, () => { if (!leaving.signal.aborted) setFound(null); next(); });
    };
    ask();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [filters, turn]);
  return found;
}
