/**
 * CodeMirror for a source that is read and not written. It stands in a shadow tree, as the editor of a draft's text does. Its cursor
 * goes by the keyboard too, and says which line it is on.
 */
import { search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, type DecorationSet } from "@codemirror/view";
import { colours as ofYaml } from "./text/colours.ts";
import { keys } from "./text/keymap.ts";
import { theme } from "./text/theme.ts";
import type { Lines, Span } from "./made.ts";
import { tokens, type Token } from "./python.ts";

export interface Asked {
  readonly host: HTMLElement;
  readonly text: string;
  readonly label: string;
  /** The number of a line of the text in its file. */
  readonly number: (line: number) => string;
  readonly isPython: boolean;
  /** What Python evaluates in one node each. */
  readonly lifted: readonly { readonly tail: string; readonly at: Lines }[];
  /** The cursor was set on a line of the text, counted from 1, by the person. */
  readonly went: (line: number) => void;
}

const shown = Annotation.define<boolean>();
const marked = StateEffect.define<Span | null>();

const LINE = Decoration.line({ class: "cm-part" });
const HEAD = Decoration.line({ class: "cm-part cm-head" });

/** The lines of the block that is chosen. */
const part = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(held, transaction) {
    let made = held;
    for (const effect of transaction.effects) if (effect.is(marked)) made = effect.value === null ? Decoration.none : linesOf(transaction.state, effect.value);
    return made;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function linesOf(state: EditorState, { at: [first, last], head, call }: Span): DecorationSet {
  const numbers = Array.from({ length: last - first + 1 }, (_, place) => first + place);
  const called = call === null ? [] : Array.from({ length: call[1] - call[0] + 1 }, (_, place) => LINE.range(state.doc.line(call[0] + place).from));
  return Decoration.set([...called, ...numbers.map((number) => (number >= head[0] && number <= head[1] ? HEAD : LINE).range(state.doc.line(number).from))], true);
}

/** One mark for the lines of each block that Python evaluates, with its node. */
function evaluated(state: EditorState, lifted: Asked["lifted"]): DecorationSet {
  return Decoration.set(lifted.flatMap(({ tail, at: [first, last] }) => {
    const title = `Lifted: Python evaluates this in the node ${tail}`;
    return Array.from({ length: last - first + 1 }, (_, place) => (
      Decoration.line({ class: place === 0 ? "cm-lifted cm-first" : "cm-lifted", attributes: { title } }).range(state.doc.line(first + place).from)
    ));
  }), true);
}

function coloured(found: readonly Token[]): DecorationSet {
  return Decoration.set(found.map(({ from, to, tone }) => Decoration.mark({ class: `tone-${tone}` }).range(from, to)));
}

const colours = EditorView.theme({
  ".tone-comment": { color: "var(--text-3)", fontStyle: "italic" },
  ".tone-string": { color: "var(--code-text)" },
  ".tone-number, .tone-constant, .tone-keyword": { color: "var(--code-number)" },
  ".tone-decorator": { color: "var(--text-2)" },
  ".tone-name": { fontWeight: "600" },
  ".cm-content": { cursor: "text" },
  ".cm-line": { borderLeft: "2px solid transparent" },
  ".cm-line.cm-lifted": { borderLeft: "2px dotted var(--text-3)" },
  ".cm-line.cm-first": { background: "linear-gradient(var(--text-3), var(--text-3)) 0 0 / 6px 1px no-repeat" },
  ".cm-line.cm-part": { borderLeftStyle: "solid", borderLeftColor: "var(--accent)" },
  ".cm-line.cm-head": { backgroundColor: "var(--accent-soft)" },
});

export class Viewer {
  private readonly view: EditorView;

  constructor({ host, text, label, number, isPython, lifted, went }: Asked) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open", delegatesFocus: true });
    const marks = evaluated(EditorState.create({ doc: text }), lifted);
    const state = EditorState.create({
      doc: text,
      extensions: [
        EditorState.readOnly.of(true), EditorState.lineSeparator.of("\n"), lineNumbers({ formatNumber: number }), drawSelection(), highlightActiveLine(),
        search({ top: true }), theme, colours, part, EditorView.decorations.of(marks), isPython ? EditorView.decorations.of(coloured(tokens(text))) : ofYaml,
        EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", spellcheck: "false", tabindex: "0" }),
        keymap.of([...searchKeymap, ...keys]),
        EditorView.updateListener.of((update) => {
          if (update.selectionSet && !update.transactions.some((one) => one.annotation(shown) === true)) went(update.state.doc.lineAt(update.state.selection.main.head).number);
        }),
      ],
    });
    this.view = new EditorView({ state, parent: root, root });
  }

  /** Marks the lines of a block, and brings them into view. The cursor goes to their head, unless it is in it. */
  show(span: Span | null): void {
    const { state } = this.view;
    if (span === null) {
      this.view.dispatch({ effects: marked.of(null) });
      return;
    }
    const { from } = state.doc.line(span.head[0]);
    const here = state.doc.lineAt(state.selection.main.head).number;
    if (within(here, span.at) || (span.call !== null && within(here, span.call))) this.view.dispatch({ effects: marked.of(span) });
    else this.view.dispatch({ effects: [marked.of(span), EditorView.scrollIntoView(from, { y: "center" })], selection: { anchor: from }, annotations: shown.of(true) });
  }

  close(): void {
    this.view.destroy();
  }
}

function within(line: number, [first, last]: Lines): boolean {
  return line >= first && line <= last;
}
