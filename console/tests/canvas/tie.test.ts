import assert from "node:assert/strict";
import { test } from "node:test";
import { Desk } from "../../src/canvas/desk.ts";
import { rename } from "../../src/canvas/actions/changing.ts";
import { sourceOf } from "../../src/canvas/model/tie.ts";
import { object } from "../../src/editing/values/values.ts";
import { Alone, block, counted, edge, KINDS } from "./drafts.ts";

const SOURCE = "async def refund(order):\n    return await pay(order.id)\n";

function tied(): { readonly desk: Desk; readonly draft: Alone } {
  const draft = new Alone([
    ["set", "doc", ["made_by"], object([["language", "python"], ["file", "refund.py"], ["function", "refund"], ["source", SOURCE]])],
    block("order", "manual", { at: [7, 8] }), block("pay", "http", { at: [8, 8] }), edge("e", "order", "pay"),
  ]);
  return { draft, desk: new Desk(draft, KINDS, counted(), () => undefined, (run) => { run(); }) };
}

test("a draft that was compiled is read: nothing of it is edited, by whatever way", () => {
  const { desk, draft } = tied();
  assert.equal(desk.snapshot().made?.file, "refund.py");
  assert.equal(desk.snapshot().draft.canEdit, false);
  assert.equal(desk.edit(rename(desk.view, "pay", "paid")), false);
  assert.equal(draft.snapshot().view.get("block/pay")?.get("id"), "pay");
});

test("its blocks are lines of the source", () => {
  const { desk } = tied();
  const { made, graph } = desk.snapshot();
  assert.ok(made !== null);
  const source = sourceOf(made, graph, desk.view);
  assert.deepEqual([source.first, source.of("pay")?.at, source.at(1, null), source.at(2, null)], [7, [2, 2], "order", "pay"]);
});

test("leaving the source is one gesture, after which the draft is edited, and which is undone", () => {
  const { desk } = tied();
  assert.equal(desk.untie(), true);
  assert.equal(desk.snapshot().made, null);
  assert.equal(desk.view.get("block/pay")?.has("at"), false);
  assert.equal(desk.edit(rename(desk.view, "pay", "paid")), true);
  desk.undo();
  desk.undo();
  assert.equal(desk.snapshot().made?.source, SOURCE);
  assert.equal(desk.snapshot().draft.canEdit, false);
});
