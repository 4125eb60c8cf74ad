import assert from "node:assert/strict";
import { test } from "node:test";
import { noteAt, run } from "../../src/canvas/commands.ts";
import { NoteNodes } from "../../src/canvas/notes/nodes.ts";
import { addNote, around, changeNote, freeCorner, notesOf, titleOf, typeNote, type Note } from "../../src/canvas/notes/notes.ts";
import { faults } from "../../src/editing/rules/invariants.ts";
import { snapshot } from "../../src/editing/state.ts";
import { object } from "../../src/editing/values/values.ts";
import { operation } from "../../src/editing/log/operations.ts";
import type { Write } from "../../src/editing/log/effects.ts";
import { Alone, deskOf, USUAL } from "./drafts.ts";

const put = (tail: string, x: number, y: number, text = ""): Write => ["put", `note/${tail}`, object([["x", x], ["y", y], ["text", text]])];
const NOTED: readonly Write[] = [...USUAL, put("low", 0, 300, "Below\nand more"), put("high", 40, -200, "Above")];

test("a note is added where it is asked for, and its text is typed at once", () => {
  const draft = new Alone([]);
  const desk = deskOf(draft);
  noteAt(desk, { x: 201, y: 99 });
  const [note] = desk.snapshot().notes.values();
  assert.deepEqual([note?.x, note?.y, note?.width, note?.height, note?.colour, note?.text], [92, 40, 220, 120, "yellow", ""]);
  assert.equal(desk.note, note?.tail);
  assert.equal(desk.snapshot().writing, note?.tail);
  assert.deepEqual(faults(draft.replica.view), []);
  run(desk, "undo");
  assert.equal(desk.snapshot().notes.size, 0);
  assert.deepEqual([desk.note, desk.snapshot().writing], [null, null]);
});

test("what is typed is a splice of what differs, in code points", () => {
  const draft = new Alone([put("n", 0, 0, "🙂 ab")]);
  assert.deepEqual(typeNote(draft.replica.view, "n", "🙂 axb")?.writes, [["splice", "note/n", ["text"], 3, 0, "x"]]);
  assert.equal(typeNote(draft.replica.view, "n", "🙂 ab"), null);
  assert.equal(typeNote(draft.replica.view, "gone", "x"), null);
  const bare = new Alone([["put", "note/n", object([["x", 0], ["y", 0]])]]);
  assert.equal(bare.edit(typeNote(bare.replica.view, "n", "first") ?? assert.fail()), true);
  assert.equal(bare.replica.view.get("note/n")?.get("text"), "first");
});

test("notes are read top to bottom, what is damaged with the usual size and colour, and stay the same objects", () => {
  const draft = new Alone(NOTED);
  const notes = notesOf(draft.replica.view, new Map());
  assert.deepEqual([...notes.keys()], ["high", "low"]);
  assert.equal(notesOf(draft.replica.view, notes), notes);
  const high = notes.get("high");
  draft.edit(operation([["set", "note/low", ["colour"], "ultraviolet"], ["set", "note/low", ["w"], 1]]));
  const next = notesOf(draft.replica.view, notes);
  assert.equal(next.get("high"), high);
  assert.deepEqual([next.get("low")?.colour, next.get("low")?.width], ["yellow", 120]);
  assert.deepEqual([...next.values()].map(titleOf), ["Above", "Below"]);
});

test("moving and colouring write what changes, and nothing else", () => {
  const draft = new Alone(NOTED);
  const notes = notesOf(draft.replica.view, new Map());
  assert.deepEqual(changeNote(notes, "low", { x: 0.2, y: 320, colour: "blue" })?.writes, [["set", "note/low", ["y"], 320], ["set", "note/low", ["colour"], "blue"]]);
  assert.equal(changeNote(notes, "low", { x: 0, y: 300 }), null);
  assert.equal(changeNote(notes, "none", { x: 1 }), null);
});

