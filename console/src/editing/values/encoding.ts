/**
 * Values as a person writes them, and as an entity keeps them: the same rule as `stepless.editing.document.values`.
 *
 *     a list of objects or texts   {"[]": {k: {order, is}}}
 *     1.0, 1e99, 2**80             {"#": "1.0"}, here a `Digits`
 *     the keys `[]` and `#`        with a backslash in front, and one more for each that they have already
 */
import type { Read } from "./json.ts";
import { spread } from "./orders.ts";
import { byText, isList, isObject, object, plain, textAt, type Json, type JsonObject } from "./values.ts";

/** A number whose digits count. */
export class Digits {
  constructor(readonly text: string) {}
}

export type Value = Read<Digits>;

export function isMapping(value: Value | undefined): value is ReadonlyMap<string, Value> {
  return value instanceof Map;
}

export function isSequence(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

const RESERVED = /^\\*(?:\[\]|#)$/;

export function escaped(key: string): string {
  return RESERVED.test(key) ? `\\${key}` : key;
}

function unescaped(key: string): string {
  return key.startsWith("\\") && RESERVED.test(key) ? key.slice(1) : key;
}

/** The items of a list that an entity keeps by key; null for another value. */
export function itemsOf(value: Json | undefined): JsonObject | null {
  const items = isObject(value) && value.size === 1 ? value.get("[]") : null;
  return isObject(items) ? items : null;
}

/** The digits of a number that is kept as a text; null for another value. */
export function digitsOf(value: Json | undefined): string | null {
  const digits = isObject(value) && value.size === 1 ? value.get("#") : null;
  return typeof digits === "string" ? digits : null;
}

/** By their order, then by key. What is no item is left out. */
export function ordered(items: JsonObject): (readonly [key: string, item: JsonObject])[] {
  const found: (readonly [string, JsonObject])[] = [];
  for (const [key, item] of items) if (isObject(item)) found.push([key, item]);
  return found.sort((left, right) => byText(textAt(left[1], "order"), textAt(right[1], "order")) || byText(left[0], right[0]));
}

export function decoded(value: Json): Value {
  if (isList(value)) return value.map(decoded);
  if (!isObject(value)) return value;
  const items = itemsOf(value);
  if (items !== null) return ordered(items).map(([, item]) => decoded(item.get("is") ?? null));
  const digits = digitsOf(value);
  if (digits !== null) return new Digits(digits);
  return new Map([...value].map(([key, held]) => [unescaped(key), decoded(held)]));
}

/** `fresh` gives the keys of list items. */
export function encoded(value: Value, fresh: () => string): Json {
  if (value instanceof Digits) return object([["#", value.text]]);
  if (isMapping(value)) return object([...value].map(([key, held]) => [escaped(key), encoded(held, fresh)]));
  if (!isSequence(value)) return plain(value);
  if (!keepsItems(value)) return value.map((one) => encoded(one, fresh));
  const orders = spread(value.length);
  return object([["[]", object(value.map((one, place) => [fresh(), itemOf(orders[place] ?? "V", one, fresh)]))]]);
}

export function itemOf(order: string, value: Value, fresh: () => string): JsonObject {
  return object([["order", order], ["is", encoded(value, fresh)]]);
}

/** Whether a list is kept item by item: one of objects and texts. */
export function keepsItems(value: readonly Value[]): boolean {
  return value.every((one) => typeof one === "string" || isMapping(one));
}

/** The same value, the same keys in the same order; numbers by what they are. */
export function alike(left: Value | undefined, right: Value | undefined): boolean {
  if (left === right) return true;
  if (left instanceof Digits || right instanceof Digits) return sameNumber(left, right);
  if (isSequence(left)) return isSequence(right) && left.length === right.length && left.every((one, place) => alike(one, right[place]));
  if (!isMapping(left) || !isMapping(right) || left.size !== right.size) return false;
  const others = [...right];
  return [...left].every(([key, value], place) => samePair(others[place], key, value));
}

function samePair(pair: readonly [string, Value] | undefined, key: string, value: Value): boolean {
  return pair?.[0] === key && alike(value, pair[1]);
}

function sameNumber(left: Value | undefined, right: Value | undefined): boolean {
  const [one, other] = [digits(left), digits(right)];
  if (one === null || other === null) return false;
  return WHOLE.test(one) || WHOLE.test(other) ? one === other : Number(one) === Number(other);
}

const WHOLE = /^-?\d+$/;

function digits(value: Value | undefined): string | null {
  return value instanceof Digits ? value.text : typeof value === "number" ? String(value) : null;
}
