/** A draft of a replica alone, for tests of the desk: what waits is never sent. */
import type { Snapshot } from "../../src/editing/client/status.ts";
import { Desk, type Draft } from "../../src/canvas/desk.ts";
import type { Graph as Asked } from "../../src/canvas/layout/layout.ts";
import type { Kind, Kinds } from "../../src/canvas/model/kinds.ts";
import type { Write } from "../../src/editing/log/effects.ts";
import { operation, type Operation } from "../../src/editing/log/operations.ts";
import type { Editing } from "../../src/editing/replica/pending.ts";
import { Replica } from "../../src/editing/replica/replica.ts";
import { Entities } from "../../src/editing/state.ts";
import { object, type Json } from "../../src/editing/values/values.ts";

export const KINDS: Kinds = new Map([
  ["manual", kind("manual", ["source"], false, true)], ["http", kind("http", ["source"])], ["loop", kind("loop", ["source"], true)],
  ["approval", kind("approval", ["approved", "rejected", "timeout"])], ["condition", kind("condition", [])], ["end", kind("end", [])],
]);

function kind(name: string, exits: readonly string[], container = false, entry = false): Kind {
  return { name, summary: "", exits, container, entry, schema: null, parts: new Map(), settings: null };
}

/** Keys `k1`, `k2` and so on. */
export function counted(): () => string {
  let count = 0;
  return () => `k${(count += 1)}`;
}

export function block(tail: string, type: string, fields: Readonly<Record<string, Json>> = {}): Write {
  return ["put", `block/${tail}`, object(Object.entries({ id: tail, parent: null, order: `V${tail}`, type, ...fields }))];
}

export function edge(tail: string, source: string, target: string, fields: Readonly<Record<string, Json>> = {}): Write {
  return ["put", `edge/${tail}`, object(Object.entries({ source, target, order: "V", home: "after", form: "text", ...fields }))];
}

/** a → b → c, and a loop l with x → y inside. */
export const USUAL: readonly Write[] = [
  block("a", "manual"), block("b", "http", { with: object([["url", "see <a.body>"]]) }), block("c", "approval"), block("l", "loop"),
  ["put", "subflow/l", object([["times", 3], ["body", object([["nodes", null]])]])],
  block("x", "http", { parent: "l" }), block("y", "http", { parent: "l", with: object([["url", "<x.body>"]]) }),
  edge("ab", "a", "b"), edge("bc", "b", "c"), edge("xy", "x", "y"), edge("bl", "b", "l", { handle: "error" }),
];

export class Alone implements Draft {
  readonly replica = new Replica("me", new Entities([["doc", object([["id", "w"]])]]));
  readonly asked: Operation[] = [];
  canEdit = true;

  constructor(writes: readonly Write[] = USUAL) {
    if (writes.length > 0) this.replica.edit(operation(writes));
    this.replica.stacks.undos = [];
  }

  readonly subscribe = (): (() => void) => () => undefined;

  readonly snapshot = (): Snapshot => ({
    view: this.replica.view, status: { is: "saved" }, canEdit: this.canEdit, canUndo: this.replica.stacks.undos.length > 0, canRedo: this.replica.stacks.redos.length > 0,
    notices: [], listed: [], kept: true,
  });

  edit(one: Operation, how?: Editing): boolean {
    this.asked.push(one);
    return this.replica.edit(one, how);
  }

  undo(): boolean {
    return this.replica.undo();
  }

  redo(): boolean {
    return this.replica.redo();
  }

  flush(): void {
    this.asked.length = 0;
  }
}

export function deskOf(draft: Alone, asked: Asked[] = []): Desk {
  return new Desk(draft, KINDS, counted(), (graph) => { asked.push(graph); }, (run) => { run(); });
}
