/** What the page of a run says of messages: what its nodes wait for, and the data of a message in the log. */
import { isList, isObject, textAt, type Json, type JsonObject } from "../../../editing/values/values.ts";
import { pathOf } from "../../../runstate/counts.ts";
import type { Overview, Pause } from "../../../runstate/types.ts";
import { runPath } from "../../../ui/addresses.ts";
import { request } from "../../../wire/api.ts";
import { writtenIn } from "../node/told.ts";

const MAX_PAGES = 50;
export const RECEIVED = "message.received";

/** A node that waits for a message. `keys`: by which it is reached, its own before that of the run; `where`: which message it takes, empty for any. */
export interface Awaited {
  readonly instance: string;
  readonly message: string;
  readonly keys: readonly string[];
  readonly where: string;
  readonly since: string;
  readonly deadline: string | null;
}

export function awaitedIn(head: Overview, document: JsonObject | null): readonly Awaited[] {
  return head.pauses.flatMap((pause) => awaited(pause, head.key, document) ?? []);
}

/** What one pause waits for; null where it is no message. */
export function awaited({ reason, pause, details, since, deadline }: Pause, key: string | null, document: JsonObject | null): Awaited | null {
  const { message, key: own } = details;
  if (reason !== "message" || typeof message !== "string") return null;
  const written = document === null ? null : writtenIn(document, pathOf(pause));
  const keys = [own, key].filter((one) => typeof one === "string");
  return { instance: pause, message, keys: [...new Set(keys)], where: written === null ? "" : textAt(written, "where"), since, deadline };
}

/** The data of a message in the log of a run; undefined where the log does not have it. */
export async function dataOf(run: string, message: string): Promise<Json | undefined> {
  let cursor = 0;
  for (let round = 0; round < MAX_PAGES; round += 1) {
    const page = await request("GET", `${runPath(run)}/events?${new URLSearchParams({ type: RECEIVED, text: message, afterEventId: String(cursor) }).toString()}`);
    if (!isObject(page)) return undefined;
    const events = page.get("events");
    for (const event of isList(events) ? events : []) {
      const payload = isObject(event) ? event.get("payload") : undefined;
      if (isObject(payload) && payload.get("id") === message) return payload.get("data") ?? null;
    }
    const next = page.get("cursor");
    if (typeof next !== "number" || next <= cursor) return undefined;
    cursor = next;
  }
  return undefined;
}
