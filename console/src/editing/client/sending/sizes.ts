import type { Operation } from "../../log/operations.ts";
import { writeJson } from "../../values/json.ts";
import { operationWritten } from "../../log/messages.ts";

const sizes = new WeakMap<Operation, number>();
const encoder = new TextEncoder();

/** How many bytes an operation has in a message. */
export function sizeOf(operation: Operation): number {
  const held = sizes.get(operation);
  if (held !== undefined) return held;
  const size = encoder.encode(writeJson(operationWritten(operation))).length;
  sizes.set(operation, size);
  return size;
}
