/**
 * Values as YAML text and back. In a chunk of its own: the library is loaded when a node is opened, copied or pasted.
 */
import {
  COLLECTION_STYLE, CORE_SCHEMA, EVENT_ID, eventsToAst, parseEvents, present, SCALAR_STYLE, YAMLException, type MappingNode, type Node, type ScalarNode, type SequenceNode,
} from "js-yaml";
import { hasLoneSurrogate } from "../editing/values/values.ts";
import { Digits, isMapping, isSequence, type Value } from "../editing/values/encoding.ts";

const MAX_NODES = 200_000; // aliases may multiply
const MAX_DEPTH = 200;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const TAG = "tag:yaml.org,2002:";

/** Why a text is no YAML, and the line, from 1. */
export class Unreadable extends Error {
  constructor(message: string, readonly line: number | null) {
    super(message);
  }
}

/** The value of a text; an empty one is null. Throws `Unreadable`. */
export function read(text: string): Value {
  try {
    return new Reading().document(text);
  } catch (error) {
    if (error instanceof YAMLException) throw new Unreadable(error.reason, error.mark === undefined ? null : error.mark.line + 1);
    throw error;
  }
}

class Reading {
  private left = MAX_NODES;
  private readonly anchors = new Map<string, Node>();
  private readonly lines = new Map<Node, () => number>();

  document(text: string): Value {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    const documents = eventsToAst(events, { source: text, schema: CORE_SCHEMA });
    if (documents.length > 1) throw new Unreadable("the text has several documents", null);
    const contents = documents[0]?.contents ?? null;
    if (contents === null) return null;
    const starts = events.flatMap((event) => (event.type === EVENT_ID.SCALAR ? [event.valueStart] : []));
    let place = 0;
    for (const one of scalars(contents)) {
      this.lines.set(one, lineAt(text, starts[place] ?? 0));
      place += 1;
    }
    return this.value(contents);
  }

  private value(node: Node): Value {
    this.left -= 1;
    if (this.left < 0) throw new Unreadable("the text has too many values", null);
    if (node.kind === "alias") return this.alias(node.anchor);
    let made: Value;
    if (node.kind === "scalar") made = this.scalar(node);
    else if (node.kind === "sequence") made = node.items.map((item) => this.value(item));
    else made = this.mapping(node);
    if (node.anchor !== undefined) this.anchors.set(node.anchor, node); // now: a value that holds itself is none
    return made;
  }

  private scalar(node: ScalarNode): Value {
    this.whole(node);
    return scalar(node);
  }

  /** An escape may write half of a character, which no draft keeps. */
  private whole(node: ScalarNode): void {
    if (hasLoneSurrogate(node.value)) throw new Unreadable("a text has half of a character: \\ud800 to \\udfff stand in pairs", this.lines.get(node)?.() ?? null);
  }

  private alias(anchor: string): Value {
    const node = this.anchors.get(anchor);
    if (node === undefined) throw new Unreadable(`the anchor ${anchor} is not known here`, null);
    return this.value(node);
  }

  private mapping(node: MappingNode): Value {
    const made = new Map<string, Value>();
    for (const { key, value } of node.items) {
      const name = this.name(key);
      if (made.has(name)) throw new Unreadable(`the key ${name} is there twice`, this.lines.get(key)?.() ?? null);
      made.set(name, this.value(value));
    }
    return made;
  }

  private name(key: Node): string {
    const node = key.kind === "alias" ? this.anchors.get(key.anchor) : key;
    if (node?.kind !== "scalar") throw new Unreadable("a key is a text", null);
    if (node.anchor !== undefined) this.anchors.set(node.anchor, node);
    this.whole(node);
    return node.value;
  }
}

/** In the order of the text, which is that of the library's events. */
function* scalars(node: Node): Generator<ScalarNode> {
  if (node.kind === "scalar") yield node;
  else if (node.kind === "sequence") for (const item of node.items) yield* scalars(item);
  else if (node.kind === "mapping") {
    for (const { key, value } of node.items) {
      yield* scalars(key);
      yield* scalars(value);
    }
  }
}

function lineAt(text: string, start: number): () => number {
  return () => text.slice(0, start).split("\n").length;
}

function scalar({ tag, value }: ScalarNode): Value {
  switch (tag) {
    case `${TAG}null`:
      return null;
    case `${TAG}bool`:
      return value.toLowerCase() === "true";
    case `${TAG}int`:
    case `${TAG}float`:
      return numeric(value);
    default:
      return value;
  }
}

/** What no JSON has, like `.inf`, stays text. */
function numeric(written: string): Value {
  if (NUMBER.test(written)) return String(Number(written)) === written ? Number(written) : new Digits(written);
  const value = Number(written);
  return written !== "" && Number.isFinite(value) ? value : written;
}

/** Block style, keys in their order, long texts in one line, texts of several lines as such. */
export function print(value: Value): string {
  if (isMapping(value) && value.size === 0) return "";
  return present([{ contents: node(value), directives: [] }], { schema: CORE_SCHEMA, lineWidth: -1, quoteStyle: "double" });
}

function node(value: Value): Node {
  if (value instanceof Digits) return numeral(value.text);
  if (isMapping(value)) {
    const items = [...value].map(([key, held]) => ({ key: textual(key), value: node(held) }));
    return { kind: "mapping", ...untagged("map"), style: items.length === 0 ? COLLECTION_STYLE.FLOW : COLLECTION_STYLE.BLOCK, items } satisfies MappingNode;
  }
  if (isSequence(value)) {
    const isShort = value.every((one) => typeof one !== "object" && String(one).length < 24) && value.length < 8;
    return { kind: "sequence", ...untagged("seq"), style: isShort ? COLLECTION_STYLE.FLOW : COLLECTION_STYLE.BLOCK, items: value.map(node) } satisfies SequenceNode;
  }
  if (typeof value === "string") return textual(value);
  if (typeof value === "number") return numeral(String(value));
  return plain(value === null ? "null" : "bool", String(value));
}

function numeral(digits: string): ScalarNode {
  return plain(/^-?\d+$/.test(digits) ? "int" : "float", digits);
}

/** Plain texts that a reader of YAML 1.1 takes for something else. The library quotes those that one of YAML 1.2 does. */
const AMBIGUOUS = /^(?:yes|no|on|off|=|<<|[-+]?\d[\d_:.]*|\d{4}-\d\d?-\d\d?.*)$/i;

function textual(text: string): ScalarNode {
  const made = plain("str", text);
  return AMBIGUOUS.test(text) ? { ...made, style: SCALAR_STYLE.DOUBLE_QUOTED } : made;
}

function plain(kind: string, value: string): ScalarNode {
  return { kind: "scalar", ...untagged(kind), style: SCALAR_STYLE.PLAIN, value };
}

function untagged(kind: string): { readonly tag: string; readonly tagged: false } {
  return { tag: `${TAG}${kind}`, tagged: false };
}
