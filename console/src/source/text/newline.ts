/** Inserts a new line in YAML when Enter is pressed: a line that is indented as the one before, deeper after a key without a value. */
import type { StateCommand } from "@codemirror/state";
import { EditorSelection } from "@codemirror/state";

const UNIT = "  ";

/** The spaces that a line after this text begins with. Behind the dash of an item the next line stands under its first letter. */
export function indentAfter(line: string): string {
  const [, spaces = "", dashes = ""] = /^( *)((?:- +)*)/.exec(line) ?? [];
  const said = line.replace(/(?:^|\s)#.*$/, "");
  const isOpen = /:\s*(?:[|>][+-]?\d?)?\s*$/.test(said);
  return spaces + " ".repeat(dashes.length) + (isOpen ? UNIT : "");
}

export const newline: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  const changes = state.changeByRange((range) => {
    const line = state.doc.lineAt(range.from);
    const insert = `\n${indentAfter(line.text.slice(0, range.from - line.from))}`;
    return { changes: { from: range.from, to: range.to, insert }, range: EditorSelection.cursor(range.from + insert.length) };
  });
  dispatch(state.update(changes, { scrollIntoView: true, userEvent: "input" }));
  return true;
};
