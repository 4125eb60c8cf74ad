import assert from "node:assert/strict";
import { test } from "node:test";
import { readObject } from "../../src/editing/values/json.ts";
import { attemptsOf } from "../../src/runs/view/node/attempts.ts";
import { compared, failedWithin, isTaken, loudest, nameOf, pathOf, said, spanOf, turnsOf } from "../../src/runstate/counts.ts";
import { graphOfDocument } from "../../src/runstate/graphing.ts";
import { scaled, ticksOf } from "../../src/runs/view/timeline/scale.ts";
import type { NodeSummary } from "../../src/runstate/types.ts";
import { Dice } from "../dice.ts";

function node(path: string, counts: Readonly<Record<string, number>>, failed: readonly string[] = [], exits: Readonly<Record<string, number>> = {}): NodeSummary {
  return { path, counts, exits, conditions: [], attempts: 1, begin_ms: 0, end_ms: 1, work_ms: 0, wait_ms: 0, failed, turns: 0, failed_turns: 0 };
}

test("one failure of 5,000 is said to be one", () => {
  assert.equal(said({ completed: 4_999, failed: 1 }), "4,999 completed, 1 failed");
  assert.equal(loudest({ completed: 4_999, failed: 1 }), "failed");
  assert.equal(said({ completed: 1 }), "completed");
  assert.equal(said({ completed: 2 }), "2 completed");
  assert.equal(said({}), "not started");
  assert.equal(loudest({}), "pending");
});

test("an instance has a path, a name, and its turns", () => {
  assert.deepEqual([pathOf("x@l[3]@m[1]"), nameOf("x@l[3]@m[1]"), turnsOf("x@l[3]@m[1]"), turnsOf("x")], ["x@l@m", "x", "l, iteration 3 · m, iteration 1", ""]);
});

test("a container knows the failures inside it, at any depth", () => {
  const nodes = [node("x@l", { failed: 1 }, ["x@l[2]"]), node("y@m@l", { failed: 1 }, ["y@m[0]@l[1]"]), node("x", { failed: 1 }, ["x"]), node("z@ll", { failed: 1 }, ["z@ll[0]"])];
  assert.deepEqual(failedWithin(nodes, "l"), ["x@l[2]", "y@m[0]@l[1]"]);
});

test("two runs differ where a node ended differently, or is in one only", () => {
  const left = new Map([["a", node("a", { completed: 1 })], ["b", node("b", { failed: 1 })]]);
  const right = new Map([["a", node("a", { completed: 1 })], ["b", node("b", { completed: 1 })], ["c", node("c", { skipped: 1 })]]);
  assert.deepEqual(compared(left, right).map(({ path, differs }) => [path, differs]), [["a", false], ["b", true], ["c", true]]);
});

test("idle time is folded to a narrow mark, and nothing else is", () => {
  const day = 86_400_000;
  const scale = scaled([[0, 2_000], [2 * day, 2 * day + 2_000]], 0, 2 * day + 2_000);
  assert.equal(scale.folds.length, 1);
  assert.ok(Math.abs(scale.at(2_000) - 0.485) < 1e-9 && Math.abs(scale.at(2 * day) - 0.515) < 1e-9);
  assert.deepEqual(scaled([[0, 1_000], [1_500, 3_000]], 0, 3_000).folds, []);
});

test("a scale rises from 0 to 1 and can be read backwards, whatever the spans", () => {
  const dice = new Dice(11);
  const random = (): number => dice.fraction();
  for (let world = 0; world < 500; world += 1) {
    const busy: [number, number][] = [];
    let at = 0;
    for (let span = 0; span < random() * 30; span += 1) {
      const begin = at + Math.floor(random() ** 6 * 1e8);
      at = begin + Math.floor(random() * 5_000);
      busy.push([begin, at]);
      at += 1;
    }
    const from = random() < 0.3 ? Math.floor(at * random()) : 0;
    const scale = scaled(busy, from, at);
    assert.ok(Math.abs(scale.at(from)) < 1e-9 && Math.abs(scale.at(scale.to) - 1) < 1e-6);
    let last = 0;
    for (let step = 0; step <= 40; step += 1) {
      const ms = from + ((scale.to - from) * step) / 40;
      const share = scale.at(ms);
      assert.ok(share >= last - 1e-9 && share <= 1 + 1e-9);
      assert.ok(Math.abs(scale.back(share) - ms) <= 1e-6 * (scale.to - from) + 1, `${scale.back(share)} ${ms}`);
      last = share;
    }
  }
});

test("attempts have their outcomes and their logs", () => {
  const event = (eventId: number, type: string, payload: Readonly<Record<string, unknown>> = {}): { eventId: number; type: string; timestamp: string; payload: Readonly<Record<string, unknown>> } => ({ eventId, type, timestamp: new Date(eventId * 1_000).toISOString(), payload });
  const found = attemptsOf([
    event(1, "node.queued"), event(2, "node.started"), event(3, "node.log", { text: "one" }), event(4, "node.retried", { message: "503", attempt: 1 }), event(5, "node.started", { attempt: 2 }),
    event(6, "node.log", { text: "two" }), event(7, "node.failed", { error: { code: "c", message: "404" } }),
  ]);
  assert.deepEqual(found.map(({ number, outcome, said: why, logs }) => [number, outcome, why, logs.map(({ text }) => text)]), [[1, "failed", "503", ["one"]], [2, "failed", "404", ["two"]]]);
  assert.equal(attemptsOf([event(1, "node.skipped")]).length, 0);
});

