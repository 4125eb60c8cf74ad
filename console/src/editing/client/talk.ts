/**
 * The messages of a draft, in the words of the server: JSON with `v` and `t`.
 *
 *     to the server     hello {client, tab, after, epoch} · op {client, n, tag, base, operations} · pull {after}
 *     from the server   welcome {epoch, head, edit?, rates?: {ops_per_s}} · item {item} · items {items, head}
 *                       who {rates?: {ops_per_s}} · answer {n, tag, code, retry_after_ms?} · closing {code}
 *
 * What a session does not know (presence, people) it leaves to others.
 */
import type { DraftRequest, LogEntry } from "../log/operations.ts";
import { readObject, writeJson } from "../values/json.ts";
import { count, requestWritten, entryRead, list, text } from "../log/messages.ts";
import { isObject, object, type Json, type JsonObject } from "../values/values.ts";

export type Heard =
  | { readonly type: "welcome"; readonly epoch: number; readonly head: number; readonly opsPerSecond: number; readonly canEdit: boolean }
  | { readonly type: "rates"; readonly opsPerSecond: number }
  | { readonly type: "item"; readonly item: LogEntry }
  | { readonly type: "items"; readonly items: readonly LogEntry[]; readonly head: number }
  | { readonly type: "answer"; readonly n: number; readonly tag: string; readonly code: string; readonly retryAfterMs: number }
  | { readonly type: "closing"; readonly code: Closing };

export type Closing = "signed_out" | "role" | "replaced" | "too_large" | "rate" | "other";

const CLOSING: ReadonlyMap<number, Closing> = new Map([
  [4401, "signed_out"], [4403, "role"], [4409, "replaced"], [4413, "too_large"], [4429, "rate"],
]);

export function hello(client: string, tab: string, after: number, epoch: number): string {
  return message("hello", [["client", client], ["tab", tab], ["after", after], ["epoch", epoch]]);
}

export function op(request: DraftRequest): string {
  return message("op", requestWritten(request));
}

export function pull(after: number): string {
  return message("pull", [["after", after]]);
}

function message(type: string, fields: Iterable<readonly [string, Json]>): string {
  return writeJson(object([["v", 1], ["t", type], ...fields]));
}

/** What the server says; null for a message that does not concern a session. Throws a SyntaxError where it is malformed. */
export function heard(said: string): Heard | null {
  const fields = readObject(said);
  switch (fields.get("t")) {
    case "welcome":
      return { type: "welcome", epoch: count(fields, "epoch"), head: count(fields, "head"), opsPerSecond: paceOf(fields), canEdit: fields.get("edit") !== false };
    case "who": // with each who comes or goes, everyone may do more or less
      return fields.has("rates") ? { type: "rates", opsPerSecond: paceOf(fields) } : null;
    case "item":
      return { type: "item", item: entryRead(fields.get("item") ?? null) };
    case "items":
      return { type: "items", items: list(fields, "items").map(entryRead), head: count(fields, "head") };
    case "answer": {
      const retryAfterMs = fields.has("retry_after_ms") ? count(fields, "retry_after_ms") : 0;
      return { type: "answer", n: count(fields, "n"), tag: text(fields, "tag"), code: text(fields, "code"), retryAfterMs };
    }
    case "closing":
      return { type: "closing", code: CLOSING.get(count(fields, "code")) ?? "other" };
    default:
      return null;
  }
}

/** How many requests the session takes of this client in a second; 0 where it does not say. */
function paceOf(fields: JsonObject): number {
  const rates = fields.get("rates");
  const perSecond = isObject(rates) ? rates.get("ops_per_s") : 0;
  return typeof perSecond === "number" ? perSecond : 0;
}
