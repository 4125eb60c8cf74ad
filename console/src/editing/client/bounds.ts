/** Refuses an operation that every server refuses, before it is shown: `stepless.editing.messages` has the same bounds. */
import type { Operation } from "../log/operations.ts";
import { MAX_DOCUMENT_DEPTH, MAX_INTENT_BYTES, MAX_INTENT_WRITES } from "../tables.ts";
import { hasLoneSurrogate, isList, isObject, type Json } from "../values/values.ts";
import { sizeOf } from "./sending/sizes.ts";

/** Why an operation cannot be sent; null where it can. */
export function unsendable(asked: Operation): string | null {
  const { writes, guards } = asked;
  if (writes.length > MAX_INTENT_WRITES || guards.length > MAX_INTENT_WRITES) return "gesture_too_large";
  for (const one of [...writes, ...guards]) {
    for (const part of one) {
      const fault = faultOf(part, 0);
      if (fault !== null) return fault;
    }
  }
  return sizeOf(asked) > MAX_INTENT_BYTES ? "gesture_too_large" : null;
}

function faultOf(value: Json | undefined, depth: number): string | null {
  if (depth > MAX_DOCUMENT_DEPTH) return "value_too_deep";
  if (typeof value === "string") return hasLoneSurrogate(value) ? "no_text" : null;
  const held = isObject(value) ? value.values() : isList(value) ? value : [];
  for (const one of held) {
    const fault = faultOf(one, depth + 1);
    if (fault !== null) return fault;
  }
  return isObject(value) && [...value.keys()].some(hasLoneSurrogate) ? "no_text" : null;
}
