/** The health of workflows as the server counts it, and what the list makes of it: search, order, words. */
import type { ListedDraftOut, StatsOut, WorkflowStatsOut } from "../wire/contract.ts";

export type Health = StatsOut;

export type Listed = WorkflowStatsOut;

export type DraftHead = ListedDraftOut;

export const WINDOWS = { "24h": "24 hours", "7d": "7 days", "30d": "30 days" } as const;

export type Window = keyof typeof WINDOWS;

/** The window of the address; a day where it names none. */
export function windowOf(text: string | null): Window {
  return text !== null && Object.hasOwn(WINDOWS, text) ? text as Window : "24h";
}

export const ORDERS = { name: "By name", failures: "By failure rate", runs: "By runs", slow: "By p95", cost: "By cost", next: "By next firing" } as const;

export type Order = keyof typeof ORDERS;

export function orderOf(text: string | null): Order {
  return text !== null && Object.hasOwn(ORDERS, text) ? text as Order : "name";
}

const RANKS: Readonly<Record<Exclude<Order, "name">, (one: Listed) => number>> = {
  failures: (one) => -(one.failure_rate ?? -1),
  runs: (one) => -one.runs,
  slow: (one) => -(one.p95_ms ?? -1),
  cost: (one) => -(one.usd ?? -1),
  next: (one) => (one.next_at === null ? Infinity : Date.parse(one.next_at)),
};

/** The workflows whose id or name has every word, in this order; equals by name, then by id. */
export function shownOf(listed: readonly Listed[], words: string, order: Order): Listed[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = listed.filter((one) => {
    const text = `${one.workflow} ${one.name}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const byName = (left: Listed, right: Listed): number => left.name.localeCompare(right.name, "en") || (left.workflow < right.workflow ? -1 : 1);
  if (order === "name") return found.sort(byName);
  const rank = RANKS[order];
  return found.sort((left, right) => {
    const [a, b] = [rank(left), rank(right)];
    return a === b ? byName(left, right) : a - b;
  });
}

/** A share in per cent with two significant digits: a single failure of thousands is not nothing. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 0 || value === 100) return `${value}%`;
  if (value >= 99.5) return "99.5%+";
  return `${value >= 10 ? Math.round(value) : Number(value.toPrecision(value >= 1 ? 2 : 1))}%`;
}

export interface Bar {
  readonly at: number;
  readonly whole: number; // the height of all runs
  readonly failed: number; // of those that failed, from the ground
}

/** The heights of a sparkline: the highest bar has `full`; none that counts a run has less than 2, nor one that failed. */
export function barsOf(counts: readonly number[], failed: readonly number[], full: number): Bar[] {
  const most = Math.max(1, ...counts);
  const height = (count: number): number => (count === 0 ? 0 : Math.max(2, Math.round((count / most) * full)));
  return counts.map((count, at) => {
    const bad = failed[at] ?? 0;
    return { at, whole: height(count), failed: bad === count ? height(count) : Math.min(height(bad), Math.max(2, height(count) - 1)) };
  });
}

/** What a sparkline shows, in words. */
export function barWords(one: Health): string {
  const failed = one.failed_bars.reduce((sum, count) => sum + count, 0);
  if (one.runs === 0) return "No runs";
  return `${failed.toLocaleString("en")} of ${one.at_least ? "the newest " : ""}${one.runs.toLocaleString("en")} ${one.runs === 1 ? "run" : "runs"} failed`;
}
