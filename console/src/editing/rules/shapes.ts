/**
 * Defines the values that may be written under each key prefix of a draft: the rule of `stepless.drafts.rules.shapes`, with its
 * tables. Whether a value suits the kind of a node is not asked here: a draft may be invalid at any time, and only publishing validates.
 */
import type { Entity, SetEffect, SpliceEffect, UnsetEffect, Write } from "../log/effects.ts";
import { isOrder } from "../values/orders.ts";
import { DOC, prefixOf, TEXT, tailOf } from "../state.ts";
import {
  CLOSED, FIELDS, FIXED, KEPT, MAX_DOCUMENT_DEPTH, MAX_KEY_CHARACTERS, REQUIRED, SPLICED, type Shape, type ShapeName,
} from "../tables.ts";
import { isObject, type Json, type Path } from "../values/values.ts";

type Fields = ReadonlyMap<string, Shape>;

const KEY = /^[A-Za-z0-9_-]+$/;

const isText = (value: Json | undefined): boolean => typeof value === "string";
const isTail = (value: Json | undefined): boolean => typeof value === "string" && value.length <= MAX_KEY_CHARACTERS && KEY.test(value);

const CHECKS: Readonly<Record<ShapeName, (value: Json | undefined) => boolean>> = {
  text: isText,
  tail: isTail,
  "tail or null": (value) => value === null || isTail(value),
  order: isOrder,
  number: (value) => typeof value === "number" || (isObject(value) && value.size === 1 && isText(value.get("#"))),
  object: isObject,
};

/** Maps, not objects: an author may call a field `constructor`. */
const WHOLE: ReadonlyMap<string, Fields> = new Map(Object.entries(FIELDS).map(([prefix, row]) => [prefix, new Map(Object.entries(row))]));

/** The shape of a field that is set whole. */
export function shapeOf(prefix: string, field: string): Shape | undefined {
  return WHOLE.get(prefix)?.get(field);
}

function suits(shape: Shape | undefined, value: Json | undefined): boolean {
  if (shape === undefined) return true;
  return typeof shape === "string" ? CHECKS[shape](value) : shape.some((word) => word === value);
}

/** Whether the table allows a write, whatever the state is. */
export function fits(write: Write): boolean {
  const [word, key] = write;
  const prefix = prefixOf(key);
  const whole = WHOLE.get(prefix);
  const alone = prefix === DOC || prefix === TEXT;
  if (whole === undefined || (alone ? key !== prefix : !isTail(tailOf(key)))) return false;
  switch (word) {
    case "put":
      return prefix !== DOC && entityFits(prefix, whole, write[2]);
    case "del":
      return prefix !== DOC;
    case "rename":
      return prefix === "block" && isText(write[2]);
    default:
      return changeFits(prefix, whole, write);
  }
}

function changeFits(prefix: string, whole: Fields, write: SetEffect | UnsetEffect | SpliceEffect): boolean {
  const path = write[2];
  const field = path[0] ?? "";
  if (!changeable(prefix, whole, path)) return false;
  switch (write[0]) {
    case "set":
      return path.length > 1 || suits(whole.get(field), write[3]);
    case "unset":
      return !has(KEPT, prefix, field);
    case "splice":
      return (path.length > 1 || !whole.has(field) || has(SPLICED, prefix, field)) && write[3] >= 0 && write[4] >= 0;
  }
}

function changeable(prefix: string, whole: Fields, path: Path): boolean {
  const field = path[0];
  if (field === undefined || path.length > MAX_DOCUMENT_DEPTH || has(FIXED, prefix, field)) return false;
  const shape = whole.get(field);
  return shape === undefined ? !CLOSED.includes(prefix) : path.length === 1 || shape === "object";
}

function entityFits(prefix: string, whole: Fields, entity: Entity): boolean {
  if (REQUIRED[prefix]?.some((field) => !entity.has(field)) === true) return false;
  return [...entity].every(([field, value]) => (whole.has(field) ? suits(whole.get(field), value) : !CLOSED.includes(prefix)));
}

function has(table: Readonly<Record<string, readonly string[]>>, prefix: string, field: string): boolean {
  return table[prefix]?.includes(field) === true;
}
