/** Writes that a client did not know when it made its own, by their entity: writes of others do not concern each other. */
import { transform } from "../transform.ts";
import type { Write } from "../log/effects.ts";
import { gather } from "../values/gathering.ts";
import type { Budget } from "./budget.ts";

export class Unknown {
  private readonly of = new Map<string, Write[]>();

  add(writes: Iterable<Write>): void {
    for (const write of writes) {
      gather(this.of, write[1], write);
    }
  }

  /** A write after all of them, which are then after it. Throws `Refused`. */
  met(write: Write, budget: Budget): Write[] {
    const theirs = this.of.get(write[1]);
    if (theirs === undefined || theirs.length === 0) return [write];
    budget.transformed(theirs.length, write[1]);
    const [mine, others] = transform([write], theirs);
    this.of.set(write[1], others);
    return mine;
  }

  /** Adds what another one has, after what is here. */
  take(others: Unknown): void {
    for (const writes of others.of.values()) this.add(writes);
  }
}
