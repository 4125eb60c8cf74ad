/** The source that a document was compiled from, and which of its lines became which node. */
import { isList, isObject, textAt, type Json, type JsonObject } from "../editing/values.ts";

/** `source` is empty where the document does not hold it. */
export interface Made {
  readonly language: string;
  readonly file: string;
  readonly name: string;
  readonly source: string;
}

/** Lines of the file, from 1: the first and the last one. */
export type Lines = readonly [first: number, last: number];

/** Where a node comes from. `head`: the lines of a compound statement above its body, or all lines of another. */
export interface Span {
  readonly tail: string;
  readonly at: Lines;
  readonly head: Lines;
  readonly quiet: boolean;
}

/** `made_by` of a document or of a draft; null where there is none. */
export function madeRead(value: Json | undefined): Made | null {
  if (!isObject(value) || textAt(value, "language") === "") return null;
  return { language: textAt(value, "language"), file: textAt(value, "file"), name: textAt(value, "function"), source: textAt(value, "source") };
}

/** A person's name for it: `refund.py`, else the function, else the language. */
export function titleOf(made: Made): string {
  return made.file || made.name || made.language;
}

export function linesRead(node: JsonObject): Lines | null {
  const at = node.get("at");
  if (!isList(at)) return null;
  const [first, last] = at;
  return typeof first === "number" && typeof last === "number" && first >= 1 && last >= first ? [first, last] : null;
}

/** What a span is made from; `entry`: a run may start there, so the lines are those of the whole function. */
export interface Node {
  readonly tail: string;
  readonly type: string;
  readonly entry: boolean;
  readonly at: Lines | null;
}

/** Nodes that a statement needs beside the one that it is about. */
const QUIET: ReadonlySet<string> = new Set(["set", "transform", "end", "condition", "fail"]);

export class Source {
  /** The line of the file at which the text begins: with the first decorator, while an entry names the line of the `def`. */
  readonly first: number;
  readonly count: number;
  private readonly spans = new Map<string, Span>();

  constructor(readonly made: Made, nodes: Iterable<Node>) {
    const placed = [...nodes].flatMap((node) => node.at === null ? [] : [{ ...node, at: node.at }]);
    const entries = placed.filter((node) => node.entry).map((node) => node.at[0]);
    const lines = made.source.split("\n");
    this.first = entries.length === 0 ? 1 : Math.min(...entries) - defLine(lines, made.name);
    this.count = made.source.endsWith("\n") ? lines.length - 1 : lines.length;
    const starts = [...new Set(placed.filter((node) => !node.entry).map((node) => node.at[0]))].sort((left, right) => left - right);
    for (const { tail, type, entry, at: [first, last] } of placed) {
      const inner = starts.find((line) => line > first && line <= last);
      this.spans.set(tail, { tail, at: [first, last], head: [first, inner === undefined ? last : inner - 1], quiet: entry || QUIET.has(type) });
    }
  }

  /** Where a node comes from, in lines of the text from 1; null where the text does not have them. */
  of(tail: string): Span | null {
    const span = this.spans.get(tail);
    if (span === undefined) return null;
    const moved = ([first, last]: Lines): Lines => [first - this.first + 1, last - this.first + 1];
    const at = moved(span.at);
    return at[0] < 1 || at[1] > this.count ? null : { ...span, at, head: moved(span.head) };
  }

  /** The lines of the file that a node comes from, also where the text does not have them. */
  place(tail: string): Lines | null {
    return this.spans.get(tail)?.at ?? null;
  }

  /**
   * The node of a line of the text: of the shortest statement around it, the one that the statement is about. `held` is the one that is
   * chosen already: it stays where another one has the same lines.
   */
  at(line: number, held: string | null): string | null {
    const inFile = line + this.first - 1;
    let found: Span[] = [];
    for (const span of this.spans.values()) {
      if (inFile < span.at[0] || inFile > span.at[1]) continue;
      const [best] = found;
      if (best === undefined || lengthOf(span) < lengthOf(best)) found = [span];
      else if (lengthOf(span) === lengthOf(best)) found.push(span);
    }
    if (held !== null && found.some((span) => span.tail === held)) return held;
    return (found.find((span) => !span.quiet) ?? found[0])?.tail ?? null;
  }
}

function lengthOf({ at: [first, last] }: Span): number {
  return last - first;
}

/** How many lines of the text stand above the `def`. */
function defLine(lines: readonly string[], name: string): number {
  const named = lines.findIndex((line) => line.startsWith(`async def ${name}`) || line.startsWith(`def ${name}`));
  return named >= 0 ? named : Math.max(0, lines.findIndex((line) => /^(?:async )?def /.test(line)));
}