test("a document is drawn with its containers, exits and both forms of edges, without tools", () => {
  const graph = graphOfDocument(readObject(`{"nodes": {"a": {"type": "manual"}, "c": {"type": "condition", "after": "a", "with": {"cases": {"x": "true"}}},
    "l": {"type": "loop", "after": ["c.x", {"from": "a"}], "with": {"times": 2, "body": {"nodes": {"t": {"type": "wait"}, "u": {"type": "wait", "after": "t"}}}}},
    "m": {"type": "llm", "with": {"tools": [{"node": "tool"}]}}, "tool": {"type": "http", "after": "a"}}, "edges": [{"source": "a", "handle": "onError", "target": "m"}, {"source": "a", "target": "none"}]}`));
  assert.deepEqual([...graph.blocks.keys()], ["a", "c", "l", "t@l", "u@l", "m"]);
  assert.deepEqual([...graph.wires.values()].map(({ source, handle, target }) => `${source}.${handle}>${target}`), ["a.source>c", "c.x>l", "a.source>l", "a.error>m", "t@l.source>u@l"]);
  assert.equal(graph.blocks.get("l")?.container, true);
  assert.deepEqual(graph.children.get("l"), ["t@l", "u@l"]);
});

test("the exits of a node stand in the order in which they are written, whatever follows them", () => {
  const graph = graphOfDocument(readObject(`{"nodes": {"c": {"type": "condition", "with": {"cases": {"auto": "true", "review": "else"}}}, "m": {"type": "approval", "after": "c.review"},
    "deny": {"type": "end", "after": ["m.timeout", "m.rejected", "m.error"]}, "pay": {"type": "http", "after": ["m.approved", "c.auto"], "with": {"url": "https://shop.example/pay"}}}}`));
  assert.deepEqual(graph.blocks.get("c")?.exits, ["auto", "review"]);
  assert.deepEqual(graph.blocks.get("m")?.exits, ["approved", "rejected", "timeout", "error"]);
  assert.equal(graph.blocks.get("pay")?.brief, "shop.example/pay");
});

test("an edge is taken where its source left by it and its target was not skipped", () => {
  const nodes = new Map([
    ["a", node("a", { completed: 1 }, [], { source: 1 })], ["f", node("f", { failed: 1 }, [], { error: 1 })], ["b", node("b", { completed: 2, skipped: 1 }, [], { approved: 2 })],
    ["s", node("s", { skipped: 1 })], ["w", node("w", { waiting: 1 })],
  ]);
  const taken = (source: string, handle: string, target: string): boolean => isTaken({ source, handle, target }, nodes);
  assert.deepEqual([taken("a", "source", "b"), taken("a", "source", "w"), taken("f", "error", "b"), taken("b", "approved", "w")], [true, true, true, true]);
  assert.deepEqual([taken("a", "source", "s"), taken("a", "error", "b"), taken("f", "source", "b"), taken("s", "source", "b"), taken("a", "source", "none")], [false, false, false, false, false]);
  assert.equal(taken("b", "rejected", "w"), false, "both of its targets ran, by other ways");
});

test("an edge whose condition did not hold is not taken, whatever its target did", () => {
  const from = { ...node("c@l", { completed: 2 }, [], { source: 2 }), conditions: [{ handle: "source", target: "x", held: 0, missed: 2 }, { handle: "source", target: "y", held: 1, missed: 1 }] };
  const nodes = new Map([["c@l", from], ["x@l", node("x@l", { completed: 2 })], ["y@l", node("y@l", { completed: 1, skipped: 1 })], ["z@l", node("z@l", { completed: 2 })]]);
  assert.deepEqual(["x@l", "y@l", "z@l"].map((target) => isTaken({ source: "c@l", handle: "source", target }, nodes)), [false, true, true]);
});

test("only one instance took a time", () => {
  assert.equal(spanOf({ ...node("a", { completed: 1 }), begin_ms: 5, end_ms: 12 }), 7);
  assert.equal(spanOf(node("a", { completed: 2 })), null);
  assert.equal(spanOf({ ...node("a", { running: 1 }), end_ms: null }), null);
});

test("the scale is marked at round times, apart from each other and outside of folds", () => {
  assert.deepEqual(ticksOf(scaled([[0, 3_230]], 0, 3_230)), [0, 1_000, 2_000]);
  assert.deepEqual(ticksOf(scaled([[0, 1]], 0, 1)), [0]);
  assert.deepEqual(ticksOf(scaled([[0, 2_600]], 1_100, 2_600)), [1_500, 2_000]);
  const dice = new Dice(7);
  for (let round = 0; round < 2_000; round += 1) {
    const end = 1 + dice.below(10 ** (1 + dice.below(10)));
    const idle = dice.below(end);
    const scale = scaled([[0, Math.floor(idle / 3)], [idle, end]], 0, end);
    const ticks = ticksOf(scale);
    assert.ok(ticks.length > 0 && ticks.length <= 12, `${end}: ${ticks.length}`);
    for (const [place, tick] of ticks.entries()) {
      assert.ok(scale.at(tick) <= 1 && (place === 0 || scale.at(tick) - scale.at(ticks[place - 1] ?? 0) > 0.089), `${end}: ${ticks.join()}`);
      assert.ok(!scale.folds.some((fold) => tick > fold.from && tick < fold.to), `${end}: ${tick} is folded`);
    }
  }
});
