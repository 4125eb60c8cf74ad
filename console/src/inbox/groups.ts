/** Spans of time that failures are listed for, and the bars of their counts. */

import { counted } from "../ui/words/formats.ts";
import type { ErrorsOut } from "../wire/contract.ts";
import { COUNTED_MS } from "../wire/tallies.ts";

/** The part of the address that names an open group by its fingerprint; there may be several. */
export const GROUP = "group";

export type Listed = Pick<ErrorsOut, "group_count" | "count" | "at_least" | "unsure"> & { readonly errors: readonly unknown[] };

export const SPANS = { "24h": 86_400_000, "7d": COUNTED_MS, "30d": 2_592_000_000 } as const;

export type Span = keyof typeof SPANS;

/** The span of the address; that of the count in the head of every page where it names none. */
export function spanOf(text: string | null): Span {
  return text !== null && Object.hasOwn(SPANS, text) ? text as Span : "7d";
}

/** What the list of runs is filtered by to show those of a group, in the names of its address. Runs that timed out have no error. */
export function filterOf(group: { readonly workflow: string; readonly status: string; readonly code: string }, since: Span): Readonly<Record<string, string>> {
  return { workflow: group.workflow, status: group.status, ...(group.status === "timed_out" ? {} : { error: group.code }), since };
}

/** How many failures and groups there are, and how many groups are shown, where those are not all. */
export function saidOf({ count, group_count: groups, errors, at_least: more, unsure }: Listed): string {
  if (count === 0) return "";
  const shown = errors.length < groups ? `; the first ${errors.length.toLocaleString("en")} of ${counted(groups, "group")} are shown` : ` in ${counted(groups, "group")}`;
  return `${more ? "At least " : ""}${counted(count, "failure")}${shown}${unsure ? "; some may have been rerun since" : ""}`;
}

/** The query of the page with a group opened or closed. */
export function toggled(query: URLSearchParams, fingerprint: string): URLSearchParams {
  const open = query.getAll(GROUP);
  const next = new URLSearchParams([...query].filter(([name]) => name !== GROUP));
  for (const one of open.includes(fingerprint) ? open.filter((other) => other !== fingerprint) : [...open, fingerprint]) next.append(GROUP, one);
  return next;
}

/** The height of each bar: the highest has `full`, none that counts something has less than 3, an empty one has 1. */
export function barsOf(counts: readonly number[], full: number): { readonly at: number; readonly height: number }[] {
  const most = Math.max(1, ...counts);
  return counts.map((count, at) => ({ at, height: count === 0 ? 1 : Math.max(3, Math.round((count / most) * full)) }));
}
