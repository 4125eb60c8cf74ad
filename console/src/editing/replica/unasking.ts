/**
 * Taking back what was not sent yet, by not sending it. If it were sent with what takes it back, that would bring back what others have
 * removed meanwhile, too.
 */
import { apply } from "../fold.ts";
import { operation, type Operation } from "../log/operations.ts";
import { joined, type Entry, type Pending, type Sent } from "./pending.ts";
import { inverse } from "../rules/inverse.ts";
import { resolve } from "../rules/resolve.ts";
import type { State } from "../state.ts";

/**
 * What waits without the action of an entry, and what does the action again. Null where a part of it is sent, or another action waits
 * that was made after it.
 */
export function unasked(entry: Entry, confirmed: State, sent: Sent | null, unsent: readonly Pending[]): { readonly left: Pending[]; readonly again: Operation } | null {
  const first = unsent.findIndex((part) => part.entry === entry);
  const inFlight = sent?.parts ?? [];
  const parts = unsent.slice(first);
  if (first < 0 || entry.begun || parts.some((part) => part.entry !== entry) || inFlight.some((part) => part.entry === entry)) return null;
  const left = unsent.slice(0, first);
  const { state } = resolve(confirmed, [...inFlight, ...left].map((part) => part.operation));
  let back = operation([]);
  for (const part of parts) {
    const { effects } = resolve(state, [part.operation]);
    back = joined(inverse(state, effects), back);
    apply(state, effects);
  }
  return { left, again: inverse(state, resolve(state, [back]).effects) };
}
