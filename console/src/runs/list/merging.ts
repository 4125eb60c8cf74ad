/** Pages of runs as one list, newest first. A page that is read again replaces what it covers, and nothing else. */
import type { NamedRun } from "../../runstate/named.ts";

export interface Head extends NamedRun {
  readonly duration_ms: number;
  readonly failed_node: string | null;
  readonly error: { readonly code: string; readonly message: string; readonly node: string | null } | null;
  readonly pauses: readonly { readonly node: string; readonly message: string; readonly since: string; readonly deadline: string | null }[];
  readonly usd: number | null;
  readonly keywords: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
}

export interface RunPage {
  readonly runs: readonly Head[];
  readonly cursor: string | null;
}

/** Negative where `left` stands before `right`: newest first, then by id, descending. */
export function compare(left: Head, right: Head): number {
  if (left.created_at !== right.created_at) return left.created_at > right.created_at ? -1 : 1;
  return left.id === right.id ? 0 : left.id > right.id ? -1 : 1;
}

/** The place of the first row that is not before `head`. */
export function placeOf(rows: readonly Head[], head: Head): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = rows[middle];
    if (at !== undefined && compare(at, head) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The rows after a page was read whose first possible row is at `from`. It covers the rows from there to its last one, or to the end
 * where it has no cursor. null: the page does not reach the rows that are known, so there may be others between; begin anew with it.
 */
export function merged(rows: readonly Head[], page: RunPage, from: number): readonly Head[] | null {
  const last = page.runs.at(-1);
  if (page.cursor === null) return [...rows.slice(0, from), ...page.runs];
  if (last === undefined) return rows;
  const next = placeOf(rows, last);
  const known = rows[next]?.id === last.id;
  if (next <= from && !known && rows.length > from) return null;
  return [...rows.slice(0, from), ...page.runs, ...rows.slice(known ? next + 1 : next)];
}

/** The rows with a further page behind them; rows that stand there already are not repeated. */
export function extended(rows: readonly Head[], page: RunPage): readonly Head[] {
  const last = rows.at(-1);
  return [...rows, ...(last === undefined ? page.runs : page.runs.filter((run) => compare(last, run) < 0))];
}
