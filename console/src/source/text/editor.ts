/**
 * CodeMirror for the text of a draft. It stands in a shadow tree: there its styles are style sheets of the page's own script, which
 * the content security policy allows, and not elements.
 */
import { history, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, Prec, StateEffect, StateField, Transaction, type ChangeSet, type Text } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, type DecorationSet } from "@codemirror/view";
import { brackets } from "./brackets.ts";
import { colours, foldable } from "./colours.ts";
import { folding } from "./folding.ts";
import { keys } from "./keymap.ts";
import { newline } from "./newline.ts";
import { theme } from "./theme.ts";

export interface Asked {
  readonly host: HTMLElement;
  readonly text: Text;
  readonly label: string;
  readonly canEdit: boolean;
  readonly typed: (changes: ChangeSet) => void;
  /** Undoes or redoes at the draft, where nothing is typed that the draft does not have. */
  readonly step: (by: "undo" | "redo") => void;
  readonly save: () => void;
  readonly focused: (there: boolean) => void;
}

const arrived = Annotation.define<boolean>();
const marked = StateEffect.define<number | null>();

/** The line with a fault. */
const faulty = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(held, transaction) {
    let made = held.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(marked)) continue;
      const line = effect.value === null || effect.value < 1 || effect.value > transaction.state.doc.lines ? null : transaction.state.doc.line(effect.value);
      made = line === null ? Decoration.none : Decoration.set([Decoration.line({ class: "cm-faulty" }).range(line.from)]);
    }
    return made;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function stepOf(event: KeyboardEvent): "undo" | "redo" | null {
  if ((!event.ctrlKey && !event.metaKey) || event.altKey) return null;
  const letter = event.key.toLowerCase();
  if (letter === "z") return event.shiftKey ? "redo" : "undo";
  return letter === "y" ? "redo" : null;
}

export class TextEditor {
  private readonly view: EditorView;
  private readonly writable = new Compartment();
  private readonly past = new Compartment();

  constructor(asked: Asked) {
    const root = asked.host.shadowRoot ?? asked.host.attachShadow({ mode: "open", delegatesFocus: true });
    const pressed = (event: KeyboardEvent, view: EditorView): boolean => {
      const by = stepOf(event);
      if (by === null) return false;
      event.preventDefault();
      const isTyped = (by === "undo" ? undoDepth : redoDepth)(view.state) > 0; // and the draft does not have it yet
      if (isTyped) (by === "undo" ? undo : redo)(view);
      else asked.step(by);
      return true;
    };
    const state = EditorState.create({
      doc: asked.text,
      extensions: [
        EditorState.lineSeparator.of("\n"), this.writable.of(EditorState.readOnly.of(!asked.canEdit)), this.past.of(history()),
        lineNumbers(), folding(foldable), drawSelection(), highlightActiveLine(), highlightActiveLineGutter(), brackets, highlightSelectionMatches(),
        search({ top: true }), colours, theme, faulty,
        EditorView.contentAttributes.of({ "aria-label": asked.label, tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
        Prec.highest(EditorView.domEventHandlers({ keydown: pressed })),
        keymap.of([
          { key: "Enter", run: newline, shift: newline },
          { key: "Mod-s", run: () => { asked.save(); return true; } },
          ...searchKeymap, ...keys,
        ]),
        EditorView.domEventHandlers({ focus: () => { asked.focused(true); }, blur: () => { asked.focused(false); } }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((one) => one.annotation(arrived) === true)) asked.typed(update.changes);
        }),
      ],
    });
    this.view = new EditorView({ state, parent: root, root });
  }

  /** Others changed the text: what the person sees and where they are stays. */
  arrive(changes: ChangeSet): void {
    const { scrollDOM } = this.view;
    const top = this.view.lineBlockAtHeight(scrollDOM.scrollTop);
    const offset = scrollDOM.scrollTop - top.top;
    const stays = changes.mapPos(top.from, -1);
    const moves = scrollDOM.scrollTop > 0;
    this.view.dispatch({ changes, annotations: [arrived.of(true), Transaction.addToHistory.of(false)] });
    if (moves) scrollDOM.scrollTop = this.view.lineBlockAt(Math.min(stays, this.view.state.doc.length)).top + offset;
  }

  /** What was typed is the draft's now: it is undone there. */
  forget(): void {
    if (undoDepth(this.view.state) + redoDepth(this.view.state) === 0) return;
    this.view.dispatch({ effects: this.past.reconfigure([]) });
    this.view.dispatch({ effects: this.past.reconfigure(history()) });
  }

  allow(canEdit: boolean): void {
    this.view.dispatch({ effects: this.writable.reconfigure(EditorState.readOnly.of(!canEdit)) });
  }

  mark(line: number | null): void {
    this.view.dispatch({ effects: marked.of(line) });
  }

  goTo(line: number, column: number | null): void {
    const { doc } = this.view.state;
    const found = doc.line(Math.max(1, Math.min(line, doc.lines)));
    const anchor = Math.min(found.from + Math.max(0, (column ?? 1) - 1), found.to);
    this.view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    this.view.focus();
  }

  focus(): void {
    this.view.focus();
  }

  close(): void {
    this.view.destroy();
  }
}
