/**
 * Expands an operation on the client before it is shown: free names, rewritten references.
 *
 * A client that showed less than the server will do would undo less, too: a deleted block came back without its edges.
 */
import { pathOf, type Effect, type RenameWrite, type Write } from "../log/effects.ts";
import { operation, type Operation, type Outcome } from "../log/operations.ts";
import type { State } from "../state.ts";
import { resolve } from "./resolve.ts";

/** The operation as it is sent, and its effects over what the client shows; no operation where it does nothing or is refused. */
export interface Expanded {
  readonly operation: Operation | null;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
}

/**
 * Decides an operation over a view, as the server would. What it drops here is not sent at all, nor is what follows where it is
 * committed: the deletions of a cascade, the edges and the name that a move takes, the orders of siblings.
 */
export function expand(view: State, asked: Operation): Expanded {
  const { effects, outcomes } = resolve(view, [asked]);
  if (effects.length === 0) return { operation: null, effects, outcomes };
  const renames = new Map(asked.writes.filter((write): write is RenameWrite => write[0] === "rename").map((write) => [write[1], write]));
  const places = new Set(asked.writes.map(placeOf));
  const orders = new Set(["", ...asked.writes.map(orderOf)]);
  const writes: Write[] = [];
  const derived: (readonly [number, number])[] = [];
  const causes = new Map<string, number>(); // by the new name: where the rename stands
  for (const effect of effects) {
    const rename = renames.get(effect[1]);
    if (effect[0] === "set" && rename !== undefined && effect[2].length === 1 && effect[2][0] === "id" && effect[3] === rename[2]) {
      causes.set(rename[2], writes.length);
      writes.push(["rename", rename[1], rename[2], true]);
    } else if (!orders.has(orderOf(effect))) {
      continue; // the siblings of one whose order was too long get new ones where it is committed, and so does it
    } else if (places.has(placeOf(effect))) {
      writes.push(effect);
    } else if (effect[0] === "splice") {
      const cause = causes.get(effect[5]);
      if (cause !== undefined) derived.push([writes.length, cause]);
      writes.push(effect);
    }
  }
  return { operation: operation(writes, asked.guards, derived), effects, outcomes };
}

/** Which order a write sets, if any. */
const orderOf = (write: Write): string =>
  (write[0] === "set" && write[2].length === 1 && write[2][0] === "order" ? JSON.stringify([write[1], write[3]]) : "");

/** The entity of a write, and the path in it. */
const placeOf = (write: Write): string => JSON.stringify([write[1], ...pathOf(write)]);
