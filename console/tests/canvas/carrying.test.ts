import assert from "node:assert/strict";
import { test } from "node:test";
import { pasteNotes } from "../../src/canvas/notes/carrying.ts";
import { Clipboard } from "../../src/canvas/keyboard/clipboard.ts";
import { printed } from "../../src/canvas/keyboard/carrying.ts";
import type { Desk } from "../../src/canvas/desk.ts";
import { run } from "../../src/canvas/commands.ts";
import type { Write } from "../../src/editing/log/effects.ts";
import { faults } from "../../src/editing/rules/invariants.ts";
import { object } from "../../src/editing/values/values.ts";
import { read } from "../../src/source/yaml.ts";
import { Alone, counted, deskOf, USUAL } from "./drafts.ts";

const note = (tail: string, x: number, text: string, more: readonly (readonly [string, string | number])[] = []): Write => ["put", `note/${tail}`, object([["x", x], ["y", 8], ["text", text], ...more])];
const NOTED: readonly Write[] = [...USUAL, note("one", 0, "First: a\nsecond line", [["colour", "blue"], ["w", 300], ["h", 80]]), note("two", 400, "Other")];

function copied(desk: Desk): string {
  const { graph, selected, notes, chosen, draft } = desk.snapshot();
  return printed(draft.view, graph, selected, notes, chosen);
}

test("blocks and notes are pasted as they were copied, in one step to undo", async () => {
  const draft = new Alone(NOTED);
  const desk = deskOf(draft);
  const [first] = desk.snapshot().graph.blocks.keys();
  desk.select([first ?? ""], false, ["one"]);
  const before = desk.snapshot();
  await new Clipboard(desk).pasted(copied(desk));
  const after = desk.snapshot();
  assert.deepEqual([after.graph.blocks.size - before.graph.blocks.size, after.notes.size - before.notes.size], [1, 1]);
  assert.deepEqual([after.selected.size, after.chosen.size], [1, 1]);
  const made = after.notes.get([...after.chosen][0] ?? "");
  assert.deepEqual([made?.text, made?.colour, made?.x, made?.y, made?.width, made?.height], ["First: a\nsecond line", "blue", 32, 40, 300, 80]);
  assert.deepEqual(faults(draft.replica.view), []);
  run(desk, "undo");
  assert.deepEqual([desk.snapshot().graph.blocks.size, desk.snapshot().notes.size], [before.graph.blocks.size, before.notes.size]);
});

test("notes alone are pasted, each time beside those that are there", async () => {
  const desk = deskOf(new Alone(NOTED));
  desk.select([], false, ["one", "two"]);
  const text = copied(desk);
  assert.doesNotMatch(text, /nodes/);
  for (const wanted of [[32, 432], [64, 464]]) {
    await new Clipboard(desk).pasted(text);
    const { notes, chosen } = desk.snapshot();
    assert.deepEqual([...chosen].map((tail) => notes.get(tail)?.x), wanted);
  }
});

test("what is no note is left out, and what a note cannot have is as usual", () => {
  const given = read("notes:\n  - text: fits\n    colour: '#fff'\n    x: 1e99\n    y: far\n    w: 1\n  - 3\n  - colour: blue\n");
  const { operation, tails } = pasteNotes(given, new Map(), counted());
  assert.equal(tails.length, 1);
  assert.deepEqual(operation.writes.map(([, , entity]) => entity), [object([["x", 0], ["y", 0], ["w", 120], ["h", 120], ["text", "fits"], ["colour", "yellow"]])]);
  assert.deepEqual(pasteNotes(read("nodes: {}"), new Map(), counted()).tails, []);
});
