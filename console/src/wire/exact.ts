/** Carries JSON that people write to the server and back unchanged: every number keeps its digits, every object the order of its keys. */
import { readWith } from "../editing/values/json.ts";
import { isList, isObject, type Json } from "../editing/values/values.ts";
import { Digits, isMapping, isSequence, type Value } from "../editing/values/encoding.ts";

/** The value of a text in JSON; a SyntaxError says where it is none. */
export function valueOf(text: string): Value {
  return readWith(text, (digits) => new Digits(digits));
}

const NUMBER = /^-?\d/;

/** What was read as JSON of an entity, as a value: a number whose digits count is one object with the key `#`. */
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

/** A value as JSON on one line. */
export function jsonOf(value: Value): string {
  if (value instanceof Digits) return value.text;
  if (isMapping(value)) return `{${[...value].map(([key, held]) => `${JSON.stringify(key)}:${jsonOf(held)}`).join(",")}}`;
  return isSequence(value) ? `[${value.map(jsonOf).join(",")}]` : JSON.stringify(value);
}

/** What `plainOf` returned as JSON on one line, with every digit. */
export function writtenOf(value: unknown): string {
  if (value instanceof Digits) return value.text;
  if (Array.isArray(value)) return `[${value.map(writtenOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${writtenOf(one)}`).join(",")}}`;
}

/** What is typed into a field that is no text. What is not of its type stays text, which the server refuses. */
export function typedValue(given: string, control: string): Value {
  let value: Value;
  try {
    value = valueOf(given);
  } catch (error) {
    if (error instanceof SyntaxError) return given;
    throw error;
  }
  const isNumber = typeof value === "number" || value instanceof Digits;
  if (control === "whole") return isNumber && Number.isInteger(Number(given)) ? value : given;
  return control === "number" && !isNumber ? given : value;
}
