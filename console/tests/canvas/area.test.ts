import assert from "node:assert/strict";
import { test } from "node:test";
import { covering, nearby, type Area } from "../../src/canvas/view/area.ts";
import { Nodes } from "../../src/canvas/view/nodes.ts";
import type { Layout } from "../../src/canvas/layout/layout.ts";
import { layout } from "../../src/canvas/layout/layout.ts";
import { operation } from "../../src/editing/log/operations.ts";
import { object } from "../../src/editing/values/values.ts";
import { Alone, block, deskOf, edge } from "./drafts.ts";

const FIRST: Area = { left: -10, top: -10, right: 300, bottom: 200 };

/** A chain of blocks to the right, 260 px apart, with a loop at its end. */
function chain(count: number): ReturnType<typeof deskOf> {
  const writes = Array.from({ length: count }, (_, place) => block(`n${place}`, "http", { order: `V${String(place).padStart(4, "0")}V` }));
  const edges = Array.from({ length: count - 1 }, (_, place) => edge(`e${place}`, `n${place}`, `n${place + 1}`));
  const asked: Parameters<typeof layout>[0][] = [];
  const desk = deskOf(new Alone([...writes, ...edges, block("l", "loop"), ["put", "subflow/l", object([["times", 3], ["body", object([["nodes", null]])]])], block("x", "http", { parent: "l" }), edge("last", `n${count - 1}`, "l")]), asked);
  const [graph] = asked;
  assert.ok(graph);
  const made: Layout = layout(graph);
  desk.laidOut(made);
  return desk;
}

test("what lies in an area is drawn; the other ends of its edges are there, and are not", () => {
  const near = nearby(chain(20).snapshot(), FIRST);
  assert.deepEqual([...near.blocks], [["n0", true], ["n1", true], ["n2", false]]);
  assert.deepEqual(near.wires.map((wire) => wire.tail), ["e0", "e1"]);
});

test("what is selected or held is drawn wherever it is, a frame before what is in it", () => {
  const desk = chain(20);
  desk.select(["x"]);
  assert.deepEqual([...nearby(desk.snapshot(), FIRST, ["n9"]).blocks], [["n0", true], ["n1", true], ["n2", false], ["n9", true], ["l", false], ["x", true]]);
});

test("React Flow is given as much of a large draft as of a small one, and the same lists while only parameters change", () => {
  const desk = chain(1_000);
  const nodes = new Nodes();
  const [before, edges] = [nodes.of(desk.snapshot(), new Map(), [], FIRST), nodes.edges(desk.snapshot(), FIRST)];
  assert.deepEqual([before.map((node) => [node.id, node.hidden ?? false]), edges.length], [[["n0", false], ["n1", false], ["n2", true]], 2]);
  const { placed, graph } = desk.snapshot();
  assert.ok(desk.edit(operation([["set", "block/n1", ["with"], object([["url", "https://example.com"]])]])));
  const after = desk.snapshot();
  assert.deepEqual([after.placed === placed, after.graph === graph], [true, true]);
  assert.equal(nodes.of(after, new Map(), [], FIRST), before);
  assert.equal(nodes.edges(after, FIRST), edges);
});

test("an area is kept while it covers what is shown", () => {
  const first = covering(null, [0, 0, 1], 1_000, 500);
  assert.deepEqual(first, { left: -200, top: -200, right: 1_200, bottom: 700 });
  assert.equal(covering(first, [150, -150, 1], 1_000, 500), first);
  assert.deepEqual(covering(first, [201, 0, 1], 1_000, 500), { left: -401, top: -200, right: 999, bottom: 700 });
  assert.notEqual(covering(first, [0, 0, 2], 1_000, 500), first, "closer up, much less is shown");
  assert.equal(covering(first, [0, 0, 1], 0, 0), null);
});
