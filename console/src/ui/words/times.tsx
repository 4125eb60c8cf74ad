/** Instants as people read them: relative, with the whole in the title. */
import { useSyncExternalStore, type ReactElement } from "react";
import { serverNow } from "../../wire/clock.ts";

const UNITS: readonly (readonly [unit: string, ms: number])[] = [["y", 31_536_000_000], ["mo", 2_592_000_000], ["d", 86_400_000], ["h", 3_600_000], ["min", 60_000]];

/** `3 min ago`, `in 21 h`, `yesterday`: the units are those of durations. */
export function ago(at: number, now: number): string {
  for (const [unit, ms] of UNITS) {
    const count = Math.trunc((at - now) / ms);
    if (count === 0) continue;
    if (unit === "d" && Math.abs(count) === 1) return count < 0 ? "yesterday" : "tomorrow";
    return count < 0 ? `${-count} ${unit} ago` : `in ${count} ${unit}`;
  }
  return "just now";
}

const MINUTE_MS = 60_000;

const shown = new Set<() => void>();
let clock: ReturnType<typeof setInterval> | undefined; // one for all times of a page

function everyMinute(listener: () => void): () => void {
  shown.add(listener);
  clock ??= setInterval(() => { for (const one of shown) one(); }, MINUTE_MS);
  return () => {
    shown.delete(listener);
    if (shown.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
}

/** `at` is an ISO text or milliseconds. What it says goes with the time. */
export function When({ at }: { readonly at: string | number }): ReactElement | null {
  useSyncExternalStore(everyMinute, () => Math.floor(Date.now() / MINUTE_MS));
  const instant = new Date(at);
  if (Number.isNaN(instant.getTime())) return null;
  return <time dateTime={instant.toISOString()} title={instant.toLocaleString()}>{ago(instant.getTime(), serverNow())}</time>;
}
