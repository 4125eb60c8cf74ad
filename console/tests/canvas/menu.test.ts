import assert from "node:assert/strict";
import { test } from "node:test";
import { addAt } from "../../src/canvas/commands.ts";
import { blockInAddress, nameInAddress, queryWithNode } from "../../src/canvas/linking.ts";
import { itemsFor } from "../../src/canvas/menu/items.ts";
import type { Desk } from "../../src/canvas/desk.ts";
import { object } from "../../src/editing/values/values.ts";
import { operation } from "../../src/editing/log/operations.ts";
import { read } from "../../src/source/yaml.ts";
import { jsonOf } from "../../src/wire/exact.ts";
import { foreign } from "../../src/wire/imports.ts";
import { Alone, block, deskOf, USUAL } from "./drafts.ts";

const keys = (desk: Desk): string[] => itemsFor(desk.snapshot()).flat().map((item) => item.key);

test("the menu has what suits what is selected", () => {
  const desk = deskOf(new Alone([...USUAL, ["put", "note/n", object([["x", 0], ["y", 0]])]]));
  assert.deepEqual(keys(desk), ["add", "note", "paste", "selectAll", "fit", "about"]);
  desk.select(["b"]);
  assert.deepEqual(keys(desk), ["open", "rename", "link", "add", "connect", "disable", "copy", "cut", "duplicate", "delete"]);
  desk.select(["b", "c"]);
  assert.ok(keys(desk).includes("alignLeft") && !keys(desk).includes("distributeAcross"));
  desk.select(["b", "c", "l"], false, ["n"]);
  assert.ok(keys(desk).includes("distributeAcross"));
  assert.equal(itemsFor(desk.snapshot()).flat().at(-1)?.title, "Delete 4");
  desk.select([], false, ["n"]);
  assert.deepEqual(keys(desk), ["open", "copy", "cut", "duplicate", "delete"]);
  desk.select([]);
  desk.change({ edges: new Set(["ab"]) });
  assert.deepEqual(keys(desk), ["insert", "delete"]);
});

test("what is disabled is offered to be enabled, and what was moved to be given back", () => {
  const desk = deskOf(new Alone([...USUAL, block("off", "http", { enabled: false }), ["put", "place/off", object([["x", 1], ["y", 2]])]]));
  desk.select(["off"]);
  const items = itemsFor(desk.snapshot()).flat();
  assert.ok(items.some((item) => item.title === "Enable") && items.some((item) => item.key === "tidy"));
});

test("where the draft can only be read, only what reads is left", () => {
  const draft = new Alone();
  draft.canEdit = false;
  const desk = deskOf(draft);
  desk.select(["b"]);
  assert.deepEqual(itemsFor(desk.snapshot()).flat().filter((item) => item.disabled !== true).map((item) => item.key), ["open", "link", "copy"]);
});

test("an end or an exitless kind has nothing that follows it", () => {
  const desk = deskOf(new Alone([block("z", "end")]));
  const made = desk.snapshot().graph.blocks.get("z");
  assert.deepEqual(made?.exits, []);
  desk.select(["z"]);
  assert.ok(!keys(desk).includes("connect"));
});

test("an address names a node by its name and those around it, and holds for one that was moved", () => {
  const desk = deskOf(new Alone());
  const { graph } = desk.snapshot();
  assert.deepEqual([nameInAddress(graph, "b"), nameInAddress(graph, "y"), nameInAddress(graph, "none")], ["b", "l.y", null]);
  assert.deepEqual([blockInAddress(graph, "l.y"), blockInAddress(graph, "y"), blockInAddress(graph, "l.none"), blockInAddress(graph, "")], ["y", null, null, null]);
  desk.edit(operation([["rename", "block/y", "priced"]]));
  assert.equal(blockInAddress(desk.snapshot().graph, "l.priced"), "y");
  assert.deepEqual([queryWithNode("?view=outline", "l.y"), queryWithNode("?view=outline&node=a", null), queryWithNode("?node=a", null)], ["?view=outline&node=l.y", "?view=outline", ""]);
});

test("a node that is added at a point stands there with its middle", () => {
  const desk = deskOf(new Alone([]));
  const made = addAt(desk, "http", [202, 130]) ?? assert.fail();
  assert.deepEqual(desk.snapshot().graph.places.get(made), [108, 104]);
});

test("exports of other tools are told from documents, whatever stands around them", () => {
  assert.equal(foreign(read("nodes: {a: {type: manual}}")), null);
  assert.equal(foreign(read('{"data": {"state": {"blocks": {}, "edges": []}}}')), "Sim");
  assert.equal(foreign(read('{"nodes": [], "connections": {}, "name": "x"}')), "n8n");
  assert.equal(foreign(read("a text")), null);
  assert.equal(jsonOf(read('{"a": [{"b": 1.0}, "c"], "n": 123456789012345678901}')), '{"a":[{"b":1.0},"c"],"n":123456789012345678901}');
});
