/**
 * What a client makes of a gesture before it shows it: the names that are free, the references that a rename rewrites.
 *
 * A client that showed less than the server will do would undo less, too: a deleted block came back without its edges.
 */
import { sameWrite, type Effect, type RenameWrite, type Write } from "../effects.ts";
import { gesture, type Gesture, type Outcome } from "../gestures.ts";
import type { State } from "../state.ts";
import { resolve } from "./resolve.ts";

/** The gesture as it is sent, and its effects over what the client shows; no gesture where it does nothing or is refused. */
export interface Expanded {
  readonly gesture: Gesture | null;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
}

/** Decides a gesture over a view, as the server would. What it drops here is not sent at all. */
export function expand(view: State, asked: Gesture): Expanded {
  const { effects, outcomes } = resolve(view, [asked]);
  if (effects.length === 0) return { gesture: null, effects, outcomes };
  const writes: Write[] = [];
  const derived: (readonly [number, number])[] = [];
  const names = new Map(asked.writes.filter((write): write is RenameWrite => write[0] === "rename").map((write) => [write[1], write]));
  const causes = new Map<string, number>(); // by the new name: where the rename stands
  const deleted = new Set(asked.writes.flatMap((write) => (write[0] === "del" ? [write[1]] : [])));
  const splices = asked.writes.filter((write) => write[0] === "splice");
  for (const effect of effects) {
    const renamed = names.get(effect[1]);
    if (effect[0] === "set" && renamed !== undefined && effect[2].length === 1 && effect[2][0] === "id" && effect[3] === renamed[2]) {
      causes.set(renamed[2], writes.length);
      writes.push(["rename", renamed[1], renamed[2], true]);
    } else if (effect[0] === "del" && !deleted.has(effect[1])) {
      continue; // follows from another deletion or from a move, and is derived anew where it is committed
    } else {
      const cause = effect[0] === "splice" ? causes.get(effect[5]) : undefined;
      if (cause !== undefined && !splices.some((write) => sameWrite(write, effect))) derived.push([writes.length, cause]);
      writes.push(effect);
    }
  }
  return { gesture: gesture(writes, asked.guards, derived), effects, outcomes };
}
