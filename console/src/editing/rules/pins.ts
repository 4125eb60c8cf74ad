/** How much pins may hold: the same rule as `stepless.drafts.rules.pins`. */
import { PINS, type State } from "../state.ts";
import { MAX_PIN_BYTES, MAX_PINS_BYTES, type RefusalCode } from "../tables.ts";
import { isList, isObject, type Json } from "../values/values.ts";

const utf8 = new TextEncoder();

/** The bytes of a value of an entity, as compact JSON. */
export function pinBytes(value: Json | undefined): number {
  if (isList(value)) return enclosed(value.map(pinBytes));
  if (!isObject(value)) return plain(value ?? null);
  const [items, digits] = value.size === 1 ? [value.get("[]"), value.get("#")] : [];
  if (isObject(items)) return enclosed([...items.values()].map((item) => (isObject(item) ? pinBytes(item.get("is")) : 0)));
  if (typeof digits === "string") return digits.length;
  return enclosed([...value].map(([name, held]) => plain(name) + 1 + pinBytes(held)));
}

/** All pins of a draft but those of `but`. */
export function pinsBytes(state: State, but = ""): number {
  return state.found(PINS).reduce((sum, key) => (key === but ? sum : sum + pinBytes(state.get(key)?.get("output"))), 0);
}

/** The code for which a pin cannot be kept as it is; null where it can. */
export function pinFault(state: State, key: string): RefusalCode | null {
  if (pinBytes(state.get(key)?.get("output")) > MAX_PIN_BYTES) return "pin_too_large";
  return pinsBytes(state) > MAX_PINS_BYTES ? "pins_too_large" : null;
}

function enclosed(parts: readonly number[]): number {
  return 2 + parts.reduce((sum, part) => sum + part, 0) + Math.max(0, parts.length - 1);
}

function plain(value: Json): number {
  return utf8.encode(JSON.stringify(value)).length;
}
