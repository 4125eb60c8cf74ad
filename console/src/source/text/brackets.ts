/** The bracket that belongs to the one at the cursor: both are outlined, and a key goes from one to the other. By the text alone. */
import { EditorSelection, StateField, type EditorState, type Extension, type Text } from "@codemirror/state";
import { Decoration, EditorView, keymap, type DecorationSet } from "@codemirror/view";

const PAIRS = "()[]{}";
const FARTHEST = 10_000; // characters

export interface Pair {
  readonly at: number;
  readonly other: number | null; // null: there is none
  readonly fits: boolean;
}

/** For the bracket that begins at a place; null where there is none, or where the text ends too far away to say. */
function pairOf(doc: Text, at: number): Pair | null {
  const sign = PAIRS.indexOf(doc.sliceString(at, at + 1) || " ");
  if (sign < 0) return null;
  const by = sign % 2 === 0 ? 1 : -1;
  const [from, to] = by > 0 ? [at, Math.min(doc.length, at + FARTHEST)] : [Math.max(0, at - FARTHEST), at + 1];
  const text = doc.sliceString(from, to);
  let depth = 0;
  for (let place = at - from; place >= 0 && place < text.length; place += by) {
    const found = PAIRS.indexOf(text.charAt(place));
    if (found < 0) continue;
    depth += (found % 2 === 0) === (by > 0) ? 1 : -1;
    if (depth === 0) return { at, other: from + place, fits: found >> 1 === sign >> 1 };
  }
  return (by > 0 ? to === doc.length : from === 0) ? { at, other: null, fits: false } : null;
}

/** Of the bracket before the cursor, or behind it. */
export function pairAt(doc: Text, cursor: number): Pair | null {
  return (cursor > 0 ? pairOf(doc, cursor - 1) : null) ?? pairOf(doc, cursor);
}

const FITS = Decoration.mark({ class: "cm-matchingBracket" });
const ALONE = Decoration.mark({ class: "cm-nonmatchingBracket" });

function outlined(state: EditorState): DecorationSet {
  const found = state.selection.ranges.flatMap((range) => {
    const pair = range.empty ? pairAt(state.doc, range.head) : null;
    if (pair === null) return [];
    const mark = pair.fits ? FITS : ALONE;
    return [pair.at, ...(pair.other === null ? [] : [pair.other])].map((place) => mark.range(place, place + 1));
  });
  return Decoration.set(found, true);
}

const shown = StateField.define<DecorationSet>({
  create: outlined,
  update: (held, transaction) => (transaction.docChanged || transaction.selection !== undefined ? outlined(transaction.state) : held),
  provide: (field) => EditorView.decorations.from(field),
});

function goToOther(view: EditorView): boolean {
  const { state } = view;
  const { head } = state.selection.main;
  const pair = pairAt(state.doc, head);
  if (pair === null || pair.other === null) return false;
  const isBehind = pair.at === head; // the cursor stays on the same side of the bracket
  view.dispatch({ selection: EditorSelection.cursor(isBehind ? pair.other : pair.other + 1), scrollIntoView: true });
  return true;
}

export const brackets: Extension = [shown, keymap.of([{ key: "Shift-Mod-\\", run: goToOther }])];
