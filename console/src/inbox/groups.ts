/** Spans of time that failures are listed for, and the bars of their counts. */

import { COUNTED_MS } from "../wire/tallies.ts";

export const SPANS = { "24h": 86_400_000, "7d": COUNTED_MS, "30d": 2_592_000_000 } as const;

export type Span = keyof typeof SPANS;

/** The span of the address; that of the count in the head of every page where it names none. */
export function spanOf(text: string | null): Span {
  return text !== null && Object.hasOwn(SPANS, text) ? text as Span : "7d";
}

/** The height of each bar: the highest has `full`, none that counts something has less than 3, an empty one has 1. */
export function barsOf(counts: readonly number[], full: number): { readonly at: number; readonly height: number }[] {
  const most = Math.max(1, ...counts);
  return counts.map((count, at) => ({ at, height: count === 0 ? 1 : Math.max(3, Math.round((count / most) * full)) }));
}
