/** The list of workflows, page by page, read again now and then while it is in view. An error keeps what was read before. */
import { useCallback, useEffect, useState } from "react";
import { hasDrafts } from "../ui/drafts.ts";
import { requestPlain } from "../wire/api.ts";
import { serverNow } from "../wire/clock.ts";
import type { DraftHead, Listed, Window } from "./health.ts";

const AGAIN_MS = 60_000;
const MOST_PAGES = 20;
const PAGES_AGAIN = 2; // a longer list is read again only when a person asks: each page reads the runs of 50 workflows

export interface Fleet {
  readonly listed: readonly Listed[];
  readonly drafts: readonly DraftHead[];
  readonly whole: boolean; // every page is here
  readonly bounded: boolean; // there are more workflows than are read
  readonly at: number; // when the last page was read
}

export interface Reading {
  readonly found: Fleet | null;
  readonly error: unknown;
  readonly again: () => void;
}

interface Page<T> {
  readonly cursor: string | null;
  readonly items: readonly T[];
}

async function page<T>(path: string, name: string, signal: AbortSignal): Promise<Page<T>> {
  const answer = await requestPlain("GET", path, undefined, signal) as Readonly<Record<string, unknown>>;
  return { cursor: typeof answer["cursor"] === "string" ? answer["cursor"] : null, items: answer[name] as readonly T[] };
}

/** Reads everything; `say` takes what is there after each page. Returns the number of pages. */
async function read(span: Window, say: (fleet: Fleet) => void, signal: AbortSignal): Promise<number> {
  const drafts = hasDrafts().then(async (has) => has ? (await page<DraftHead>("/drafts?limit=1000", "drafts", signal)).items : []);
  const listed: Listed[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const from: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const [found, open] = await Promise.all([page<Listed>(`/stats?window=${span}${from}`, "workflows", signal), drafts]);
    listed.push(...found.items);
    cursor = found.cursor;
    pages += 1;
    say({ listed: [...listed], drafts: open, whole: cursor === null || pages === MOST_PAGES, bounded: cursor !== null, at: serverNow() });
  } while (cursor !== null && pages < MOST_PAGES);
  return pages;
}

export function useFleet(span: Window): Reading {
  const [state, setState] = useState<{ readonly span: Window; readonly found: Fleet | null; readonly error: unknown }>({ span, found: null, error: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let first = true;
    const later = (pages: number): void => {
      if (!leaving.signal.aborted && pages <= PAGES_AGAIN) timer = setTimeout(ask, AGAIN_MS);
    };
    const ask = (): void => {
      if (document.hidden && !first) {
        later(1);
        return;
      }
      const known = first;
      first = false;
      const say = (found: Fleet): void => { if (!leaving.signal.aborted && (known || found.whole)) setState({ span, found, error: null }); };
      read(span, say, leaving.signal).then(later, (error: unknown) => {
        if (!leaving.signal.aborted) setState((old) => ({ span, found: old.found, error }));
        later(1);
      });
    };
    ask();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [span, round]);
  const again = useCallback(() => { setRound((old) => old + 1); }, []);
  return { found: state.found, error: state.span === span ? state.error : null, again };
}
