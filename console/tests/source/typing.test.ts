import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorSelection, EditorState, type StateCommand } from "@codemirror/state";
import { pairAt } from "../../src/source/text/brackets.ts";
import { foldable } from "../../src/source/text/colours.ts";
import { fold, folded, foldedIn, unfold } from "../../src/source/text/folding.ts";
import { blankLine, deleteCharBackward, deleteCharForward, indentLess, indentMore } from "../../src/source/text/typing.ts";

/** What a command makes of a text in which `|` is the cursor, or `[…]` what is selected. */
function after(command: StateCommand, marked: string, readOnly = false): string | null {
  const isRange = marked.includes("⟨");
  const anchor = marked.indexOf(isRange ? "⟨" : "|");
  const head = isRange ? marked.indexOf("⟩") - 1 : anchor;
  let state = EditorState.create({ doc: marked.replace(/[⟨⟩|]/g, ""), selection: { anchor, head }, extensions: EditorState.readOnly.of(readOnly) });
  const did = command({ state, dispatch: (transaction) => { state = transaction.state; } });
  if (!did) return null;
  const { from, to, empty } = state.selection.main;
  const text = state.doc.toString();
  return empty ? `${text.slice(0, from)}|${text.slice(from)}` : `${text.slice(0, from)}⟨${text.slice(from, to)}⟩${text.slice(to)}`;
}

test("a character is deleted as a reader counts them, and a level of an indent at once", () => {
  assert.equal(after(deleteCharBackward, "ab|c"), "a|c");
  assert.equal(after(deleteCharBackward, "a\n|b"), "a|b");
  assert.equal(after(deleteCharBackward, "|a"), null);
  assert.equal(after(deleteCharBackward, "x👩‍🚀|"), "x|");
  assert.equal(after(deleteCharBackward, "x❤️|"), "x|");
  assert.equal(after(deleteCharBackward, "    |key"), "  |key");
  assert.equal(after(deleteCharBackward, "   |key"), "  |key");
  assert.equal(after(deleteCharBackward, "a   |key"), "a  |key");
  assert.equal(after(deleteCharBackward, "\t|key"), "|key");
  assert.equal(after(deleteCharBackward, "a⟨bc⟩d"), "a|d");
  assert.equal(after(deleteCharForward, "a|bc"), "a|c");
  assert.equal(after(deleteCharForward, "a|\nb"), "a|b");
  assert.equal(after(deleteCharForward, "|👩‍🚀x"), "|x");
  assert.equal(after(deleteCharForward, "a|"), null);
  assert.equal(after(deleteCharForward, "a⟨bc⟩d"), "a|d");
  for (const command of [deleteCharBackward, deleteCharForward, indentMore, indentLess, blankLine]) assert.equal(after(command, "a|b", true), null);
});

test("lines are indented and begun below as YAML has them", () => {
  assert.equal(after(indentMore, "a:\nb|"), "a:\n  b|");
  assert.equal(after(indentMore, "⟨a\nb\n⟩c"), "  ⟨a\n  b\n⟩c");
  assert.equal(after(indentLess, "a:\n    b|"), "a:\n  b|");
  assert.equal(after(indentLess, "⟨ a\n\tb⟩"), "⟨a\nb⟩");
  assert.equal(after(indentLess, "a|"), "a|");
  assert.equal(after(blankLine, "  a: |1\nb"), "  a: 1\n  |\nb");
});

test("a bracket finds its other one, whichever kinds stand between", () => {
  const doc = EditorState.create({ doc: "a: [1, {b: (2)}]\nc: )" }).doc;
  assert.deepEqual(pairAt(doc, 3), { at: 3, other: 15, fits: true });
  assert.deepEqual(pairAt(doc, 4), { at: 3, other: 15, fits: true });
  assert.deepEqual(pairAt(doc, 16), { at: 15, other: 3, fits: true });
  assert.deepEqual(pairAt(doc, doc.length), { at: doc.length - 1, other: null, fits: false });
  assert.equal(pairAt(doc, 1), null);
  const odd = EditorState.create({ doc: "[1}" }).doc;
  assert.deepEqual(pairAt(odd, 0), { at: 0, other: 2, fits: false });
  assert.equal(pairAt(EditorState.create({ doc: `[${" ".repeat(20_000)}]` }).doc, 0), null); // too far to look
});

test("what is folded moves with the text, and opens where the cursor or a deletion goes", () => {
  const doc = "nodes:\n  ask:\n    type: llm\n  end:\n    type: wait\nid: x\n";
  let state = EditorState.create({ doc, extensions: folded });
  const line = state.doc.line(1);
  const span = { from: 6, to: doc.indexOf("\nid:") };
  assert.deepEqual(foldable(state, line.from), span);
  assert.equal(foldable(state, state.doc.line(3).from), null);
  state = state.update({ effects: fold.of(span) }).state;
  assert.deepEqual(foldedIn(state, line), span);
  state = state.update({ changes: { from: 0, insert: "# why\n" } }).state;
  const moved = { from: span.from + 6, to: span.to + 6 };
  assert.deepEqual(foldedIn(state, state.doc.line(2)), moved);
  assert.equal(foldedIn(state.update({ selection: EditorSelection.cursor(moved.from + 3) }).state, state.doc.line(2)), null);
  assert.deepEqual(foldedIn(state.update({ selection: EditorSelection.cursor(moved.from) }).state, state.doc.line(2)), moved);
  const deleted = state.update({ changes: { from: moved.to - 2, to: moved.to }, userEvent: "delete.backward" }).state;
  assert.equal(foldedIn(deleted, deleted.doc.line(2)), null);
  assert.equal(foldedIn(state.update({ effects: unfold.of(moved) }).state, state.doc.line(2)), null);
});
