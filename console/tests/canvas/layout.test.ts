import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import { test } from "node:test";
import { layout, type Box, type Edge, type Graph, type Node } from "../../src/canvas/layout/layout.ts";
import { asked, frameAt, placed, SIZES, UNPLACED, wayOf } from "../../src/canvas/layout/placing.ts";
import { graphOf } from "../../src/canvas/model/graph.ts";
import { Dice } from "../dice.ts";
import { Alone, block, edge, KINDS, USUAL } from "./drafts.ts";

const node = (id: string, more: Partial<Node> = {}): Node => ({ id, parent: null, container: false, width: 188, height: 56, entry: 28, place: null, ...more });
const tie = (source: string, target: string, leaves = 28): Edge => ({ id: `${source}-${target}-${leaves}`, source, target, leaves });
const graph = (nodes: readonly Node[], edges: readonly Edge[]): Graph => ({ nodes, edges, sizes: SIZES });
const boxOf = (boxes: ReadonlyMap<string, Box>, id: string): Box => boxes.get(id) ?? assert.fail(`${id} has no box`);

const MOST_CROSSINGS = 5; // of 460 edges; where the places of exits do not count, it is 132


function overlap([x, y, width, height]: Box, [left, top, wide, high]: Box): boolean {
  return x < left + wide && left < x + width && y < top + high && top < y + height;
}

test("a node stands right of all that lead to it, and no two overlap", () => {
  const dice = new Dice(7);
  for (let round = 0; round < 40; round += 1) {
    const nodes = Array.from({ length: 30 }, (_, place) => node(`n${place}`, { height: 56 + 20 * dice.below(4) }));
    const edges = Array.from({ length: 45 }, () => [dice.below(30), dice.below(30)] as const).filter(([one, other]) => one < other)
      .map(([one, other]) => tie(`n${one}`, `n${other}`));
    const { boxes } = layout(graph(nodes, edges));
    assert.equal(boxes.size, 30);
    for (const { source, target } of edges) assert.ok(boxOf(boxes, source)[0] + 188 < boxOf(boxes, target)[0]);
    const all = [...boxes.values()];
    for (const [place, one] of all.entries()) for (const other of all.slice(place + 1)) assert.ok(!overlap(one, other));
  }
});

test("an edge over two layers has a bend in the one between, clear of its nodes", () => {
  const { boxes, bends } = layout(graph([node("a"), node("b"), node("c")], [tie("a", "b"), tie("b", "c"), tie("a", "c")]));
  const [leftX = 0, leftY = 0, rightX = 0] = bends.get("a-c-28") ?? [];
  const [x, y] = boxOf(boxes, "a");
  const between = boxOf(boxes, "b");
  assert.equal(bends.has("a-b-28"), false);
  assert.ok(x + leftX <= between[0] && x + rightX >= between[0] + between[2]);
  assert.ok(y + leftY < between[1] || y + leftY > between[1] + between[3]);
});

/** How often edges cross between neighbouring layers, by the places where they leave and enter. */
function crossings({ nodes, edges }: Graph): number {
  const { boxes, bends } = layout(graph(nodes, edges));
  const lines = edges.flatMap((edge) => {
    const [x, y, width] = boxOf(boxes, edge.source);
    const target = boxOf(boxes, edge.target);
    const bent = bends.get(edge.id) ?? [];
    const points = [[x + width, y + edge.leaves], ...Array.from({ length: bent.length / 2 }, (_, at) => [x + (bent[2 * at] ?? 0), y + (bent[2 * at + 1] ?? 0)]), [target[0], target[1] + 28]];
    return points.slice(1).map((end, at) => [...(points[at] ?? []), ...end]);
  });
  let count = 0;
  for (const [place, [x = 0, y = 0, , end = 0]] of lines.entries()) {
    for (const [left = 0, top = 0, , bottom = 0] of lines.slice(place + 1)) if (Math.abs(x - left) < 1 && (y - top) * (end - bottom) < -1) count += 1;
  }
  return count;
}

test("what the upper exit of a node leads to stands above what the lower one leads to, whatever their order", () => {
  const nodes = [node("order"), node("triage", { height: 92 }), node("manager", { height: 112 }), node("deny"), node("pay")];
  const edges = [
    tie("order", "triage"), tie("triage", "manager", 74), tie("manager", "deny", 74), tie("manager", "deny", 94), tie("manager", "pay", 54), tie("triage", "pay", 54),
  ];
  assert.equal(crossings(graph(nodes, edges)), 0);
  const { boxes } = layout(graph(nodes, edges));
  assert.ok(boxOf(boxes, "pay")[1] < boxOf(boxes, "deny")[1]);
});

test("the same graph has the same layout, and few of its edges cross", () => {
  const dice = new Dice(5);
  let all = 0;
  for (let round = 0; round < 20; round += 1) {
    const nodes = Array.from({ length: 24 }, (_, place) => node(`n${place}`, { height: 112 }));
    const edges = nodes.slice(1).map(({ id }, place) => tie(`n${dice.below(place + 1)}`, id, 54 + 20 * dice.below(3)));
    all += crossings(graph(nodes, edges));
    assert.deepEqual(layout(graph(nodes, edges)), layout(graph(nodes, edges)));
  }
  assert.ok(all <= MOST_CROSSINGS, `${all} crossings of trees`);
});

