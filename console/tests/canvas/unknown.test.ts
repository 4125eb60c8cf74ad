/** A kind that the server does not know, as of a plug-in that is gone: shown, edited, copied and moved, and nothing of it is lost. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { run } from "../../src/canvas/commands.ts";
import { printed } from "../../src/canvas/keyboard/carrying.ts";
import { Clipboard } from "../../src/canvas/keyboard/clipboard.ts";
import { operation } from "../../src/editing/log/operations.ts";
import { faults } from "../../src/editing/rules/invariants.ts";
import { object } from "../../src/editing/values/values.ts";
import { Alone, block, deskOf, edge, USUAL } from "./drafts.ts";

const SETTINGS = object([["model", "m-9"], ["weights", [1, 2]], ["prompt", "sort <b.body>"]]);
const WITH_UNKNOWN = [
  ...USUAL, block("u", "classifier", { with: SETTINGS, note: "kept" }), block("v", "end"), block("w", "end"),
  edge("bu", "b", "u"), edge("uv", "u", "v", { handle: "spam" }), edge("uw", "u", "w", { handle: "error" }),
];

test("it is a plain block with the exits that its edges use", () => {
  const { graph } = deskOf(new Alone(WITH_UNKNOWN)).snapshot();
  const found = graph.blocks.get("u");
  assert.deepEqual([found?.type, found?.container, found?.entry, found?.exits], ["classifier", false, false, ["source", "spam", "error"]]);
});

test("one with `with.body` is a container", () => {
  const draft = new Alone([block("u", "sandbox"), ["put", "subflow/u", object([["body", object([["nodes", null]])]])], block("i", "http", { parent: "u" })]);
  const { graph } = deskOf(draft).snapshot();
  assert.deepEqual([graph.blocks.get("u")?.container, graph.children.get("u")], [true, ["i"]]);
});

test("it is duplicated, copied, moved and renamed with all that it has", async () => {
  const draft = new Alone(WITH_UNKNOWN);
  const desk = deskOf(draft);
  desk.select(["u"]);
  run(desk, "duplicate");
  const [copy = ""] = desk.snapshot().selected;
  assert.deepEqual([draft.replica.view.get(`block/${copy}`)?.get("with"), draft.replica.view.get(`block/${copy}`)?.get("note")], [SETTINGS, "kept"]);
  const { graph, notes, chosen, draft: shown } = desk.snapshot();
  const text = printed(shown.view, graph, new Set(["u"]), notes, chosen);
  await new Clipboard(desk).pasted(text);
  const [pasted = ""] = desk.snapshot().selected;
  assert.deepEqual([draft.replica.view.get(`block/${pasted}`)?.get("type"), draft.replica.view.get(`block/${pasted}`)?.get("with")], ["classifier", SETTINGS]);
  assert.ok(desk.edit(operation([["put", "place/u", object([["x", 8], ["y", 16]])], ["rename", "block/u", "sorter"]])));
  const after = draft.replica.view.get("block/u");
  assert.deepEqual([after?.get("id"), after?.get("with"), after?.get("note"), desk.snapshot().graph.places.get("u")], ["sorter", SETTINGS, "kept", [8, 16]]);
  assert.deepEqual(faults(draft.replica.view), []);
});
