/** The source that a document was compiled from, and which of its lines became which node. */
import { isList, isObject, textAt, type Json, type JsonObject } from "../editing/values/values.ts";

/** `source` is empty where the document does not hold it. */
export interface Made {
  readonly language: string;
  readonly file: string;
  readonly name: string;
  readonly source: string;
  readonly parts: readonly PartText[];
}

/** A function that was written into the document where the source awaits it. */
export interface PartText {
  readonly file: string;
  readonly name: string;
  /** The line of the file at which the text begins. */
  readonly first: number;
  readonly source: string;
  /** The lines of nodes by id, of a part in another file; in the file of the source, the nodes have their lines themselves. */
  readonly nodes: ReadonlyMap<string, Lines>;
}

/** Lines of the file, from 1: the first and the last one. */
export type Lines = readonly [first: number, last: number];

/**
 * Where a node comes from, in lines of the text from 1. `head`: the lines of a compound statement above its body, or all lines of another.
 * `call`: where the part is awaited from which the node comes, if that is in another file.
 */
export interface Span {
  readonly tail: string;
  readonly at: Lines;
  readonly head: Lines;
  readonly call: Lines | null;
  readonly quiet: boolean;
}

/** `made_by` of a document or of a draft; null where there is none. */
export function madeRead(value: Json | undefined): Made | null {
  if (!isObject(value) || textAt(value, "language") === "") return null;
  const parts = value.get("parts");
  return {
    language: textAt(value, "language"), file: textAt(value, "file"), name: textAt(value, "function"), source: textAt(value, "source"),
    parts: isList(parts) ? parts.flatMap((part) => isObject(part) ? [partRead(part)] : []) : [],
  };
}

function partRead(part: JsonObject): PartText {
  const [first, nodes] = [part.get("first"), part.get("nodes")];
  const lines = isObject(nodes) ? [...nodes].flatMap(([id, at]): [string, Lines][] => { const read = pairRead(at); return read === null ? [] : [[id, read]]; }) : [];
  return { file: textAt(part, "file"), name: textAt(part, "function"), first: typeof first === "number" ? first : 1, source: textAt(part, "source"), nodes: new Map(lines) };
}

/** Whether two texts of the same source are shown alike. */
export function isSameMade(left: Made, right: Made): boolean {
  const plain = (made: Made): string => JSON.stringify({ ...made, parts: made.parts.map((part) => ({ ...part, nodes: [...part.nodes] })) });
  return plain(left) === plain(right);
}

/** A person's name for it: `refund.py`, else the function, else the language. */
export function titleOf(made: Made): string {
  return made.file || made.name || made.language;
}

export function linesRead(node: JsonObject): Lines | null {
  return pairRead(node.get("at"));
}

function pairRead(at: Json | undefined): Lines | null {
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
  readonly lifted?: Lifted;
}

/** What Python evaluates in a node, because a document cannot say it: statements, an expression of a statement, or nothing. */
export type Lifted = "block" | "expression" | null;

const LIFTED = /\.(block|eval)_.*_[0-9a-f]{8}$/;

export function liftedRead(node: JsonObject): Lifted {
  const given = node.get("with");
  const found = isObject(given) ? LIFTED.exec(textAt(given, "call")) : null;
  return found?.[1] === "block" ? "block" : found !== null || textAt(node, "type") === "code" ? "expression" : null;
}

/** How many lines of the text stand above the `def`. */
export function defLine(lines: readonly string[], name: string): number {
  const named = lines.findIndex((line) => line.startsWith(`async def ${name}`) || line.startsWith(`def ${name}`));
  return named >= 0 ? named : Math.max(0, lines.findIndex((line) => /^(?:async )?def /.test(line)));
}
