/** Pages of open questions, as one list. */
import type { ApprovalsOut } from "../wire/contract.ts";
import { writtenOf } from "../wire/exact.ts";
import { readDuration } from "../ui/words/formats.ts";
import type { Approval } from "./answer_form.tsx";

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
  return `${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`;
}

/** The filters of the list, as the address has them. `due` is a duration from now on. */
export interface Asked {
  readonly workflow: string;
  readonly due: string;
  readonly mine: boolean;
}

export function askedOf(query: URLSearchParams): Asked {
  return { workflow: query.get("workflow") ?? "", due: query.get("due") ?? "", mine: query.has("mine") };
}

/** The query of the address, with `?`; empty without a filter. */
export function addressOf({ workflow, due, mine }: Asked): string {
  const query = new URLSearchParams([...(workflow === "" ? [] : [["workflow", workflow]]), ...(due === "" ? [] : [["due", due]]), ...(mine ? [["mine", "1"]] : [])]);
  return query.size === 0 ? "" : `?${query.toString()}`;
}

/** The path at the server. The instant is that of a whole minute, so that the path stays the same between two looks. */
export function pathOf({ workflow, due, mine }: Asked, now: number): string {
  const query = new URLSearchParams(workflow === "" ? [] : [["workflow", workflow]]);
  const ms = readDuration(due);
  if (ms !== null) query.set("due_before", new Date(Math.ceil((now + ms) / 60_000) * 60_000).toISOString());
  if (mine) query.set("assigned", "true");
  return query.size === 0 ? "/approvals" : `/approvals?${query.toString()}`;
}

/** Why these cannot be answered with one form; empty where they can. */
export function apart(chosen: readonly Approval[]): string {
  const [first, ...rest] = chosen;
  if (first === undefined) return "Choose questions first";
  const form = (one: Approval): string => writtenOf([one.workflow, one.node, one.exits, one.fields]);
  return rest.every((one) => form(one) === form(first)) ? "" : "The chosen questions are of different nodes";
}
