import type { Gesture } from "../../log/gestures.ts";
import { writeJson } from "../../values/json.ts";
import { gestureWritten } from "../../log/messages.ts";

const sizes = new WeakMap<Gesture, number>();
const encoder = new TextEncoder();

/** How many bytes a gesture has in a message. */
export function sizeOf(gesture: Gesture): number {
  const held = sizes.get(gesture);
  if (held !== undefined) return held;
  const size = encoder.encode(writeJson(gestureWritten(gesture))).length;
  sizes.set(gesture, size);
  return size;
}
