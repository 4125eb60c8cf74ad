/** The colours of a text in YAML or JSON, and what folds in it. */
import { foldService } from "@codemirror/language";
import { StateField, type EditorState } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";
import { foldsTo, tokens } from "./yaml.ts";

const MAX_COLOURED = 400_000; // letters: a longer text is typed in without colours, and as fast
const MARKS = new Map((["key", "comment", "number", "mark"] as const).map((tone) => [tone, Decoration.mark({ class: `tone-${tone}` })]));

function coloured({ doc }: EditorState): DecorationSet {
  if (doc.length > MAX_COLOURED) return Decoration.none;
  return Decoration.set(tokens(doc.toString()).flatMap(({ from, to, tone }) => MARKS.get(tone)?.range(from, to) ?? []));
}

const field = StateField.define<DecorationSet>({
  create: coloured,
  update: (held, transaction) => transaction.docChanged ? coloured(transaction.state) : held,
  provide: (own) => EditorView.decorations.from(own),
});

export const colours = [field, EditorView.theme({
  ".tone-key": { color: "var(--accent)" },
  ".tone-comment": { color: "var(--text-3)", fontStyle: "italic" },
  ".tone-number": { color: "var(--held)" },
  ".tone-mark": { color: "var(--text-3)" },
})];

export const folding = foldService.of((state, start) => {
  const { doc } = state;
  const line = doc.lineAt(start);
  const last = foldsTo(line.number, doc.lines, (number) => doc.line(number).text);
  return last === line.number ? null : { from: line.to, to: doc.line(last).to };
});
