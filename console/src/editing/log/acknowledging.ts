/** Reads the log entry of a request: the outcome of each operation that was in flight. */
import { apply } from "../fold.ts";
import type { Operation, LogEntry } from "./operations.ts";
import type { Entry, Notice, Pending, Sent } from "../replica/pending.ts";
import { inverse } from "../rules/inverse.ts";
import { resolve } from "../rules/resolve.ts";
import { Layer, type State } from "../state.ts";

/** What to report of the operations, and those that were refused. */
export function answers(sent: Sent, item: LogEntry): { readonly notices: Notice[]; readonly refused: Pending[] } {
  const notices: Notice[] = [];
  const refused: Pending[] = [];
  for (const outcome of item.outcomes) {
    const part = sent.parts[outcome.operation];
    if (part === undefined) continue;
    notices.push({ outcome, operation: part.operation, origin: part.origin, sent: true });
    if (outcome.refused) refused.push(part);
  }
  const reported = new Set(item.outcomes.map((outcome) => sent.parts[outcome.operation]));
  for (const { part, outcome } of sent.lost) {
    if (!reported.has(part)) notices.push({ outcome, operation: part.operation, origin: part.origin, sent: true });
  }
  return { notices, refused };
}

/** What takes each action back, made from what is committed over the confirmed state: a list for its operations, in their order. */
export function backsOf(confirmed: State, sent: Sent): Map<Entry, Operation[]> {
  const state = new Layer(confirmed);
  const backs = new Map<Entry, Operation[]>();
  for (const part of sent.parts) {
    const { effects } = resolve(state, [part.operation]);
    if (part.entry !== null) backs.set(part.entry, [...(backs.get(part.entry) ?? []), inverse(state, effects)]);
    apply(state, effects);
  }
  return backs;
}
