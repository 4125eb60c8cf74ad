/**
 * An expression as it is typed: CodeMirror in a shadow tree, where its styles are sheets of the page's own script, with a list of what
 * could be meant below it.
 */
import { insertNewline } from "@codemirror/commands";
import { Annotation, Compartment, EditorState, Prec, RangeSetBuilder, type Range } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap, placeholder, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";
import { keys } from "../../source/text/keymap.ts";
import { middle } from "../../editing/values/differences.ts";
import { slicePoints, points } from "../../editing/values/values.ts";
import { Choices } from "./choices.ts";
import { completing, type Completion, type Option } from "./completing.ts";
import type { Scope } from "./scope.ts";
import { tokens } from "./tokens.ts";

export interface Line {
  readonly host: HTMLElement;
  readonly text: string;
  readonly label: string;
  readonly ghost: string;
  readonly isExpression: boolean;
  readonly canEdit: boolean;
  readonly isLong: boolean; // Enter begins a line
  readonly scope: () => Scope | null;
  readonly typed: (text: string) => void;
}

const arrived = Annotation.define<boolean>();

const theme = EditorView.theme({
  "&": { color: "var(--text)", fontSize: "var(--size-1)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "18px", maxHeight: "260px", overflow: "auto" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 8px" },
  ".cm-placeholder": { color: "var(--text-3)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 22%, transparent)" },
  ".x-reference": { color: "var(--accent)" },
  ".x-secret": { color: "var(--waiting)" },
  ".x-brace": { color: "var(--text-3)" },
  ".x-text": { color: "var(--code-text)" },
  ".x-number, .x-word": { color: "var(--code-number)" },
  ".x-call": { color: "var(--text)", fontWeight: "600" },
});

function colouring(isExpression: boolean): ViewPlugin<{ decorations: DecorationSet; update(update: ViewUpdate): void }> {
  const draw = (view: EditorView): DecorationSet => {
    const builder = new RangeSetBuilder<Decoration>();
    for (const { from, to, mark } of tokens(view.state.doc.toString(), isExpression)) {
      const range: Range<Decoration> = Decoration.mark({ class: `x-${mark}` }).range(from, to);
      builder.add(range.from, range.to, range.value);
    }
    return builder.finish();
  };
  return ViewPlugin.fromClass(class {
    decorations: DecorationSet;
    constructor(view: EditorView) { this.decorations = draw(view); }
    update(update: ViewUpdate): void { if (update.docChanged) this.decorations = draw(update.view); }
  }, { decorations: (plugin) => plugin.decorations });
}

export class ExpressionLine {
  private readonly view: EditorView;
  private readonly writable = new Compartment();
  private readonly choices: Choices;
  private offered: Completion | null = null;

  constructor(private readonly line: Line) {
    const root = line.host.shadowRoot ?? line.host.attachShadow({ mode: "open", delegatesFocus: true });
    const take = (): boolean => this.take();
    const move = (by: number) => (): boolean => this.choices.move(by);
    const state = EditorState.create({
      doc: line.text,
      extensions: [
        EditorState.lineSeparator.of("\n"), this.writable.of(EditorState.readOnly.of(!line.canEdit)), drawSelection(), EditorView.lineWrapping, theme, colouring(line.isExpression),
        line.ghost === "" ? [] : placeholder(line.ghost),
        EditorView.contentAttributes.of({
          "aria-label": line.label, "aria-autocomplete": "list", "aria-multiline": String(line.isLong), "aria-controls": "choices", spellcheck: "false", autocapitalize: "off",
        }),
        Prec.highest(keymap.of([
          { key: "ArrowDown", run: move(1) }, { key: "ArrowUp", run: move(-1) }, { key: "PageDown", run: move(8) }, { key: "PageUp", run: move(-8) },
          { key: "Enter", run: (view) => take() || !line.isLong || insertNewline(view) }, { key: "Tab", run: take },
          { key: "Ctrl-Space", run: () => { this.offer(true); return true; } }, { key: "Alt-Escape", run: () => { this.offer(true); return true; } },
        ])),
        Prec.highest(EditorView.domEventHandlers({
          keydown: (event) => {
            if (event.key !== "Escape" || !this.choices.isOpen) return false;
            event.stopPropagation();
            event.preventDefault();
            this.offer(null);
            return true;
          },
          blur: () => { this.offer(null); },
        })),
        keymap.of(keys),
        EditorView.updateListener.of((update) => { this.updated(update); }),
      ],
    });
    this.view = new EditorView({ state, parent: root, root });
    this.choices = new Choices(root, this.view.contentDOM, (option) => { this.insert(option); });
  }

  /** The text is this now, by this person or another: what differs is changed, and the caret stays. */
  arrive(text: string): void {
    const held = this.view.state.doc.toString();
    if (held === text) return;
    const [start, removed, fresh] = middle(held, text);
    const from = slicePoints(held, 0, start).length;
    const to = from + slicePoints(held, start, start + removed).length;
    this.view.dispatch({ changes: { from, to, insert: fresh }, annotations: arrived.of(true) });
  }

  /** The scope is known now: what was asked for is offered. */
  known(): void {
    if (this.view.hasFocus) this.offer(false);
  }

  allow(canEdit: boolean): void {
    this.view.dispatch({ effects: this.writable.reconfigure(EditorState.readOnly.of(!canEdit)) });
  }

  focus(atEnd = false): void {
    this.view.focus();
    if (atEnd) this.view.dispatch({ selection: { anchor: this.view.state.doc.length } });
  }

  /** Selects what is wrong; `offset` and `length` count code points. */
  show(offset: number, length: number): void {
    const text = this.view.state.doc.toString();
    const anchor = slicePoints(text, 0, offset).length;
    const head = anchor + slicePoints(text, offset, Math.min(offset + length, points(text))).length;
    this.view.dispatch({ selection: { anchor, head }, scrollIntoView: true });
    this.view.focus();
  }

  close(): void {
    this.choices.close();
    this.view.destroy();
  }

  private updated(update: ViewUpdate): void {
    const own = !update.transactions.some((one) => one.annotation(arrived) === true);
    if (update.docChanged && own) this.line.typed(update.state.doc.toString());
    if (update.docChanged && own) this.offer(false);
    else if (update.selectionSet && this.offered !== null) this.offer(false);
  }

  /** Offers what could be meant here; `asked`: also at an empty beginning; null: nothing. */
  private offer(asked: boolean | null): void {
    const { state } = this.view;
    const scope = this.line.scope();
    const { head, empty } = state.selection.main;
    const found = asked === null || scope === null || !empty || state.readOnly ? null : completing(state.doc.toString(), head, scope, this.line.isExpression, asked);
    const whole = found !== null && found.options.length === 1 && !asked && state.sliceDoc(found.from, found.to) === found.options[0]?.label;
    this.offered = whole ? null : found;
    this.choices.show(this.offered?.options ?? []);
  }

  private take(): boolean {
    const option = this.choices.chosen;
    if (option === null) return false;
    this.insert(option);
    return true;
  }

  private insert(option: Option): void {
    if (this.offered === null) return;
    const { from, to } = this.offered;
    this.view.dispatch({ changes: { from, to, insert: option.insert }, selection: { anchor: from + option.insert.length - option.back }, userEvent: "input.complete" });
    this.view.focus();
    if (!option.goesOn) this.offer(null);
  }
}
