/**
 * Values as YAML text and back. In a chunk of its own: the library is loaded when a node is opened, copied or pasted.
 */
import { Document, isAlias, isMap, isScalar, isSeq, parseDocument, Scalar, YAMLMap, YAMLSeq, type Node, type Pair } from "yaml";
import { Digits, isMapping, isSequence, type Value } from "./values.ts";

const MAX_NODES = 200_000; // aliases may multiply
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Why a text is no YAML, and the line, from 1. */
export class Unreadable extends Error {
  constructor(message: string, readonly line: number | null) {
    super(message);
  }
}

/** The value of a text; an empty one is null. Throws `Unreadable`. */
export function read(text: string): Value {
  const document = parseDocument(text, { uniqueKeys: true, keepSourceTokens: false });
  const [error] = document.errors;
  if (error !== undefined) throw new Unreadable(error.message.split("\n")[0] ?? "", error.linePos?.[0].line ?? null);
  let left = MAX_NODES;
  const value = (node: unknown): Value => {
    left -= 1;
    if (left < 0) throw new Unreadable("the text has too many values", null);
    if (isAlias(node)) return value(node.resolve(document));
    if (isMap(node)) return new Map(node.items.map((pair: Pair) => [name(pair.key), value(pair.value)]));
    if (isSeq(node)) return node.items.map(value);
    return isScalar(node) ? scalar(node) : null;
  };
  return value(document.contents);
}

function name(key: unknown): string {
  if (!isScalar(key)) throw new Unreadable("a key is a text", null);
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function scalar(node: Scalar): Value {
  const { value, source } = node;
  if (typeof value === "number" || typeof value === "bigint") {
    const written = source ?? String(value);
    if (NUMBER.test(written)) return String(Number(written)) === written ? Number(written) : new Digits(written);
    return Number.isFinite(Number(value)) ? Number(value) : written;
  }
  if (typeof value === "boolean" || typeof value === "string") return value;
  return value === null || value === undefined ? null : (source ?? "");
}

/** Block style, keys in their order, long texts in one line, texts of several lines as such. */
export function print(value: Value): string {
  if (isMapping(value) && value.size === 0) return "";
  const document = new Document();
  document.contents = node(value);
  return document.toString({ lineWidth: 0, indent: 2, flowCollectionPadding: false });
}

function node(value: Value): Node {
  if (value instanceof Digits) return numbered(value.text);
  if (isMapping(value)) {
    const made = new YAMLMap();
    for (const [key, held] of value) made.add({ key: textual(key), value: node(held) });
    made.flow = made.items.length === 0;
    return made;
  }
  if (isSequence(value)) {
    const made = new YAMLSeq();
    for (const held of value) made.add(node(held));
    made.flow = value.every((one) => typeof one !== "object" && String(one).length < 24) && value.length < 8;
    return made;
  }
  return typeof value === "string" ? textual(value) : new Scalar(value);
}

/** Plain texts that a reader of YAML 1.1 takes for something else. */
const AMBIGUOUS = /^(?:yes|no|on|off|=|<<|[-+]?\d[\d_:.]*|\d{4}-\d\d?-\d\d?.*)$/i;

function textual(text: string): Scalar {
  const made = new Scalar(text);
  if (AMBIGUOUS.test(text)) made.type = Scalar.QUOTE_DOUBLE;
  return made;
}

function numbered(digits: string): Scalar {
  if (/^-?\d+$/.test(digits)) return new Scalar(BigInt(digits));
  const made = new Scalar(Number(digits));
  if (/e/i.test(digits)) made.format = "EXP";
  else made.minFractionDigits = digits.length - digits.indexOf(".") - 1;
  return made;
}
