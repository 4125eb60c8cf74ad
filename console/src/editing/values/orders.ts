/**
 * Fractional indexes: texts whose order is that of the things that carry them, with room for another one between any two.
 *
 * A text of base-62 digits is read as a fraction: `V` is about a half, `V5` a little more. No text ends with the digit 0, since then
 * nothing would fit between it and the same text without that digit. Texts compare by code point.
 */
import type { Json } from "./values.ts";

/** The digits of base 62, in the order of their code points. */
export const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = DIGITS.length;
const ORDER = /^[0-9A-Za-z]*[1-9A-Za-z]$/;

export function isOrder(value: Json | undefined): value is string {
  return typeof value === "string" && ORDER.test(value);
}

/**
 * A text between two others; null is the beginning or the end. Throws a RangeError unless `low` < `high`.
 *
 * Behind the last one it counts upwards in the first digit that has room, so that a list to which things are added at its end has
 * short texts: one more digit for 61 additions.
 */
export function between(low: string | null, high: string | null): string {
  if (low !== null && high !== null && low >= high) throw new RangeError(`nothing is between ${low} and ${high}`);
  const start = low ?? "";
  let made = "";
  let end = high;
  for (let place = 0; ; place += 1) {
    const floor = place < start.length ? digitAt(start, place) : 0;
    const ceiling = end !== null && place < end.length ? digitAt(end, place) : BASE;
    if (end === null && place < start.length) {
      if (floor + 1 < BASE) return made + DIGITS.charAt(floor + 1);
    } else if (ceiling - floor > 1) {
      return made + DIGITS.charAt((floor + ceiling) >> 1);
    }
    made += DIGITS.charAt(floor);
    if (ceiling > floor) end = null; // what follows is below it already
  }
}

/** `count` texts in order, evenly apart and equally long but for zeros at the end. */
export function spread(count: number): string[] {
  let width = 1;
  while (BASE ** width < 2 * (count + 1)) width += 1;
  const step = Math.floor(BASE ** width / (count + 1));
  return Array.from({ length: count }, (_, place) => digits(step * (place + 1), width));
}

function digits(value: number, width: number): string {
  let made = "";
  let rest = value;
  for (let place = 0; place < width; place += 1) {
    made = DIGITS.charAt(rest % BASE) + made;
    rest = Math.floor(rest / BASE);
  }
  return made.replace(/0+$/, "");
}

function digitAt(text: string, place: number): number {
  return DIGITS.indexOf(text.charAt(place));
}
