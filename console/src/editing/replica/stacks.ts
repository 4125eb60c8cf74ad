/** Holds the operations that one person can undo and redo. */
import { transform } from "../transform.ts";
import type { Effect, Write } from "../log/effects.ts";
import { apply } from "../fold.ts";
import type { Operation, Guard } from "../log/operations.ts";
import { joined, type Entry, type Origin, type Pending } from "./pending.ts";
import { Layer, valueAt, type State } from "../state.ts";
import { MAX_UNDO } from "../limits.ts";
import { same } from "../values/values.ts";

export class Stacks {
  undos: Entry[] = [];
  redos: Entry[] = [];
  private latest: Entry | null = null; // of the last edit

  /** The stack that an action is taken from, and the one that takes what undoes it. */
  of(origin: Origin): { from: Entry[]; to: Entry[] } {
    return origin === "undo" ? { from: this.undos, to: this.redos } : { from: this.redos, to: this.undos };
  }

  /**
   * Notes what takes an action back; null where nothing does. `join`: the action goes on with the last edit, whose entry then takes
   * both back, whether its beginning waits, is in flight or is confirmed.
   */
  note(back: Operation, origin: Origin, join: boolean, unsent: readonly Pending[]): Entry | null {
    const stack = this.of(origin).to;
    const last = stack.at(-1);
    let entry: Entry | null = null;
    if (back.writes.length > 0 && join && last !== undefined && last === this.latest) {
      entry = last;
      entry.operation = joined(back, last.operation);
      entry.begun ||= !unsent.some((part) => part.entry === last);
    } else if (back.writes.length > 0) {
      entry = { operation: back, begun: false };
      stack.push(entry);
      stack.splice(0, stack.length - MAX_UNDO);
    }
    this.latest = origin === "edit" ? entry : null;
    return entry;
  }

  /** After a refusal both stacks are as before. */
  putBack(part: Pending): void {
    const { from, to } = this.of(part.origin);
    const place = part.entry === null ? -1 : to.indexOf(part.entry);
    if (place >= 0) to.splice(place, 1);
    if (part.origin !== "edit" && part.former !== null) from.push(part.former);
  }

  /**
   * Makes entries again from what was committed: a cascade may have taken more than was shown. An entry of several requests stays as
   * it was made.
   */
  remake(backs: ReadonlyMap<Entry, readonly Operation[]>, unsent: readonly Pending[]): void {
    const passing = unsent.flatMap((part) => part.operation.writes);
    const waiting = new Set(unsent.map((part) => part.entry));
    for (const [entry, made] of backs) {
      if (waiting.has(entry) || entry.begun) {
        entry.begun = true;
        continue;
      }
      const back = made.reduce((former, later) => joined(later, former));
      entry.operation = { ...back, writes: transform(back.writes, passing)[0] };
    }
  }

  /** Crosses both with writes that they have not met, the last entry first. What that empties is gone. */
  meet(theirs: readonly Write[]): void {
    for (const stack of [this.undos, this.redos]) {
      let passing: readonly Write[] = theirs;
      for (const entry of stack.toReversed()) {
        if (passing.length === 0) break;
        const [writes, passed] = transform(entry.operation.writes, passing);
        passing = passed;
        entry.operation = { ...entry.operation, writes };
      }
    }
    this.undos = this.undos.filter((entry) => entry.operation.writes.length > 0);
    this.redos = this.redos.filter((entry) => entry.operation.writes.length > 0);
  }

  /** As `meet`, with splices of this client's own: what its guards ask of the texts follows. `former` is before them. */
  follow(splices: readonly Effect[], former: State): void {
    const state = new Layer(former);
    apply(state, splices);
    this.meet(splices);
    const touched = new Set(splices.map((splice) => splice[1]));
    for (const entry of [...this.undos, ...this.redos]) {
      const guards = entry.operation.guards.map(([key, path, value]): Guard => (
        touched.has(key) && same(valueAt(former, key, path), value) ? [key, path, valueAt(state, key, path)] : [key, path, value]
      ));
      entry.operation = { ...entry.operation, guards };
    }
  }

  clear(): void {
    this.undos = [];
    this.redos = [];
    this.latest = null;
  }
}
