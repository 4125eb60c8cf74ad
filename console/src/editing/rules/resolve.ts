/**
 * The decision: which effects the operations of a client have, over the state as it is when they are committed. The server decides with
 * the same rules; a client with them shows beforehand what will be decided.
 *
 * Every state that the effects lead to is whole: no edge, subflow, place, pin or child without its block, no edge between two
 * bodies, no two blocks of one name in one body, no block inside itself.
 *
 *     operation                       meets                                  then
 *     any                           a guard that does not hold             refused `changed_since`
 *     any                           a write that the table forbids         refused `not_allowed`
 *     a write of an entity          that is gone                           dropped `gone`
 *     a write                       a later value over its place           dropped `superseded`
 *     put block                     its parent is gone                     dropped `gone`
 *                                   its name is taken in the body          the name gets `_2`, `_3` …; what the operation adds follows
 *     put edge                      an end is gone                         dropped `gone`
 *                                   its ends are in two bodies             dropped `other_body`
 *                                   the same tie stands                    dropped `already_there`
 *     del block                     what hangs on it                       goes too: edges, subflow, place, pin, children
 *     rename                        the name is taken                      refused `name_taken`
 *                                   texts that mention it                  derived splices, as far as they still stand
 *     set parent                    a container that is gone               dropped `gone`
 *                                   one below the block itself             refused `parent_cycle`
 *                                   the name taken there                   the name gets `_2`, `_3` …
 *                                   edges to what stays                    go with it
 *     set order                     longer than its limit                  the siblings get new orders
 *     any                           more than a decision may take          refused `gesture_too_large`
 *
 * A refusal takes the whole operation and nothing else; a drop takes the write and, since they find nothing any more, those that need
 * it. A write that changes nothing has no effect and no outcome.
 *
 * A client numbers the characters of a text by what it showed: with everything that it had asked for. Where a write is dropped, or a
 * reference follows a new name, what it asked for later is transformed with that difference (`Unknown`), or its offsets would be wrong.
 */
import type { Effect, Write } from "../log/effects.ts";
import { apply } from "../fold.ts";
import type { Operation, Outcome } from "../log/operations.ts";
import { Layer, valueAt, type State } from "../state.ts";
import { same } from "../values/values.ts";
import { BOUNDS, Budget, TOO_LARGE } from "./budget.ts";
import { Trial } from "./validation.ts";
import { Refused } from "./refused.ts";
import { Unknown } from "./unknown.ts";

/** Effects that were committed since a client's base, and the person they are by. */
export interface Change {
  readonly by: string;
  readonly effects: readonly Effect[];
}

/** The effects, in order, what became of operations that were not committed as asked, and the state after them. */
export interface Decision {
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
  readonly state: Layer;
}

/**
 * Decides the operations of a request, each over what those before it made. `since` is what others committed between the request's
 * base and `state`, in order. Costs what the operations and `since` touch, and no more for each operation than
 * the bounds.
 */
export function resolve(state: State, operations: readonly Operation[], since: Iterable<Change> = [], bounds = BOUNDS): Decision {
  const unknown = new Unknown();
  const blame = new Map<string, string>();
  for (const change of since) {
    unknown.add(change.effects);
    for (const effect of change.effects) blame.set(effect[1], change.by);
  }
  const by = (key: string): string | null => blame.get(key) ?? null;
  const effects: Effect[] = [];
  const outcomes: Outcome[] = [];
  const layer = new Layer(state);
  for (const [index, operation] of operations.entries()) {
    const budget = new Budget(bounds);
    const trial = new Trial(layer, budget);
    const moved: Write[][] = [];
    try {
      for (const write of operation.writes) moved.push(unknown.met(write, budget));
      for (const [key, path, value] of operation.guards) {
        if (!same(valueAt(layer, key, path), value)) throw new Refused("changed_since", key);
      }
      validated(trial, operation, moved, unknown, budget);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { code, key } = error;
      outcomes.push({ operation: index, code, key, by: code === TOO_LARGE ? null : by(key), refused: true, writes: operation.writes });
      unknown.add(undone(moved.flat()));
      continue;
    }
    for (const effect of trial.effects) effects.push(effect);
    apply(layer, trial.effects);
    for (const { code, key, places } of trial.dropped) {
      const writes = operation.writes.filter((_, place) => places.has(place));
      outcomes.push({ operation: index, code, key, by: by(key), refused: false, writes });
    }
  }
  return { effects, outcomes, state: layer };
}

/** Validates the writes of one operation in order. Adds to `unknown` what the client did not expect of it. */
function validated(trial: Trial, operation: Operation, moved: readonly (readonly Write[])[], unknown: Unknown, budget: Budget): void {
  const causes = new Map(operation.derived);
  const behind = new Unknown(); // how what was done differs from what the client showed
  for (const [place, writes] of moved.entries()) {
    const cause = causes.get(place);
    const named = operation.writes[place];
    if (writes.length === 0 && cause === undefined && named !== undefined) trial.drop(place, "superseded", named[1]);
    for (const write of writes) {
      const meant = behind.met(write, budget);
      if (meant.length === 0 && cause === undefined) trial.drop(place, "superseded", write[1]);
      for (const one of meant) {
        const done = trial.validate(place, one, cause === undefined ? null : (operation.writes[cause] ?? null));
        behind.add(trial.unforeseen());
        if (!done) behind.add(undone([one]));
      }
    }
  }
  trial.finish();
  unknown.take(behind);
  unknown.add(undone(trial.withdrawn));
  unknown.add(trial.unforeseen());
}

/** Writes that take others back, for transformation: only their places and lengths count. */
export function undone(writes: readonly Write[]): Write[] {
  const back: Write[] = [];
  for (const write of writes.toReversed()) {
    switch (write[0]) {
      case "splice":
        back.push(["splice", write[1], write[2], write[3], Array.from(write[5]).length, "\0".repeat(write[4])]);
        break;
      case "put":
        back.push(["del", write[1]]);
        break;
      case "set":
      case "unset":
        back.push(["set", write[1], write[2], null]);
        break;
      case "del":
      case "rename":
    }
  }
  return back;
}
