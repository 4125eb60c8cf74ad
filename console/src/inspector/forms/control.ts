/** Defines what every control of a form has. */
import type { Desk } from "../../canvas/desk.ts";
import type { Operation } from "../../editing/log/operations.ts";
import type { Json } from "../../editing/values/values.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import type { Value } from "../../editing/values/encoding.ts";
import { entering, valueAt, type Spot } from "./entering.ts";
import type { Field } from "./fields.ts";

const PAUSE_MS = 400; // typing without a pause is one action to undo

/** The desk at which a form stands. `node` is the key of the block in whose scope its expressions are read. */
export class Bench {
  private last = 0;

  constructor(readonly desk: Desk, readonly openDraft: OpenDraft, readonly node: string, readonly canEdit: boolean) {}

  /** Changes the value that the person sees to the entered one; undefined removes it. `typed`: letter by letter. */
  enter(spot: Spot, base: Json | undefined, wanted: Value | undefined, typed = false): void {
    this.edit(entering(spot, base, valueAt(this.desk, spot), wanted, this.desk.fresh), typed);
  }

  edit(operation: Operation | null, typed = false): void {
    const now = performance.now();
    if (operation !== null) this.desk.edit(operation, typed ? { typed: true, join: now - this.last < PAUSE_MS } : undefined);
    this.last = typed ? now : 0;
  }
}

/** `place` is where the value stands in the node, such as `with.headers.Accept`. */
export interface Shown {
  readonly bench: Bench;
  readonly spot: Spot;
  readonly value: Json | undefined;
  readonly label: string;
  readonly place: string;
  readonly id: string;
  readonly about?: string | undefined; // the id of what describes it
  readonly isWrong?: boolean;
  readonly bare?: boolean; // without a label that is seen, as in a row
}

export type OneProps = Shown & { readonly field: Field };
