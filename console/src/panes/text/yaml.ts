/** Which letters of a YAML or JSON text have which colour, and which lines fold. Texts have the colour of the text itself. */

export type Tone = "key" | "comment" | "number" | "mark";

/** Offsets are UTF-16. In the order of the text; two never overlap. */
export interface Token {
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
}

const BLANKS = /[ \t]+/y;
const COMMENT = /#.*/y;
const QUOTED = /"(?:\\.|[^"\\])*"?|'(?:''|[^'])*'?/y;
const MARK = /(?:[-?:](?=\s|$)|[[\]{},]|[&*!][^\s,[\]{}]*|[|>][-+\d]*(?=\s*(?:#.*)?$)|---$|\.\.\.$)/y;
const COLON = /[ \t]*:(?=[\s,[\]{}]|$)/y;
const PLAIN = /[^\s#,[\]{}](?:[^#:,[\]{}]|:(?!\s|$)|(?<!\s)#)*/y;
const IN_BLOCK = /[^\s#](?:[^#:]|:(?!\s|$)|(?<!\s)#)*/y;
const LITERAL = /^(?:[-+]?(?:\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|0x[\da-fA-F]+|\.inf)|true|false|null|~)$/;
const BLOCK = /(?:^|[\s:-])[|>][-+\d]*[ \t]*(?:#.*)?$/;

export function tokens(text: string): Token[] {
  const reader = new Reader();
  for (const line of text.split("\n")) reader.read(line);
  return reader.found;
}

class Reader {
  readonly found: Token[] = [];
  private start = 0; // of the line in the text
  private line = "";
  private place = 0;
  private block = -1; // the indent of the line that began a block of text
  private depth = 0; // of brackets
  private quote = ""; // one that an earlier line opened
  private isKey = true; // a key may stand here

  read(line: string): void {
    this.line = line;
    const indent = line.length - line.trimStart().length;
    if (this.block < 0 || (line.trim() !== "" && indent <= this.block)) {
      this.block = -1;
      this.place = this.quote === "" ? 0 : this.closing();
      this.isKey = true;
      while (this.place < line.length) this.place = this.next();
      if (this.depth === 0 && this.quote === "" && BLOCK.test(line)) this.block = indent;
    }
    this.start += line.length + 1;
  }

  /** Reads what stands here; where it ends. */
  private next(): number {
    const { line, place } = this;
    const blanks = this.ends(BLANKS);
    if (blanks !== null) return blanks;
    const comment = place === 0 || /\s/.test(line.charAt(place - 1)) ? this.ends(COMMENT) : null;
    if (comment !== null) return this.put(comment, "comment");
    const quoted = this.ends(QUOTED);
    if (quoted !== null) return this.quoted(quoted);
    const mark = this.ends(MARK);
    return mark === null ? this.plain() : this.mark(mark);
  }

  private quoted(end: number): number {
    const letter = this.line.charAt(this.place);
    const isOpen = end === this.line.length && (end - this.place === 1 || this.line.charAt(end - 1) !== letter);
    if (isOpen) this.quote = letter;
    else if (this.ends(COLON, end) !== null) this.put(end, "key");
    return end;
  }

  private mark(end: number): number {
    const letter = this.line.charAt(this.place);
    if (letter === "[" || letter === "{") this.depth += 1;
    else if (letter === "]" || letter === "}") this.depth = Math.max(0, this.depth - 1);
    this.isKey = this.depth > 0 ? letter !== ":" : letter === "-" || letter === "?";
    return this.put(end, "mark");
  }

  private plain(): number {
    const reach = this.ends(this.depth > 0 ? PLAIN : IN_BLOCK) ?? this.place + 1;
    const word = this.line.slice(this.place, reach).trimEnd();
    const end = this.place + Math.max(word.length, 1);
    if (this.isKey && this.ends(COLON, end) !== null) this.put(end, "key");
    else if (LITERAL.test(word)) this.put(end, "number");
    this.isKey = false;
    return end;
  }

  /** Where the text goes on behind a quote that an earlier line opened. */
  private closing(): number {
    for (let place = 0; place < this.line.length; place += 1) {
      if (this.quote === '"' && this.line.charAt(place) === "\\") place += 1;
      else if (this.line.charAt(place) === this.quote) {
        this.quote = "";
        return place + 1;
      }
    }
    return this.line.length;
  }

  private ends(pattern: RegExp, from = this.place): number | null {
    pattern.lastIndex = from;
    return pattern.test(this.line) ? pattern.lastIndex : null;
  }

  private put(end: number, tone: Tone): number {
    this.found.push({ from: this.start + this.place, to: this.start + end, tone });
    return end;
  }
}

/** How deep a line stands; null for one that is blank. A list may stand as deep as its key. */
function depthOf(line: string): number | null {
  const bare = line.trimStart();
  return bare === "" ? null : line.length - bare.length + (/^-(?:\s|$)/.test(bare) ? 0.5 : 0);
}

/** The last line of what folds under a line; the line itself where nothing does. `lineAt` gives the lines from 1 up to `count`. */
export function foldsTo(number: number, count: number, lineAt: (number: number) => string): number {
  const depth = depthOf(lineAt(number));
  let last = number;
  if (depth === null) return last;
  for (let next = number + 1; next <= count; next += 1) {
    const deeper = depthOf(lineAt(next));
    if (deeper === null) continue;
    if (deeper <= depth) break;
    last = next;
  }
  return last;
}
