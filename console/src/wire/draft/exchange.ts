/** The messages of a session over plain requests: what a socket would carry, and what is too large for one. */
import { count } from "../../editing/log/messages.ts";
import { isObject, object, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { Refusal, request, requestObject } from "../api.ts";
import { DRAFT_READ_ITEMS } from "../tables/limits.ts";

/** Takes a message as a socket would bring it. */
export type Say = (message: JsonObject) => void;

const OVER = 4409; // the draft was replaced or discarded
const CLOSING: ReadonlyMap<number, number> = new Map([[401, 4401], [403, 4403], [409, OVER], [410, OVER]]);
const NOT_TAKEN: ReadonlyMap<number, string> = new Map([[400, "malformed"], [413, "too_large"]]);
const OF_A_MESSAGE: ReadonlySet<string> = new Set(["v", "t"]);

export function message(t: string, fields: Iterable<readonly [string, Json]>): JsonObject {
  return object([["v", 1], ["t", t], ...fields]);
}

export class Exchange {
  constructor(readonly path: string, private readonly say: Say) {}

  /** Sends a request, and says the item or the answer. What is not answered is left to the session, which sends it again. */
  async op(asked: JsonObject, epoch: number): Promise<void> {
    const body = object([["epoch", epoch], ...[...asked].filter(([name]) => !OF_A_MESSAGE.has(name))]);
    try {
      const answer = await requestObject("PUT", `${this.path}/ops`, body);
      const [item, refused] = [answer.get("item"), answer.get("answer")];
      if (isObject(item)) this.say(message("item", [["item", item]]));
      if (isObject(refused)) this.say(message("answer", refused));
    } catch (error) {
      if (!(error instanceof Refusal)) return;
      const code = NOT_TAKEN.get(error.status);
      if (code !== undefined) this.say(message("answer", [["n", asked.get("n") ?? 0], ["tag", asked.get("tag") ?? ""], ["code", code]]));
      else this.closed(error);
    }
  }

  /** Says the items after a sequence; the last one it said. Waits up to `wait` seconds for one. Rejects where they cannot be had. */
  async pull(epoch: number, after: number, wait: number, signal?: AbortSignal): Promise<number> {
    const found = await requestObject("GET", `${this.path}/ops?epoch=${epoch}&after=${after}&limit=${DRAFT_READ_ITEMS}&wait=${wait}`, undefined, signal);
    const given = found.get("items");
    const items: readonly Json[] = Array.isArray(given) ? (given as readonly Json[]) : [];
    if (wait === 0 || items.length > 0) this.say(message("items", [["items", items], ["head", found.get("head") ?? after]]));
    const last = items.at(-1);
    return isObject(last) ? count(last, "seq") : after;
  }

  closed(error: unknown): void {
    if (!(error instanceof Refusal)) return;
    const code = error.code === "unknown_draft" ? OVER : CLOSING.get(error.status);
    if (code !== undefined) this.say(message("closing", [["code", code]]));
  }

  async ticket(): Promise<string> {
    const answer = await request("POST", `${this.path}/ticket`);
    return isObject(answer) ? textAt(answer, "ticket") : "";
  }
}
