import assert from "node:assert/strict";
import { test } from "node:test";
import { readObject, writeDigits } from "../../src/editing/values/json.ts";
import { attemptsOf } from "../../src/runs/view/node/attempts.ts";
import { conditionsOf, loopedOf, toldOf, turnOf, writtenIn } from "../../src/runs/view/node/told.ts";
import { graphOfDocument } from "../../src/runstate/graphing.ts";
import { moved } from "../../src/runs/view/timeline/scale.ts";
import { nextBegun, stepped } from "../../src/runs/view/graph/walking.ts";
import type { NodeSummary, RunEvent } from "../../src/runstate/types.ts";
import { inOwnZone } from "../../src/ui/words/instants.ts";

const DOCUMENT = readObject(JSON.stringify({
  id: "w", nodes: {
    order: { type: "manual" }, pick: { type: "condition", after: "order", with: { cases: { large: "<order.n> > 9", rest: "else" } } },
    each: { type: "parallel", after: "pick.large", with: { items: "<order.lines>", body: { nodes: {
      price: { type: "transform", with: { value: { sum: "{{ <parallel.item> * 2 }}", name: "plain" } } }, tell: { type: "end", after: "price" },
    } } } },
    end: { type: "end", after: ["each", "pick.rest"] },
  },
}));
const GRAPH = graphOfDocument(DOCUMENT);

test("arrows reach every node of a graph, also those in containers", () => {
  const seen: string[] = [];
  let at = stepped(GRAPH, "", "ArrowRight") ?? "";
  for (let step = 0; step < 20 && !seen.includes(at); step += 1) {
    seen.push(at);
    at = stepped(GRAPH, at, "ArrowRight") ?? "";
  }
  assert.deepEqual(seen, ["order", "pick", "each", "end"]);
  assert.equal(stepped(GRAPH, "each", "ArrowDown"), "end"); // both follow `pick`
  assert.deepEqual([stepped(GRAPH, "price@each", "ArrowRight"), stepped(GRAPH, "tell@each", "ArrowRight")], ["tell@each", "end"]);
  assert.deepEqual([stepped(GRAPH, "end", "Home"), stepped(GRAPH, "order", "End"), stepped(GRAPH, "order", "q")], ["order", "end", null]);
  const inner = new Set(["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"].flatMap((key) => [...GRAPH.blocks.keys()].map((from) => stepped(GRAPH, from, key))));
  assert.ok(inner.has("price@each"), "a container is entered");
});

test("brackets go by the time at which nodes began", () => {
  const node = (path: string, begin: number | null): NodeSummary => ({ path, counts: {}, exits: {}, conditions: [], attempts: 1, begin_ms: begin, end_ms: null, work_ms: 0, wait_ms: 0, failed: [], turns: 0, failed_turns: 0 });
  const nodes = [node("c", 9), node("a", 1), node("never", null), node("b", 4)];
  assert.deepEqual([nextBegun(nodes, "", 1), nextBegun(nodes, "a", 1), nextBegun(nodes, "c", 1), nextBegun(nodes, "", -1), nextBegun(nodes, "a", -1)], ["a", "b", null, "c", null]);
});

test("each expression stands with what it gave, and those that were not evaluated say so", () => {
  const told = (path: string, call: string): unknown => toldOf(writtenIn(DOCUMENT, path) ?? new Map(), readObject(call)).map(({ place, written, value }) => [place, written, value]);
  assert.deepEqual(told("pick", '{"cases": {"large": true}}'), [["cases.large", "<order.n> > 9", true], ["cases.rest", "else", undefined]]);
  assert.deepEqual(told("price@each", '{"value": {"sum": 4, "name": "plain"}}'), [["value.sum", "{{ <parallel.item> * 2 }}", 4]]);
  assert.deepEqual(told("price@each", "{}"), []); // too large to show
  assert.equal(writtenIn(DOCUMENT, "nobody@each"), null);
});

test("a container stands with what it was decided by, and edges with what their conditions were over", () => {
  const record = readObject('{"looped": {"mode": "while", "value": false, "preview": null, "turn": 3}, "tested": [{"handle": "source", "target": "x", "test": "equals", "operand": "big", "value": null, "preview": "\\"sm", "held": false}, {"handle": "error", "target": "y", "test": "present", "operand": null, "value": 1.0, "preview": null, "held": true}]}');
  assert.deepEqual([[...loopedOf(record)], turnOf(record)], [[["while", false]], 3]);
  assert.deepEqual(toldOf(readObject('{"while": "1 < 2", "body": {"nodes": {"x": {"type": "http", "with": {"url": "<a>"}}}}}'), loopedOf(record)).map(({ place, value }) => [place, value]), [["while", false]]);
  assert.deepEqual(conditionsOf(record).map(({ handle, target, written, value, held }) => [handle, target, written, writeDigits(value), held]), [["source", "x", 'equals "big"', '"\\"sm…"', false], ["error", "y", "is present", "1.0", true]]);
  assert.deepEqual([[...loopedOf(readObject("{}"))], turnOf(readObject('{"looped": null}')), conditionsOf(readObject("{}"))], [[], null, []]);
});

test("a range of time is zoomed and moved within the whole", () => {
  assert.deepEqual(moved([0, 1_000], 1_000, "in", null), [250, 750]);
  assert.deepEqual(moved([0, 1_000], 1_000, "in", 990), [500, 1_000]);
  assert.deepEqual(moved([500, 1_000], 1_000, "earlier", 0), [250, 750]);
  assert.deepEqual(moved([500, 1_000], 1_000, "later", null), [500, 1_000]);
  assert.equal(moved([500, 1_000], 1_000, "out", null), null);
  assert.equal(moved([0, 3], 3, "in", null), null);
});

test("a note of the engine is a line of the log, too", () => {
  const event = (eventId: number, type: string, payload: Readonly<Record<string, unknown>>): RunEvent => ({ eventId, type, timestamp: "2026-01-01T00:00:00Z", payload });
  const [one] = attemptsOf([event(1, "node.started", { attempt: 1 }), event(2, "node.log", { text: "begins" }), event(3, "node.log", { code: "late_arrival", from: "score" })]);
  assert.deepEqual(one?.logs.map(({ text }) => text), ["begins", "late arrival: score"]);
});

test("instants in sentences are of the reader's own zone", () => {
  const now = Date.parse("2026-11-26T10:00:00Z");
  assert.doesNotMatch(inOwnZone("waiting until 2026-11-26T12:30:00.123Z", now), /Z|2026|:00\.123/);
  assert.match(inOwnZone("waiting until 2026-12-24T12:30:00Z and for an answer", now), /^waiting until .*24.* and for an answer$/);
  assert.equal(inOwnZone("waiting for an answer", now), "waiting for an answer");
});
