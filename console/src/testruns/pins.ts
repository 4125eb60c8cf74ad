/** Pins: outputs that a draft keeps for nodes, which put them out in test runs instead of working. */
import { gesture, type Gesture } from "../editing/gestures.ts";
import { MAX_PIN_BYTES, MAX_PINS_BYTES } from "../editing/limits.ts";
import { pinBytes, pinsBytes } from "../editing/rules/pins.ts";
import type { State } from "../editing/state.ts";
import { readJson } from "../editing/json.ts";
import { isList, isObject, object, type Json } from "../editing/values.ts";
import { decoded, Digits, encoded, isMapping, isSequence, type Value } from "../inspector/values.ts";

/** `handle` is the exit by which the node leaves; an empty text stands for its first one. */
export interface Pin {
  readonly output: Value;
  readonly handle: string;
}

export function pinOf(state: State, tail: string): Pin | null {
  const entity = state.get(`pin/${tail}`);
  if (entity === undefined) return null;
  const handle = entity.get("handle");
  return { output: decoded(entity.get("output") ?? null), handle: typeof handle === "string" ? handle : "" };
}

/** Pins an output; null takes the pin away. Null where there is none. */
export function pinned(state: State, tail: string, pin: Pin | null, fresh: () => string): Gesture | null {
  const key = `pin/${tail}`;
  if (pin === null) return state.has(key) ? gesture([["del", key]]) : null;
  const fields: [string, Json][] = [["output", encoded(pin.output, fresh)]];
  if (pin.handle !== "") fields.push(["handle", pin.handle]);
  return gesture([["put", key, object(fields)]]);
}

/** Why an output cannot be pinned at a node; null where it can. */
export function faultOf(state: State, tail: string, output: Value, fresh: () => string): string | null {
  const size = pinBytes(encoded(output, fresh));
  if (size > MAX_PIN_BYTES) return `This output takes ${shown(size)} bytes. A pin has at most ${shown(MAX_PIN_BYTES)}.`;
  const others = pinsBytes(state, `pin/${tail}`);
  if (size + others <= MAX_PINS_BYTES) return null;
  return `This output takes ${shown(size)} bytes, and the other pins of this draft ${shown(others)}. All together have at most ${shown(MAX_PINS_BYTES)}: take a pin away.`;
}

function shown(bytes: number): string {
  return bytes.toLocaleString("en");
}

/** The value of a text in JSON; a SyntaxError says where it is none. */
export function valueOf(text: string): Value {
  return valueFrom(readJson(text));
}

const NUMBER = /^-?\d/;

/** What was read as JSON, as a value: a number whose digits count is one object with the key `#`. */
export function valueFrom(read: Json): Value {
  if (isList(read)) return read.map(valueFrom);
  if (!isObject(read)) return read;
  const digits = read.size === 1 ? read.get("#") : undefined;
  if (typeof digits === "string" && NUMBER.test(digits)) return new Digits(digits);
  return new Map([...read].map(([key, one]) => [key, valueFrom(one)]));
}

/** A value as JSON over several lines. */
export function textOf(value: Value, indent = ""): string {
  const inner = `${indent}  `;
  if (value instanceof Digits) return value.text;
  if (isMapping(value)) return block("{", [...value].map(([key, one]) => `${JSON.stringify(key)}: ${textOf(one, inner)}`), "}", indent);
  if (isSequence(value)) return block("[", value.map((one) => textOf(one, inner)), "]", indent);
  return JSON.stringify(value);
}

function block(begin: string, parts: readonly string[], end: string, indent: string): string {
  return parts.length === 0 ? `${begin}${end}` : `${begin}\n${parts.map((part) => `${indent}  ${part}`).join(",\n")}\n${indent}${end}`;
}
