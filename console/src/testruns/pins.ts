/** Pins: outputs that a draft keeps for nodes, which put them out in test runs instead of working. */
import { gesture, type Gesture } from "../editing/gestures.ts";
import type { State } from "../editing/state.ts";
import { object, type Json } from "../editing/values.ts";
import { decoded, encoded, type Value } from "../inspector/values.ts";

export const MAX_PIN_BYTES = 256_000;

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

/** Why an output cannot be pinned; null where it can. */
export function pinFault(text: string): string | null {
  const size = new TextEncoder().encode(text).length;
  return size <= MAX_PIN_BYTES ? null : `This output takes ${size.toLocaleString("en")} bytes. A pin has at most ${MAX_PIN_BYTES.toLocaleString("en")}.`;
}
