/** The expressions in the parameters of a node, as they are written, next to what a call has at their places. */
import { writeDigits } from "../../../editing/values/json.ts";
import { isList, isObject, textAt, type Json, type JsonObject } from "../../../editing/values/values.ts";

const WRITTEN = /\{\{|<[A-Za-z_][^<>\s]*>|\$\{/;

/** `value` is undefined where the expression was not evaluated. */
export interface Told {
  readonly place: string;
  readonly written: string;
  readonly value: Json | undefined;
}

/** What the parameters of a node are in the document, by the path of the node: `x@l` is `x` in the container `l`. */
export function writtenIn(document: JsonObject, path: string): JsonObject | null {
  let body: Json | undefined = document;
  let given: Json | undefined;
  for (const id of path.split("@").reverse()) {
    const nodes: Json | undefined = isObject(body) ? body.get("nodes") : undefined;
    const node: Json | undefined = isObject(nodes) ? nodes.get(id) : undefined;
    given = isObject(node) ? node.get("with") : undefined;
    body = isObject(given) ? given.get("body") : undefined;
  }
  return isObject(given) ? given : null;
}

/** Every text that has a reference or an expression, and every case, with what the call has at its place. Pure. */
export function toldOf(written: JsonObject, call: JsonObject): readonly Told[] {
  const found: Told[] = [];
  const walk = (value: Json, got: Json | undefined, place: string, isCase: boolean): void => {
    if (typeof value === "string" && (isCase || WRITTEN.test(value))) found.push({ place, written: value, value: got });
    else if (isObject(value)) for (const [key, one] of value) walk(one, isObject(got) ? got.get(key) : undefined, place === "" ? key : `${place}.${key}`, place === "cases");
    else if (isList(value)) value.forEach((one, at) => { walk(one, isList(got) ? got[at] : undefined, `${place}[${at}]`, false); });
  };
  for (const [key, value] of written) if (key !== "body" && call.has(key)) walk(value, call.get(key), key, key === "while" || key === "do_while");
  return found;
}

/** What a container was decided by last, as its parameter; empty for other nodes. Of a value that is too large, its beginning. */
export function loopedOf(record: JsonObject): JsonObject {
  const looped = record.get("looped");
  return isObject(looped) ? new Map([[textAt(looped, "mode"), shownOf(looped)]]) : new Map();
}

/** Before which turn a container was tested last; null where it has no test. */
export function turnOf(record: JsonObject): number | null {
  const looped = record.get("looped");
  const turn = isObject(looped) ? looped.get("turn") : null;
  return typeof turn === "number" ? turn : null;
}

/** A condition on an edge, over what the edge carried. */
export interface ConditionResult {
  readonly handle: string;
  readonly target: string;
  readonly written: string;
  readonly value: Json;
  readonly held: boolean;
}

const TESTS: Readonly<Record<string, string>> = { equals: "equals", contains: "contains", present: "is present", truthy: "is true" };

export function conditionsOf(record: JsonObject): readonly ConditionResult[] {
  const tested = record.get("tested");
  return isList(tested) ? tested.filter(isObject).map((one) => {
    const test = textAt(one, "test");
    const operand = test === "equals" || test === "contains" ? ` ${writeDigits(one.get("operand") ?? null)}` : "";
    return { handle: textAt(one, "handle"), target: textAt(one, "target"), written: `${TESTS[test] ?? test}${operand}`, value: shownOf(one), held: one.get("held") === true };
  }) : [];
}

function shownOf(one: JsonObject): Json {
  const preview = one.get("preview");
  return typeof preview === "string" ? `${preview}…` : one.get("value") ?? null;
}
