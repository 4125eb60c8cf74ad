/** Folding of lines behind the one that they belong to: marks in a gutter, keys, and what stands for the folded lines. */
import { RangeSet, RangeSetBuilder, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, gutter, GutterMarker, keymap, ViewPlugin, WidgetType, type BlockInfo, type DecorationSet, type ViewUpdate } from "@codemirror/view";

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What folds behind the line that begins at a place; null where nothing does. */
export type Foldable = (state: EditorState, from: number) => Span | null;

const move = (span: Span, changes: { mapPos(place: number, side: number): number }): Span => ({ from: changes.mapPos(span.from, 1), to: changes.mapPos(span.to, -1) });
export const fold = StateEffect.define<Span>({ map: move });
export const unfold = StateEffect.define<Span>({ map: move });

class Placeholder extends WidgetType {
  toDOM(view: EditorView): HTMLElement {
    const shown = document.createElement("span");
    shown.textContent = "…";
    shown.className = "cm-foldPlaceholder";
    shown.title = "unfold";
    shown.setAttribute("aria-label", "folded code");
    shown.onclick = (event) => {
      const span = foldedIn(view.state, view.lineBlockAt(view.posAtDOM(shown)));
      if (span !== null) view.dispatch({ effects: unfold.of(span) });
      event.preventDefault();
    };
    return shown;
  }
}

const HIDDEN = Decoration.replace({ widget: new Placeholder() });

export const folded = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(held, transaction) {
    const { changes, effects, selection, newDoc } = transaction;
    let made = held;
    if (transaction.isUserEvent("delete")) changes.iterChangedRanges((from, to) => { made = without(made, (start, end) => start < to && end > from); });
    made = made.map(changes);
    for (const effect of effects) {
      if (effect.is(unfold)) made = without(made, (from, to) => from === effect.value.from && to === effect.value.to);
      else if (effect.is(fold) && effect.value.from < effect.value.to && effect.value.to <= newDoc.length) made = made.update({ add: [HIDDEN.range(effect.value.from, effect.value.to)] });
    }
    const head = selection?.main.head;
    return head === undefined ? made : without(made, (from, to) => from < head && to > head); // the cursor is never hidden
  },
  provide: (field) => EditorView.decorations.from(field),
});

function without(held: DecorationSet, goes: (from: number, to: number) => boolean): DecorationSet {
  return held.update({ filter: (from, to) => !goes(from, to) });
}

/** The first that is folded in a line. */
export function foldedIn(state: EditorState, { from, to }: Span): Span | null {
  let found: Span | null = null;
  state.field(folded).between(from, to, (start, end) => { if (found === null || start < found.from) found = { from: start, to: end }; });
  return found;
}

class Mark extends GutterMarker {
  constructor(private readonly isOpen: boolean) {
    super();
  }

  override eq(other: Mark): boolean {
    return this.isOpen === other.isOpen;
  }

  override toDOM(): HTMLElement {
    const shown = document.createElement("span");
    shown.textContent = this.isOpen ? "⌄" : "›";
    shown.title = this.isOpen ? "Fold line" : "Unfold line";
    return shown;
  }
}

const OPEN = new Mark(true);
const CLOSED = new Mark(false);

function said(state: EditorState, word: "Folded" | "Unfolded", { from, to }: Span): StateEffect<string> {
  return EditorView.announce.of(`${word} lines ${state.doc.lineAt(from).number} to ${state.doc.lineAt(to).number}.`);
}

/** The lines with a selection or a cursor, from top to bottom. */
function chosen(view: EditorView): BlockInfo[] {
  const lines = new Map(view.state.selection.ranges.map(({ head }) => view.lineBlockAt(head)).map((line) => [line.from, line]));
  return [...lines.values()].sort((left, right) => left.from - right.from);
}

function did(view: EditorView, effects: readonly StateEffect<unknown>[]): boolean {
  if (effects.length > 0) view.dispatch({ effects });
  return effects.length > 0;
}

/** Folding by what `foldable` says. */
export function folding(foldable: Foldable): Extension {
  const toggle = (view: EditorView, line: BlockInfo): boolean => {
    const open = foldedIn(view.state, line);
    const span = open ?? foldable(view.state, line.from);
    return span !== null && did(view, [(open === null ? fold : unfold).of(span)]);
  };
  const foldChosen = (view: EditorView): boolean => {
    for (const line of chosen(view)) {
      const span = foldable(view.state, line.from);
      if (span !== null && foldedIn(view.state, line) === null) return did(view, [fold.of(span), said(view.state, "Folded", span)]);
    }
    return false;
  };
  const unfoldChosen = (view: EditorView): boolean => did(view, chosen(view).flatMap((line) => {
    const span = foldedIn(view.state, line);
    return span === null ? [] : [unfold.of(span), said(view.state, "Unfolded", span)];
  }));
  const foldAll = (view: EditorView): boolean => {
    const effects: StateEffect<unknown>[] = [];
    for (let place = 0; place < view.state.doc.length;) {
      const line = view.lineBlockAt(place);
      const span = foldable(view.state, line.from);
      if (span !== null && foldedIn(view.state, line) === null) effects.push(fold.of(span));
      place = (span === null ? line : view.lineBlockAt(span.to)).to + 1;
    }
    return did(view, effects);
  };
  const unfoldAll = (view: EditorView): boolean => {
    const effects: StateEffect<unknown>[] = [];
    view.state.field(folded).between(0, view.state.doc.length, (from, to) => { effects.push(unfold.of({ from, to })); });
    return did(view, effects);
  };
  const marks = (view: EditorView): RangeSet<GutterMarker> => {
    const builder = new RangeSetBuilder<GutterMarker>();
    for (const line of view.viewportLineBlocks) {
      const mark = foldedIn(view.state, line) !== null ? CLOSED : foldable(view.state, line.from) !== null ? OPEN : null;
      if (mark !== null) builder.add(line.from, line.from, mark);
    }
    return builder.finish();
  };
  const marking = ViewPlugin.fromClass(class { // the gutter asks at each update, and a line is looked through only when one of these changes
    markers: RangeSet<GutterMarker>;
    constructor(view: EditorView) { this.markers = marks(view); }
    update({ docChanged, viewportChanged, startState, state, view }: ViewUpdate): void {
      if (docChanged || viewportChanged || startState.field(folded) !== state.field(folded)) this.markers = marks(view);
    }
  });
  return [
    folded, marking,
    gutter({
      class: "cm-foldGutter",
      markers: (view) => view.plugin(marking)?.markers ?? RangeSet.empty,
      initialSpacer: () => CLOSED,
      domEventHandlers: { click: toggle },
    }),
    EditorView.baseTheme({ ".cm-foldPlaceholder": { borderRadius: ".2em", margin: "0 1px", cursor: "pointer" }, ".cm-foldGutter span": { padding: "0 1px" } }),
    keymap.of([
      { key: "Ctrl-Shift-[", mac: "Cmd-Alt-[", run: foldChosen }, { key: "Ctrl-Shift-]", mac: "Cmd-Alt-]", run: unfoldChosen },
      { key: "Ctrl-Alt-[", run: foldAll }, { key: "Ctrl-Alt-]", run: unfoldAll },
    ]),
  ];
}
