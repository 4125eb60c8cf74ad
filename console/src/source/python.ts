/** Which letters of a Python source have which colour. It is read once, from its beginning; what is not known has no colour. */

export type Tone = "comment" | "string" | "number" | "keyword" | "constant" | "decorator" | "name";

/** Offsets are UTF-16. In the order of the text; two never overlap. */
export interface Token {
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
}

const KEYWORDS: ReadonlySet<string> = new Set([
  "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
  "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
]);
const CONSTANTS: ReadonlySet<string> = new Set(["True", "False", "None"]);
const NAMING: ReadonlySet<string> = new Set(["def", "class"]);

// A text goes to its quotes, or one in single quotes to the end of its line; a backslash takes the next letter with it.
const LONG = /(?:[rbfuRBFU]{0,2})(?:"""(?:\\[^]|[^\\])*?(?:"""|$(?![^]))|'''(?:\\[^]|[^\\])*?(?:'''|$(?![^])))/y;
const SHORT = /(?:[rbfuRBFU]{0,2})(?:"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)/y;
const COMMENT = /#[^\n]*/y;
const NUMBER = /(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?)/y;
const WORD = /[\p{L}_][\p{L}\p{N}_]*/uy;
const DECORATOR = /@[\p{L}_][\p{L}\p{N}_.]*/uy;

export function tokens(source: string): Token[] {
  const found: Token[] = [];
  let isNaming = false; // the next word is the name of a function or class
  let isFresh = true; // nothing but blanks since the line began
  for (let place = 0; place < source.length;) {
    const [tone, end] = tokenAt(source, place, isNaming, isFresh);
    const letter = source.charAt(place);
    if (tone !== null) found.push({ from: place, to: end, tone });
    isFresh = letter === "\n" || (isFresh && (letter === " " || letter === "\t"));
    if (letter.trim() !== "") isNaming = tone === "keyword" && NAMING.has(source.slice(place, end));
    place = end;
  }
  return found;
}

function tokenAt(source: string, place: number, isNaming: boolean, isFresh: boolean): readonly [Tone | null, number] {
  const ends = (pattern: RegExp): number | null => {
    pattern.lastIndex = place;
    return pattern.test(source) ? pattern.lastIndex : null;
  };
  const comment = ends(COMMENT);
  if (comment !== null) return ["comment", comment];
  const text = ends(LONG) ?? ends(SHORT);
  if (text !== null) return ["string", text];
  const word = ends(WORD);
  if (word !== null) return [toneOf(source.slice(place, word), isNaming), word];
  const decorator = isFresh ? ends(DECORATOR) : null;
  if (decorator !== null) return ["decorator", decorator];
  if (/[\d.]/.test(source.charAt(place))) {
    const number = ends(NUMBER);
    if (number !== null) return ["number", number];
  }
  return [null, place + 1];
}

function toneOf(word: string, isNaming: boolean): Tone | null {
  if (isNaming) return "name";
  return KEYWORDS.has(word) ? "keyword" : CONSTANTS.has(word) ? "constant" : null;
}