test("Tab walks the notes after the nodes, arrows move one, and Enter writes in it", () => {
  const desk = deskOf(new Alone(NOTED));
  desk.select(["y"]);
  assert.equal(run(desk, "next"), true);
  assert.equal(desk.note, "high");
  assert.equal(desk.snapshot().said, "Note: Above");
  run(desk, "forward");
  run(desk, "up");
  assert.deepEqual([desk.snapshot().notes.get("high")?.x, desk.snapshot().notes.get("high")?.y], [60, -220]);
  run(desk, "open");
  assert.equal(desk.snapshot().writing, "high");
  assert.equal(run(desk, "next"), true);
  assert.deepEqual([desk.note, desk.snapshot().writing], ["low", null]);
  assert.equal(run(desk, "next"), false);
  assert.equal(run(desk, "previous"), true);
  assert.equal(run(desk, "previous"), true);
  assert.deepEqual([desk.note, desk.current], [null, "y"]);
});

test("nodes and notes are selected, duplicated and deleted together, each as one action", () => {
  const draft = new Alone(NOTED);
  const desk = deskOf(draft);
  const before = snapshot(draft.replica.view);
  desk.select(["c"], false, ["low"]);
  assert.equal(desk.snapshot().said, "1 node and 1 note selected");
  run(desk, "duplicate");
  assert.equal(desk.snapshot().notes.size, 3);
  assert.deepEqual([desk.snapshot().selected.size, desk.snapshot().chosen.size], [1, 1]);
  run(desk, "delete");
  run(desk, "undo");
  run(desk, "undo");
  assert.deepEqual(snapshot(draft.replica.view), before);
  run(desk, "selectAll");
  run(desk, "delete");
  assert.deepEqual([desk.snapshot().graph.blocks.size, desk.snapshot().notes.size], [0, 0]);
});

test("a note is drawn in the area that is seen, and wherever it is while it is selected or dragged", () => {
  const notes = new Map([["n", { tail: "n", x: 1_000, y: 0, width: 220, height: 120, text: "", colour: "gray", entity: new Map() } satisfies Note]]);
  const look = { ...deskOf(new Alone([])).snapshot(), notes };
  const area = { left: 0, top: 0, right: 500, bottom: 500 };
  const nodes = new NoteNodes();
  assert.deepEqual(nodes.of(look, new Map(), area), []);
  assert.deepEqual(nodes.of({ ...look, chosen: new Set(["n"]) }, new Map(), area).map((node) => node.id), ["note/n"]);
  const shown = nodes.of(look, new Map(), { ...area, right: 1_001 });
  assert.deepEqual(shown.map(({ id, position }) => [id, position]), [["note/n", { x: 1_000, y: 0 }]]);
  assert.equal(nodes.of(look, new Map(), { ...area, right: 1_001 }), shown);
  assert.deepEqual(nodes.of(look, new Map([["note/n", { x: 3, y: 4 }]]), area)[0]?.position, { x: 3, y: 4 });
});

test("all that is fitted to the screen has the notes in it", () => {
  const note = (x: number, y: number): Note => ({ tail: "n", x, y, width: 100, height: 50, text: "", colour: "gray", entity: new Map() });
  assert.deepEqual(around({ x: 0, y: 0, width: 200, height: 100 }, [note(-50, 80), note(150, 0)]), { x: -50, y: 0, width: 300, height: 130 });
  assert.deepEqual(around({ x: 0, y: 0, width: 0, height: 0 }, [note(300, 300)]), { x: 300, y: 300, width: 100, height: 50 });
});

test("a note that is added by the key stands free of what is there, as near as can be", () => {
  const box = { left: 0, top: 0, width: 188, height: 56 };
  assert.deepEqual(freeCorner(0, 0, []), [0, 0]);
  assert.deepEqual(freeCorner(0, 0, [box]), [0, 80]);
  assert.deepEqual(freeCorner(0, 0, [box, { ...box, top: 60, height: 400 }]), [0, -140]);
  assert.deepEqual(freeCorner(300, 0, [box]), [300, 0]);
  assert.deepEqual(freeCorner(0, 0, [{ ...box, top: -9_000, height: 18_000 }]), [0, 0]);
});

test("a gesture that adds a note holds beside everything", () => {
  const draft = new Alone();
  assert.equal(draft.edit(addNote(0, 0, () => "n").operation), true);
  assert.deepEqual(faults(draft.replica.view), []);
});
