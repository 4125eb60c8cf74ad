/** Turns an entered value into the smallest operations that set it, over the changes of others. */
import type { Desk } from "../../canvas/desk.ts";
import { transform } from "../../editing/transform.ts";
import { operation, type Operation } from "../../editing/log/operations.ts";
import { at, type Json, type Path } from "../../editing/values/values.ts";
import { differences } from "../../editing/values/differences.ts";
import { decoded, Digits, type Value } from "../../editing/values/encoding.ts";

/** Where a value stands. */
export interface Spot {
  readonly key: string;
  readonly path: Path;
}

export function below(spot: Spot, ...steps: readonly string[]): Spot {
  return { key: spot.key, path: [...spot.path, ...steps] };
}

export function valueAt(desk: Desk, { key, path }: Spot): Json | undefined {
  const entity = desk.view.get(key);
  return entity === undefined ? undefined : at(entity, path);
}

/**
 * Makes of `base`, the value that a person sees, what they entered; undefined removes it. What others made of it since is kept where
 * both are texts. Null where nothing changes.
 */
export function entering({ key, path }: Spot, base: Json | undefined, now: Json | undefined, wanted: Value | undefined, fresh: () => string): Operation | null {
  if (wanted === undefined) return now === undefined ? null : operation([["unset", key, path]]);
  const writes = base === now || base === undefined || now === undefined
    ? differences(key, path, now, wanted, fresh)
    : transform(differences(key, path, base, wanted, fresh), differences(key, path, base, decoded(now), fresh))[0];
  return writes.length === 0 ? null : operation(writes);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A number as it is written; null for what is none. */
export function numberOf(text: string, whole: boolean): number | Digits | null {
  const written = text.trim();
  if (!(whole ? /^-?(?:0|[1-9]\d*)$/ : NUMBER).test(written)) return null;
  return String(Number(written)) === written ? Number(written) : new Digits(written);
}

/** A number or a boolean where that is what is written, else the text. */
export function scalarOf(text: string): Value {
  return text === "true" ? true : text === "false" ? false : numberOf(text, false) ?? text;
}

export function shownScalar(value: Json | undefined): string {
  if (value === undefined) return "";
  const read = decoded(value);
  return read instanceof Digits ? read.text : typeof read === "string" ? read : JSON.stringify(read);
}

/** A name that an object does not have yet. */
export function freeName(names: ReadonlySet<string>, like: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? like : `${like}_${number}`;
    if (!names.has(name)) return name;
  }
}
