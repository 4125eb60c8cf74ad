/**
 * The colours of YAML and JSON, and what of it folds: by lines, without a parser of the language, which would be as large as the rest
 * of the pane. Only what is in sight is looked at, and some lines above it.
 */
import { RangeSetBuilder, type EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";

export type Mark = "key" | "comment" | "value" | "sign";

export interface Token {
  readonly from: number;
  readonly to: number;
  readonly mark: Mark;
}

const LOOKED_ABOVE = 400; // lines in which a text of several lines may have begun
const MOST_FOLDED = 4_000; // lines
const COMMENT = /(?:^|\s)#.*$/;
const KEY = /^(\s*(?:- +)*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'"{}[\],&*!|>%@`-][^#]*?|-[^\s#][^#]*?)\s*(:)(?=\s|$)/;
const DASHES = /^\s*(?:-(?=\s|$)\s*)+/;
const VALUE = /^\s*(?:true|false|null|~|-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$/;
const BLOCK = /(?:^|\s)[|>][+-]?\d?$/;
const INLINE = /"(?:[^"\\]|\\.)*"|'[^']*'|[{}[\],:]|(?<![\w.-])(?:true|false|null|-?\d+(?:\.\d+)?)(?=\s*[,}\]]|$)|[A-Za-z_][\w-]*(?=\s*:)/g;

/** The tokens of one line, and the indent of the text of several lines that begins with it; null where none does. */
export function tokensOf(line: string): { readonly tokens: readonly Token[]; readonly block: number | null } {
  const tokens: Token[] = [];
  const add = (from: number, to: number, mark: Mark): void => { if (to > from) tokens.push({ from, to, mark }); };
  const comment = COMMENT.exec(line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, (text) => "_".repeat(text.length)));
  const said = comment === null ? line : line.slice(0, comment.index);
  const dashes = DASHES.exec(said)?.[0] ?? "";
  if (dashes.trim() !== "") add(dashes.indexOf("-"), dashes.trimEnd().length, "sign");
  const key = KEY.exec(said);
  let at = dashes.length;
  if (key !== null) {
    const [whole, before = "", name = ""] = key;
    add(before.length, before.length + name.length, "key");
    add(whole.length - 1, whole.length, "sign");
    at = whole.length;
  }
  const rest = said.slice(at);
  if (VALUE.test(rest)) add(at + rest.length - rest.trimStart().length, at + rest.trimEnd().length, "value");
  else if (/^\s*[{[\]}"]/.test(rest)) inline(rest, at, add);
  if (comment !== null) add(line.indexOf("#", comment.index), line.length, "comment");
  return { tokens, block: BLOCK.test(said.trimEnd()) ? (key?.[1] ?? dashes).length : null };
}

function inline(rest: string, at: number, add: (from: number, to: number, mark: Mark) => void): void {
  for (const found of rest.matchAll(INLINE)) {
    const [text] = found;
    const from = at + found.index;
    const isKey = /^\s*:/.test(rest.slice(found.index + text.length));
    if (/^[{}[\],:]$/.test(text)) add(from, from + 1, "sign");
    else if (isKey) add(from, from + text.length, "key");
    else if (!/^["']/.test(text)) add(from, from + text.length, "value");
  }
}

export function indentOf(line: string): number {
  return line.trim() === "" ? -1 : line.length - line.trimStart().length;
}

/** Whether a line goes on with the text that began with this indent: it is deeper, or empty. */
function goesOn(line: string, block: number): boolean {
  const indent = indentOf(line);
  return indent < 0 || indent > block || (indent === block && block === 0 && line.startsWith(" "));
}

/** Calls `each` for the lines from `first` to `last` that are not inside a text of several lines. */
export function scanned(line: (number: number) => string, first: number, last: number, each: (number: number, tokens: readonly Token[]) => void): void {
  let block: number | null = null;
  for (let number = Math.max(1, first - LOOKED_ABOVE); number <= last; number += 1) {
    const text = line(number);
    if (block !== null && goesOn(text, block)) continue;
    const found = tokensOf(text);
    block = found.block;
    if (number >= first) each(number, found.tokens);
  }
}

const MARKS = new Map((["key", "comment", "value", "sign"] as const).map((mark) => [mark, Decoration.mark({ class: `y-${mark}` })]));

function drawn(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const { doc } = view.state;
  for (const { from, to } of view.visibleRanges) {
    scanned((number) => doc.line(number).text, doc.lineAt(from).number, doc.lineAt(to).number, (number, tokens) => {
      const start = doc.line(number).from;
      for (const token of [...tokens].sort((left, right) => left.from - right.from)) {
        const mark = MARKS.get(token.mark);
        if (mark !== undefined) builder.add(start + token.from, start + token.to, mark);
      }
    });
  }
  return builder.finish();
}

const colouring = ViewPlugin.fromClass(class {
  decorations: DecorationSet;
  constructor(view: EditorView) { this.decorations = drawn(view); }
  update(update: ViewUpdate): void { if (update.docChanged || update.viewportChanged) this.decorations = drawn(update.view); }
}, { decorations: (plugin) => plugin.decorations });

/** What folds behind a line: the deeper lines after it. */
export function foldable(state: EditorState, from: number): { from: number; to: number } | null {
  const { doc } = state;
  const line = doc.lineAt(from);
  const indent = indentOf(line.text);
  if (indent < 0) return null;
  let end = line.to;
  for (let number = line.number + 1; number <= Math.min(doc.lines, line.number + MOST_FOLDED); number += 1) {
    const next = doc.line(number);
    const deeper = indentOf(next.text);
    if (deeper >= 0 && deeper <= indent) break;
    if (deeper > indent) end = next.to;
  }
  return end > line.to ? { from: line.to, to: end } : null;
}

const theme = EditorView.theme({
  ".y-key": { color: "var(--code-text)" },
  ".y-comment": { color: "var(--text-3)", fontStyle: "italic" },
  ".y-value": { color: "var(--code-number)" },
  ".y-sign": { color: "var(--text-3)" },
});

export const colours: Extension = [colouring, theme];
