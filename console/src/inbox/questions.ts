/** Pages of open questions, as one list. */
import type { ApprovalsOut } from "../wire/contract.ts";
import type { Approval } from "./answer.tsx";

/** `cursor` continues the list. */
export interface Open extends Omit<ApprovalsOut, "approvals" | "left_out"> {
  readonly approvals: readonly Approval[];
  readonly pages: number; // that were asked for
}

export function keyOf(one: Pick<Approval, "run_id" | "pause" | "since">): string {
  return `${one.run_id} ${one.pause} ${one.since}`;
}

/** A question that both have is listed once; the counts are those of the later page. */
export function merged(found: Open, next: Open): Open {
  const known = new Map([...found.approvals, ...next.approvals].map((one) => [keyOf(one), one]));
  return { ...next, approvals: [...known.values()], unreadable: [...new Set([...found.unreadable, ...next.unreadable])] };
}

export function pathAfter(path: string, cursor: string): string {
  return `${path}?cursor=${encodeURIComponent(cursor)}`;
}
