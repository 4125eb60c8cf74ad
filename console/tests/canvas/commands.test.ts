import assert from "node:assert/strict";
import { test } from "node:test";
import { actionOf, CHANGES, type Key } from "../../src/canvas/actions/keymap.ts";
import { addBeside, connects, run } from "../../src/canvas/commands.ts";
import { walked } from "../../src/canvas/model/walking.ts";
import { matching } from "../../src/ui/picking/matching.ts";
import { Alone, deskOf } from "./drafts.ts";

const key = (name: string, more: Partial<Key> = {}): Key => ({ key: name, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more });

test("each key has its action", () => {
  const plain = { Tab: "next", ArrowRight: "forward", ArrowLeft: "back", Enter: "open", a: "add", c: "connect", d: "disable", Delete: "delete", Backspace: "delete",
    F2: "rename", Escape: "clear", "1": "fit", "0": "reset", "?": "keys", "/": "search" };
  for (const [name, action] of Object.entries(plain)) assert.equal(actionOf(key(name)), action);
  const command = { d: "duplicate", c: "copy", x: "cut", v: "paste", z: "undo", a: "selectAll", s: "save", k: "commands", f: "search" };
  for (const [name, action] of Object.entries(command)) {
    assert.equal(actionOf(key(name, { metaKey: true })), action);
    assert.equal(actionOf(key(name.toUpperCase(), { ctrlKey: true })), action);
  }
  assert.equal(actionOf(key("Z", { metaKey: true, shiftKey: true })), "redo");
  assert.equal(actionOf(key("Tab", { shiftKey: true })), "previous");
});

test("keys of the browser and of other layouts are left alone", () => {
  for (const pressed of [key("a", { altKey: true }), key("t", { ctrlKey: true }), key("r", { metaKey: true }), key("F5"), key("constructor"), key("A", { ctrlKey: true, shiftKey: true })]) {
    assert.equal(actionOf(pressed), null);
  }
});

test("Tab walks every node once, in topological order, and leaves at the end", () => {
  const desk = deskOf(new Alone());
  const order = walked(desk.snapshot().graph).map((row) => row.tail);
  assert.deepEqual(order, ["a", "b", "c", "l", "x", "y"]);
  const seen: (string | null)[] = [];
  while (run(desk, "next")) seen.push(desk.current);
  assert.deepEqual(seen, order);
  assert.equal(run(desk, "previous"), true);
  assert.equal(desk.current, "x");
});

test("arrows follow the edges, and go to what follows the same node", () => {
  const desk = deskOf(new Alone());
  desk.select(["a"]);
  run(desk, "forward");
  assert.equal(desk.current, "b");
  run(desk, "forward");
  assert.equal(desk.current, "c");
  run(desk, "down");
  assert.equal(desk.current, "l");
  run(desk, "up");
  run(desk, "back");
  assert.equal(desk.current, "b");
});

test("Escape first ends following a person, and keeps what is selected", () => {
  const desk = deskOf(new Alone());
  desk.select(["a"]);
  desk.change({ following: "c1" });
  run(desk, "clear");
  assert.deepEqual([desk.snapshot().following, desk.current], [null, "a"]);
  run(desk, "clear");
  assert.equal(desk.current, null);
});

test("A kind of the palette goes after what is selected, and inside a container that is empty", () => {
  const draft = new Alone();
  const desk = deskOf(draft);
  desk.select(["c"]);
  const after = addBeside(desk, "http") ?? assert.fail();
  assert.deepEqual([...desk.snapshot().graph.wires.values()].filter((wire) => wire.target === after).map((wire) => wire.handle), ["approved"]);
  desk.select(["c"]);
  const second = addBeside(desk, "http") ?? assert.fail();
  assert.deepEqual([...desk.snapshot().graph.wires.values()].filter((wire) => wire.target === second).map((wire) => wire.handle), ["rejected"]);
  desk.select(["c"]);
  const entry = addBeside(desk, "manual") ?? assert.fail();
  assert.deepEqual([...desk.snapshot().graph.wires.values()].filter((wire) => wire.target === entry), [], "nothing leads to an entry");
  desk.select([]);
  const loop = addBeside(desk, "loop") ?? assert.fail();
  assert.equal(desk.current, loop);
  const inside = addBeside(desk, "http") ?? assert.fail();
  assert.equal(desk.snapshot().graph.blocks.get(inside)?.parent, loop);
});

test("an edge that is selected takes the kind between its ends, and goes by the key", () => {
  const desk = deskOf(new Alone());
  desk.change({ edges: new Set(["xy"]) });
  const made = addBeside(desk, "http") ?? assert.fail();
  assert.equal(desk.snapshot().graph.blocks.get(made)?.parent, "l");
  assert.equal(desk.snapshot().graph.wires.has("xy"), false);
  desk.select([]);
  desk.change({ edges: new Set(["ab"]) });
  run(desk, "delete");
  assert.equal(desk.snapshot().graph.wires.has("ab"), false);
  assert.equal(desk.snapshot().edges.size, 0);
});

test("connections hold within one body, between two nodes", () => {
  const desk = deskOf(new Alone());
  assert.deepEqual([connects(desk, "a", "c"), connects(desk, "a", "a"), connects(desk, "a", "x"), connects(desk, "a", "none"), connects(desk, null, "a")],
    [true, false, false, false, false]);
});

test("what is deleted is selected no more; undo and redo go by the keys", () => {
  const desk = deskOf(new Alone());
  desk.select(["b", "l"]);
  run(desk, "delete");
  assert.deepEqual([...desk.snapshot().graph.blocks.keys()].sort(), ["a", "c"]);
  assert.ok(![...desk.snapshot().selected].includes("b"));
  run(desk, "undo");
  assert.equal(desk.snapshot().graph.blocks.size, 6);
  run(desk, "redo");
  assert.equal(desk.snapshot().graph.blocks.size, 2);
});

test("a draft that can only be read is changed by no action", () => {
  const draft = new Alone();
  const desk = deskOf(draft);
  desk.select(["b"]);
  draft.canEdit = false;
  desk.edit(null);
  desk.undo();
  for (const action of CHANGES) {
    run(desk, action);
    assert.deepEqual(draft.asked, []);
    assert.equal(desk.snapshot().question, null);
  }
});

test("the layout is asked again for what changes it, and not for what is typed", () => {
  const asked: unknown[] = [];
  const desk = deskOf(new Alone(), asked as never[]);
  assert.equal(asked.length, 1);
  desk.edit({ writes: [["splice", "block/b", ["with", "url"], 0, 0, "x"]], guards: [], derived: [] });
  assert.equal(asked.length, 1);
  desk.edit({ writes: [["del", "block/c"]], guards: [], derived: [] });
  assert.equal(asked.length, 2);
});

test("typing finds what begins so first, then what has it, then its letters in order", () => {
  const choice = (title: string, more = ""): { key: string; title: string; more: string; mark: null } => ({ key: title, title, more, mark: null });
  const choices = [choice("approve_refund"), choice("refund"), choice("read_found"), choice("pay", "a refund"), choice("other")];
  assert.deepEqual(matching(choices, "refund").map((one) => one.title), ["refund", "approve_refund", "pay", "read_found"]);
  assert.deepEqual(matching(choices, "rfnd").map((one) => one.title), ["approve_refund", "refund", "read_found"]);
  assert.equal(matching(choices, " ").length, 5);
});
