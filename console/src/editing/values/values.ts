/**
 * Values of a draft: JSON in which the order of keys is data.
 *
 * An object is a map in the order of its keys: a plain JavaScript object would move keys like `1` to the front and treat `__proto__`
 * as something else. Nothing is changed in place; each function returns a new value, or the same one where nothing changes.
 * Offsets in a text count code points, as in Python.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = ReadonlyMap<string, Json>;
export type Path = readonly string[];

export const EMPTY: JsonObject = new Map();

export function isObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map;
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** An object of these pairs, in their order. */
export function object(pairs: Iterable<readonly [string, Json]>): JsonObject {
  return new Map(pairs);
}

/** What stands at the path; undefined where nothing does. */
export function at(value: Json | undefined, path: Path): Json | undefined {
  let here = value;
  for (const step of path) {
    if (!isObject(here)) return undefined;
    here = here.get(step);
  }
  return here;
}

/** A text property; an empty text where there is none. */
export function textAt(value: JsonObject, name: string): string {
  const found = value.get(name);
  return typeof found === "string" ? found : "";
}

/** The same value: the same types, the same keys in the same order. */
export function same(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (isObject(left)) return isObject(right) && sameObject(left, right);
  if (isList(left)) return isList(right) && left.length === right.length && left.every((one, index) => same(one, right[index]));
  return false;
}

function sameObject(left: JsonObject, right: JsonObject): boolean {
  if (left.size !== right.size) return false;
  const others = right.entries();
  for (const [key, value] of left) {
    const other = others.next();
    if (other.done === true || other.value[0] !== key || !same(value, other.value[1])) return false;
  }
  return true;
}

export function samePath(left: Path, right: Path): boolean {
  return left.length === right.length && startsWith(left, right);
}

export function startsWith(path: Path, start: Path): boolean {
  return start.length <= path.length && start.every((step, index) => path[index] === step);
}

/** One path is the other, or leads to it. */
export function overlaps(left: Path, right: Path): boolean {
  return left.length < right.length ? startsWith(right, left) : startsWith(left, right);
}

/** The object with `key` set; a new key stands before `before`, or last. */
export function withKey(value: JsonObject, key: string, leaf: Json, before: string | null): JsonObject {
  if (value.has(key) || before === null || !value.has(before)) return new Map([...value, [key, leaf]]);
  const made = new Map<string, Json>();
  for (const [name, one] of value) {
    if (name === before) made.set(key, leaf);
    made.set(name, one);
  }
  return made;
}

/** The key that follows `key` in the object; null for the last one and for one that is not there. */
export function keyAfter(value: JsonObject, key: string): string | null {
  let found = false;
  for (const name of value.keys()) {
    if (found) return name;
    found = name === key;
  }
  return null;
}

/**
 * The value with `leaf` at the path, objects made on the way; undefined where a step on the way is no object.
 * `before` says where the first key that is made stands among its neighbours.
 */
export function withLeaf(value: Json | undefined, path: Path, leaf: Json, before: string | null): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return leaf;
  const here = value === undefined ? EMPTY : value;
  if (!isObject(here)) return undefined;
  const below = here.get(step);
  const inner = rest.length === 0 ? leaf : withLeaf(below, rest, leaf, below === undefined ? null : before);
  return inner === undefined ? undefined : withKey(here, step, inner, before);
}

export function without(value: Json, path: Path): Json {
  const [step, ...rest] = path;
  if (step === undefined || !isObject(value)) return value;
  const below = value.get(step);
  if (below === undefined) return value;
  if (rest.length > 0) {
    const inner = without(below, rest);
    return inner === below ? value : withKey(value, step, inner, null);
  }
  const made = new Map(value);
  made.delete(step);
  return made;
}

/** Every text in an object with its path, in the order of keys. Lists are values of their own: texts in them have no path. */
export function texts(value: Json | undefined): [Path, string][] {
  const found: [Path, string][] = [];
  const seek = (held: Json | undefined, path: Path): void => {
    if (typeof held === "string") found.push([path, held]);
    else if (isObject(held)) for (const [key, inner] of held) seek(inner, [...path, key]);
  };
  seek(value, []);
  return found;
}

const MAX_EXACT = 1e16; // the decimal numbers that Python writes without an exponent are below it
const MIN_EXACT = 1e-4;

/**
 * The value with its numbers in the form that an entity has: `{"#": text}` where Python and JavaScript would not write the same
 * digits. What a person types goes through this before it is written. Throws a RangeError for what is no number in JSON.
 */
export function plain(value: Json): Json {
  if (isObject(value)) return object([...value].map(([key, held]) => [key, plain(held)]));
  if (isList(value)) return value.map(plain);
  if (typeof value !== "number") return value;
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a number in JSON`);
  if (value === 0) return 0; // JSON.stringify writes -0 as 0
  if (Number.isSafeInteger(value)) return value;
  const size = Math.abs(value);
  if (size < MIN_EXACT) return object([["#", value.toExponential().replace(/e-(\d)$/, "e-0$1")]]);
  return size < MAX_EXACT && !Number.isInteger(value) ? value : object([["#", String(value)]]);
}

const BEYOND = /[\ud800-\udfff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Length in code points. */
export function points(text: string): number {
  return BEYOND.test(text) ? Array.from(text).length : text.length;
}

/** Half of a pair alone: no encoding of Unicode has it, so no draft may. */
export function hasLoneSurrogate(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

export function slicePoints(text: string, from: number, to?: number): string {
  return BEYOND.test(text) ? Array.from(text).slice(from, to).join("") : text.slice(from, to);
}

/** The text with `removed` code points from `start` on replaced; a start behind the end is the end. */
export function spliced(text: string, start: number, removed: number, fresh: string): string {
  if (!BEYOND.test(text)) {
    const from = Math.min(start, text.length);
    return text.slice(0, from) + fresh + text.slice(from + removed);
  }
  const all = Array.from(text);
  const from = Math.min(start, all.length);
  return all.slice(0, from).join("") + fresh + all.slice(from + removed).join("");
}

/** The order of keys in lists of the server: by code point, which for keys of a draft is by code unit. */
export function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
