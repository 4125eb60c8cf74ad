/**
 * JSON text of values in which the order of keys counts. `JSON.parse` moves keys that look like numbers, and loses `__proto__`.
 *
 * A number that a double does not give back as it was written (`1.0`, 20 digits) is read as `{"#": "1.0"}`.
 * Refused with a SyntaxError: what is no JSON, a key twice, a lone surrogate, values nested deeper than MAX_DEPTH.
 *
 * A long text is first read by `JSON.parse`, which takes a tenth of the time: if `JSON.stringify` writes the same text from that, then
 * nothing was lost on the way. Only else is it read character by character.
 */
import { hasLoneSurrogate, isList, isObject, object, type Json, type JsonObject } from "./values.ts";

export const MAX_DEPTH = 200;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: readonly [string, Json][] = [["true", true], ["false", false], ["null", null]];

/** What is read, where a number whose digits count is an `N`. */
export type Read<N> = null | boolean | number | string | N | readonly Read<N>[] | ReadonlyMap<string, Read<N>>;

const LONG = 10_000; // characters
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

export function readJson(text: string): Json {
  return readWith<JsonObject>(text, (digits) => object([["#", digits]]));
}

/** The same, with what `kept` makes for the digits of a number that a double does not give back. */
export function readWith<N>(text: string, kept: (digits: string) => N): Read<N> {
  return (text.length < LONG ? undefined : readAlike(text)) ?? readSlowly(text, kept);
}

/** The value of a text that the browser's own JSON gives back as it is written; undefined for every other text. */
function readAlike(text: string): Json | undefined {
  if (ESCAPED_SURROGATE.test(text) || hasLoneSurrogate(text)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined; // the slow way says where
  }
  const value = mapped(parsed, 0);
  return value !== undefined && JSON.stringify(parsed) === text ? value : undefined;
}

/** What `JSON.parse` made, with maps for objects; undefined where it is nested too deep, and `JSON.stringify` could not write it. */
function mapped(value: unknown, depth: number): Json | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    const list = value.map((one: unknown) => mapped(one, depth + 1));
    return list.includes(undefined) ? undefined : list as Json[];
  }
  if (typeof value !== "object" || value === null) return value as Json;
  const made = new Map<string, Json>();
  for (const key of Object.keys(value)) {
    const one = mapped((value as Record<string, unknown>)[key], depth + 1);
    if (one === undefined) return undefined;
    made.set(key, one);
  }
  return made;
}

function readSlowly<N>(text: string, kept: (digits: string) => N): Read<N> {
  const reader = new Reader(text, kept);
  const value = reader.value(0);
  reader.end();
  return value;
}

export function writeJson(value: Json): string {
  if (isObject(value)) return `{${[...value].map(([key, one]) => `${JSON.stringify(key)}:${writeJson(one)}`).join(",")}}`;
  if (isList(value)) return `[${value.map(writeJson).join(",")}]`;
  return JSON.stringify(value);
}

const DIGITS = /^-?\d[\d.eE+-]*$/;

/** The value as the text that it was read from, its numbers with the digits that they had there. */
export function writeDigits(value: Json): string {
  if (isList(value)) return `[${value.map(writeDigits).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const digits = value.size === 1 ? value.get("#") : undefined;
  if (typeof digits === "string" && DIGITS.test(digits)) return digits;
  return `{${[...value].map(([key, one]) => `${JSON.stringify(key)}:${writeDigits(one)}`).join(",")}}`;
}

/** The object of a message; a SyntaxError where the text is another value. */
export function readObject(text: string): JsonObject {
  const value = readJson(text);
  if (!isObject(value)) throw new SyntaxError("expected a JSON object");
  return value;
}

class Reader<N> {
  private place = 0;

  constructor(private readonly text: string, private readonly kept: (digits: string) => N) {}

  value(depth: number): Read<N> {
    if (depth > MAX_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_DEPTH}`);
    this.match(SPACE);
    const sign = this.text[this.place];
    if (sign === "{") return this.object(depth);
    if (sign === "[") return this.list(depth);
    if (sign === '"') return this.string();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.place)) {
        this.place += word.length;
        return value;
      }
    }
    return this.number();
  }

  end(): void {
    this.match(SPACE);
    if (this.place < this.text.length) this.fail();
  }

  private object(depth: number): Read<N> {
    const made = new Map<string, Read<N>>();
    this.place += 1;
    if (this.closes("}")) return made;
    do {
      this.match(SPACE);
      const key = this.string();
      if (made.has(key)) throw new SyntaxError(`the key ${JSON.stringify(key)} stands twice`);
      this.match(SPACE);
      this.take(":");
      made.set(key, this.value(depth + 1));
    } while (this.continues("}"));
    return made;
  }

  private list(depth: number): Read<N> {
    const made: Read<N>[] = [];
    this.place += 1;
    if (this.closes("]")) return made;
    do made.push(this.value(depth + 1));
    while (this.continues("]"));
    return made;
  }

  private string(): string {
    const start = this.place;
    if (this.text[start] !== '"') this.fail();
    let end = start;
    do {
      end = this.text.indexOf('"', end + 1);
      if (end < 0) this.fail();
    } while (this.isEscaped(end));
    this.place = end + 1;
    const written = this.text.slice(start, end + 1);
    const value = JSON.parse(written) as string;
    if (hasLoneSurrogate(value)) throw new SyntaxError("half of a surrogate pair");
    return value;
  }

  private isEscaped(place: number): boolean {
    let first = place;
    while (this.text[first - 1] === "\\") first -= 1;
    return (place - first) % 2 === 1;
  }

  private number(): Read<N> {
    const written = this.match(NUMBER);
    if (written === "") this.fail();
    const value = Number(written);
    return String(value) === written ? value : this.kept(written);
  }

  private closes(end: string): boolean {
    this.match(SPACE);
    if (this.text[this.place] !== end) return false;
    this.place += 1;
    return true;
  }

  private continues(end: string): boolean {
    if (this.closes(end)) return false;
    this.take(",");
    return true;
  }

  private take(sign: string): void {
    if (this.text[this.place] !== sign) this.fail();
    this.place += 1;
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.place;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.place += found.length;
    return found;
  }

  private fail(): never {
    throw new SyntaxError(`no JSON at character ${this.place}`);
  }
}
