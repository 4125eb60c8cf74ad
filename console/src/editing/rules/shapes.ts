/**
 * What may be written in each room of a draft, and with what shape.
 *
 *     room      put                                              set, unset, splice                           del
 *     doc       never                                            all but `id`                                 never
 *     block     id, parent, order; type                          id, type, parent, order are set whole;       with what hangs on it
 *                                                                anything else at any depth
 *     edge      source, target, order; handle, param, key, form  order, param, key … whole; never the ends    yes
 *     subflow   an object                                        anything                                     if the body is empty
 *     place     x, y                                             x, y                                         yes
 *     note      x, y, w, h; text, colour, by                     the same                                     yes
 *     pin       output                                           anything                                     yes
 *     text      yaml                                             yaml                                         yes
 *
 * `id type parent source target order` are neither unset nor written below, since every rule stands on them. Whether a value suits
 * the kind of a node is not asked here: a draft may be invalid at any time, and only publishing judges.
 */
import type { Entity, SetEffect, SpliceEffect, UnsetEffect, Write } from "../effects.ts";
import { MAX_DOCUMENT_DEPTH, MAX_KEY_CHARACTERS } from "../limits.ts";
import { isOrder } from "../orders.ts";
import { DOC, roomOf, TEXT, tailOf } from "../state.ts";
import { isObject, type Json, type Path } from "../values.ts";

type Shape = (value: Json | undefined) => boolean;
type Fields = ReadonlyMap<string, Shape>;

const KEY = /^[A-Za-z0-9_-]+$/;

const isText: Shape = (value) => typeof value === "string";
const isTail: Shape = (value) => typeof value === "string" && value.length <= MAX_KEY_CHARACTERS && KEY.test(value);
const isTailOrNull: Shape = (value) => value === null || isTail(value);
const isNumber: Shape = (value) => typeof value === "number" || (isObject(value) && value.size === 1 && isText(value.get("#")));
const isAnything: Shape = () => true;
const isAnObject: Shape = (value) => isObject(value);
const oneOf = (...words: string[]): Shape => (value) => typeof value === "string" && words.includes(value);

const fields = (shapes: Record<string, Shape>): Fields => new Map(Object.entries(shapes));

const REQUIRED: ReadonlyMap<string, Fields> = new Map([
  ["block", fields({ id: isText, parent: isTailOrNull, order: isOrder })],
  ["edge", fields({ source: isTail, target: isTail, order: isOrder })],
  ["subflow", fields({})],
  ["place", fields({ x: isNumber, y: isNumber })],
  ["note", fields({ x: isNumber, y: isNumber })],
  ["pin", fields({ output: isAnything })],
  ["text", fields({ yaml: isText })],
]);
const WHOLE: ReadonlyMap<string, Fields> = new Map([
  ["doc", fields({ rest: isAnObject })],
  ["block", fields({ id: isText, type: isText, parent: isTailOrNull, order: isOrder, after: oneOf("one", "list"), rest: isAnObject })],
  ["edge", fields({
    source: isTail, target: isTail, order: isOrder, handle: isText, param: isText, key: isText,
    home: oneOf("after", "edges"), form: oneOf("text"),
  })],
  ["subflow", fields({ body: isAnObject, rest: isAnObject })],
  ["place", fields({ x: isNumber, y: isNumber })],
  ["note", fields({ x: isNumber, y: isNumber, w: isNumber, h: isNumber, text: isText, colour: isText, by: isText })],
  ["pin", fields({})],
  ["text", fields({ yaml: isText })],
]);
const CLOSED: ReadonlySet<string> = new Set(["place", "note", "text"]);
/** Fields that no `set` changes. */
const FIXED: ReadonlyMap<string, readonly string[]> = new Map([["doc", ["id"]], ["edge", ["source", "target"]]]);
const KEPT: ReadonlySet<string> = new Set(["id", "type", "parent", "source", "target", "order", "x", "y", "output"]);
const SPLICED: ReadonlyMap<string, readonly string[]> = new Map([["note", ["text", "colour"]], ["text", ["yaml"]]]);

/** Whether the table allows a write, whatever the state is. */
export function fits(write: Write): boolean {
  const [word, key] = write;
  const room = roomOf(key);
  const whole = WHOLE.get(room);
  const alone = room === DOC || room === TEXT;
  if (whole === undefined || (alone ? key !== room : !isTail(tailOf(key)))) return false;
  switch (word) {
    case "put":
      return room !== DOC && entityFits(room, whole, write[2]);
    case "del":
      return room !== DOC;
    case "rename":
      return room === "block" && isText(write[2]);
    default:
      return changeFits(room, whole, write);
  }
}

function changeFits(room: string, whole: Fields, write: SetEffect | UnsetEffect | SpliceEffect): boolean {
  const path = write[2];
  const field = path[0] ?? "";
  if (!changeable(room, whole, path)) return false;
  switch (write[0]) {
    case "set":
      return path.length > 1 || (whole.get(field) ?? isAnything)(write[3]);
    case "unset":
      return !(KEPT.has(field) && whole.has(field));
    case "splice":
      return spliceable(room, whole, path) && write[3] >= 0 && write[4] >= 0;
  }
}

function changeable(room: string, whole: Fields, path: Path): boolean {
  const field = path[0];
  if (field === undefined || path.length > MAX_DOCUMENT_DEPTH || (FIXED.get(room)?.includes(field) ?? false)) return false;
  const shape = whole.get(field);
  if (shape === undefined) return !CLOSED.has(room);
  return path.length === 1 || shape === isAnObject;
}

function spliceable(room: string, whole: Fields, path: Path): boolean {
  const field = path[0] ?? "";
  return path.length > 1 || !whole.has(field) || (SPLICED.get(room)?.includes(field) ?? false);
}

function entityFits(room: string, whole: Fields, entity: Entity): boolean {
  const required = REQUIRED.get(room) ?? new Map<string, Shape>();
  for (const field of required.keys()) if (!entity.has(field)) return false;
  for (const [field, value] of entity) {
    const shape = required.get(field) ?? whole.get(field);
    if (shape === undefined ? CLOSED.has(room) : !shape(value)) return false;
  }
  return true;
}
