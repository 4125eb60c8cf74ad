/** Pins: outputs that a draft keeps for nodes, which put them out in test runs instead of working. */
import { operation, type Operation } from "../editing/log/operations.ts";
import { pinBytes, pinsBytes } from "../editing/rules/pins.ts";
import type { State } from "../editing/state.ts";
import { object, type Json } from "../editing/values/values.ts";
import { decoded, encoded, type Value } from "../editing/values/encoding.ts";
import { MAX_PIN_BYTES, MAX_PINS_BYTES } from "../editing/tables.ts";

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
export function pinned(state: State, tail: string, pin: Pin | null, fresh: () => string): Operation | null {
  const key = `pin/${tail}`;
  if (pin === null) return state.has(key) ? operation([["del", key]]) : null;
  const fields: [string, Json][] = [["output", encoded(pin.output, fresh)]];
  if (pin.handle !== "") fields.push(["handle", pin.handle]);
  return operation([["put", key, object(fields)]]);
}

/** Why an output cannot be pinned at a node; null where it can. */
export function faultOf(state: State, tail: string, output: Value, fresh: () => string): string | null {
  const size = pinBytes(encoded(output, fresh));
  if (size > MAX_PIN_BYTES) return `This output takes ${shown(size)} bytes. A pin has at most ${shown(MAX_PIN_BYTES)}.`;
  const others = pinsBytes(state, `pin/${tail}`);
  if (size + others <= MAX_PINS_BYTES) return null;
  return `This output takes ${shown(size)} bytes, and the other pins of this draft ${shown(others)}. All together have at most ${shown(MAX_PINS_BYTES)}: remove a pin.`;
}

function shown(bytes: number): string {
  return bytes.toLocaleString("en");
}
