/** The messages that a run may receive, and the one that it waits for. */
import { plain, type RunLook } from "../runstate/store.ts";
import type { Overview } from "../runstate/types.ts";
import { declaredIn, type Declared } from "./declared.ts";

/** In the order of the run. Without its document their data have no schema. */
export function messagesOf({ head, document }: Pick<RunLook, "head" | "document">): readonly Declared[] {
  const known = new Map(declaredIn(plain(document)).map((one) => [one.name, one]));
  return (head?.messages ?? []).map((name) => known.get(name) ?? { name, schema: null, cancels: false });
}

/** The message that a node has waited for longest; empty where none waits. */
export function nextMessage({ pauses }: Pick<Overview, "pauses">): string {
  const waiting = pauses.filter(({ reason }) => reason === "message").sort((left, right) => Date.parse(left.since) - Date.parse(right.since));
  const message = waiting[0]?.details["message"];
  return typeof message === "string" ? message : "";
}
