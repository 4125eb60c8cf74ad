/** JSON as plain objects whose numbers keep their digits, for pages that show lists. */
import { isMapping, isSequence, type Value } from "../editing/values/encoding.ts";
import { valueOf } from "./exact.ts";

/** The value of a text in JSON with plain objects; a number whose digits count is a `Digits`. For what `requestPlain` would round. */
export function plainOf(text: string): unknown {
  return plainFrom(valueOf(text));
}

function plainFrom(value: Value): unknown {
  if (isSequence(value)) return value.map(plainFrom);
  return isMapping(value) ? Object.fromEntries([...value].map(([key, one]) => [key, plainFrom(one)])) : value;
}