test("a cycle and an edge to itself are laid out like anything else", () => {
  const { boxes } = layout(graph([node("a"), node("b"), node("c")], [tie("a", "b"), tie("b", "c"), tie("c", "b"), tie("a", "a")]));
  assert.equal(boxes.size, 3);
  assert.ok([...boxes.values()].flat().every(Number.isFinite));
});

test("a container is as large as what it holds, at any depth", () => {
  const nodes = [node("l", { container: true }), node("m", { parent: "l", container: true }), node("x", { parent: "m" }), node("y", { parent: "m" })];
  const { boxes } = layout(graph(nodes, [tie("x", "y")]));
  for (const [inner, outer] of [["x", "m"], ["y", "m"], ["m", "l"]] as const) {
    const [x, y, width, height] = boxOf(boxes, inner);
    assert.ok(x >= SIZES.pad && y >= SIZES.head);
    assert.ok(x + width + SIZES.pad <= boxOf(boxes, outer)[2] && y + height + SIZES.pad <= boxOf(boxes, outer)[3]);
  }
  assert.deepEqual(boxOf(layout(graph([node("e", { container: true })], [])).boxes, "e").slice(2), [SIZES.emptyWidth, SIZES.emptyHeight]);
});

test("a block that a person moved stands where it was put, and covers none", () => {
  const free = layout(graph([node("a"), node("b")], [])).boxes;
  const [x, y] = boxOf(free, "b");
  const { boxes } = layout(graph([node("a", { place: [x + 4, y + 4] }), node("b")], []));
  assert.deepEqual(boxOf(boxes, "a").slice(0, 2), [x + 4, y + 4]);
  assert.ok(!overlap(boxOf(boxes, "a"), boxOf(boxes, "b")));
});

test("1,000 nodes with 4,000 edges are laid out within the bound of 400 ms, on a machine that is not busy", () => {
  const dice = new Dice(3);
  const nodes = Array.from({ length: 1_000 }, (_, place) => node(`n${place}`));
  const edges = Array.from({ length: 4_000 }, (_, count) => {
    const target = 20 + dice.below(980);
    return { id: `e${count}`, source: `n${Math.max(0, target - 1 - dice.below(60))}`, target: `n${target}`, leaves: 28 };
  });
  const times = Array.from({ length: 3 }, () => {
    const start = performance.now();
    layout(graph(nodes, edges));
    return performance.now() - start;
  });
  assert.ok(Math.min(...times) < 400 * 4, `${Math.min(...times).toFixed(0)} ms`); // four times: other processes share the machine
});

test("until the layout has come, a block stands right of what leads to it", () => {
  const made = graphOf(new Alone([block("a", "manual"), block("b", "http"), edge("ab", "a", "b")]).replica.view, KINDS);
  const { spots } = placed(made, null, UNPLACED);
  assert.ok((spots.get("b")?.left ?? 0) > (spots.get("a")?.left ?? 0) + 188);
});

test("what did not move is the same object, and a place wins over the layout at once", () => {
  const draft = new Alone(USUAL);
  const before = graphOf(draft.replica.view, KINDS);
  const made = layout(asked(before));
  const first = placed(before, made, UNPLACED);
  draft.replica.edit({ writes: [["put", "place/a", new Map([["x", 400], ["y", -80]])]], guards: [], derived: [] });
  const after = placed(graphOf(draft.replica.view, KINDS, before), made, first);
  assert.deepEqual([after.spots.get("a")?.left, after.spots.get("a")?.top], [400, -80]);
  assert.equal(after.spots.get("b"), first.spots.get("b"));
  assert.equal(after.bounds.y, -80);
});

test("the frame at a point is the innermost one, but never one that moves itself", () => {
  const made = graphOf(new Alone([...USUAL, block("m", "loop", { parent: "l" })]).replica.view, KINDS);
  const { spots } = placed(made, layout(asked(made)), UNPLACED);
  const inner = spots.get("m") ?? assert.fail();
  const at = [inner.left + 5, inner.top + 5] as const;
  assert.equal(frameAt(made, spots, ...at, ["a"]), "m");
  assert.equal(frameAt(made, spots, ...at, ["m"]), "l");
  assert.equal(frameAt(made, spots, ...at, ["l"]), null);
  assert.equal(frameAt(made, spots, -500, -500, []), null);
});

test("an edge keeps the bends of the layout until one of its ends is moved", () => {
  const draft = new Alone([block("a", "manual"), block("b", "http"), block("c", "http"), edge("ab", "a", "b"), edge("bc", "b", "c"), edge("ac", "a", "c")]);
  const before = graphOf(draft.replica.view, KINDS);
  const made = layout(asked(before));
  const wire = before.wires.get("ac") ?? assert.fail();
  assert.equal(wayOf(before, made, wire)?.bends.length, 4);
  draft.replica.edit({ writes: [["put", "place/c", new Map([["x", 0], ["y", 400]])]], guards: [], derived: [] });
  assert.equal(wayOf(graphOf(draft.replica.view, KINDS, before), made, wire), null);
});
