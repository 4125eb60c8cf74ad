/**
 * Replaces commands of CodeMirror that need a parsed language, by working on lines: no language is parsed, and its
 * parser would be as large as all commands.
 */
import { countColumn, EditorSelection, findClusterBreak, type ChangeSpec, type EditorState, type Line, type StateCommand } from "@codemirror/state";

const UNIT = "  ";

/** Begins a line below that of the cursor, as deep as that one. */
export const blankLine: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  const changes = state.changeByRange(({ head }) => {
    const { text, to } = state.doc.lineAt(head);
    const insert = `\n${/^\s*/.exec(text)?.[0] ?? ""}`;
    return { changes: { from: to, insert }, range: EditorSelection.cursor(to + insert.length) };
  });
  dispatch(state.update(changes, { scrollIntoView: true, userEvent: "input" }));
  return true;
};

export const indentMore = eachLine(({ from }) => ({ from, insert: UNIT }), "input.indent");
export const indentLess = eachLine(({ from, text }) => {
  const spaces = /^(?: {1,2}|\t)/.exec(text)?.[0].length ?? 0;
  return spaces === 0 ? null : { from, to: from + spaces };
}, "delete.dedent");

/** Changes each line with a cursor or a part of a selection, once. */
function eachLine(change: (line: Line) => ChangeSpec | null, userEvent: string): StateCommand {
  return ({ state, dispatch }) => {
    if (state.readOnly) return false;
    const lines = new Map<number, Line>();
    for (const { from, to, empty } of state.selection.ranges) {
      for (let line = state.doc.lineAt(from); ; line = state.doc.lineAt(line.to + 1)) {
        if (empty || to > line.from) lines.set(line.from, line);
        if (line.to >= to) break;
      }
    }
    const changes = [...lines.values()].flatMap((line) => change(line) ?? []);
    dispatch(state.update({ changes, userEvent }));
    return true;
  };
}

export const deleteCharBackward = deleting(before);
export const deleteCharForward = deleting(behind);

/** Deletes what is selected, or from the cursor to a place. */
function deleting(placeOf: (state: EditorState, cursor: number) => number): StateCommand {
  return ({ state, dispatch }) => {
    if (state.readOnly) return false;
    let userEvent = "delete.selection";
    const changes = state.changeByRange((range) => {
      const place = range.empty ? placeOf(state, range.head) : range.head;
      if (range.empty && place !== range.head) userEvent = place < range.head ? "delete.backward" : "delete.forward";
      const [from, to] = [Math.min(range.from, place), Math.max(range.to, place)];
      return from === to ? { range } : { changes: { from, to }, range: EditorSelection.cursor(from, from < range.head ? -1 : 1) };
    });
    if (changes.changes.empty) return false;
    dispatch(state.update(changes, { scrollIntoView: true, userEvent }));
    return true;
  };
}

/** One character, as a reader counts them; in the indent of a line all that makes up one level. */
function before(state: EditorState, cursor: number): number {
  const line = state.doc.lineAt(cursor);
  if (cursor === line.from) return Math.max(0, cursor - 1);
  const text = line.text.slice(0, cursor - line.from);
  if (/^[ \t]+$/.test(text) && !text.endsWith("\t")) {
    const drop = countColumn(text, state.tabSize) % UNIT.length || UNIT.length;
    return cursor - Math.min(drop, / *$/.exec(text)?.[0].length ?? 0);
  }
  const place = findClusterBreak(line.text, text.length, false, false);
  // a sign that only says how the one before it looks goes with that one
  return line.from + (/[\ufe00-\ufe0f]/.test(line.text.slice(place, text.length)) ? findClusterBreak(line.text, place, false, false) : place);
}

function behind(state: EditorState, cursor: number): number {
  const line = state.doc.lineAt(cursor);
  return cursor === line.to ? Math.min(state.doc.length, cursor + 1) : line.from + findClusterBreak(line.text, cursor - line.from, true, true);
}
