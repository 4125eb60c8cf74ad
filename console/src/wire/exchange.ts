/** The messages of a room over plain requests: what a socket would carry, and what is too large for one. */
import { Refusal, request, requestObject } from "./api.ts";
import { isObject, object, textAt, type Json, type JsonObject } from "../editing/values.ts";

export type Say = (message: JsonObject) => void;

const CLOSING: ReadonlyMap<number, number> = new Map([[401, 4401], [403, 4403], [409, 4409], [410, 4409]]);
const MAX_ITEMS = 1_000;

export class Exchange {
  constructor(readonly path: string, private readonly say: Say) {}

  /** Sends an intent, and says the item or the answer. What is not answered is left to the session, which sends it again. */
  async op(message: JsonObject, epoch: string): Promise<void> {
    const body = object([["epoch", Number(epoch)], ...[...message].filter(([name]) => name !== "v" && name !== "type")]);
    try {
      const answer = await requestObject("PUT", `${this.path}/ops`, body);
      for (const type of ["item", "answer"]) {
        const said = answer.get(type);
        if (isObject(said)) this.say(object([["v", 1], ["type", type], ...said]));
      }
    } catch (error) {
      if (!(error instanceof Refusal)) return;
      if (error.status === 413) this.answer(message, "too_large");
      else this.closed(error);
    }
  }

  /** Says the items after a sequence; the last one it said. Waits up to `wait` seconds for one. Rejects where they cannot be had. */
  async pull(epoch: string, after: number, wait: number, signal?: AbortSignal): Promise<number> {
    const found = await requestObject("GET", `${this.path}/ops?epoch=${epoch}&after=${after}&limit=${MAX_ITEMS}&wait=${wait}`, undefined, signal);
    const items = found.get("items") ?? [];
    const head = found.get("head") ?? after;
    if (wait === 0 || (Array.isArray(items) && items.length > 0)) this.say(object([["v", 1], ["type", "items"], ["items", items], ["head", head]]));
    const last = Array.isArray(items) ? (items as readonly Json[]).at(-1) : undefined;
    const seq = isObject(last) ? last.get("seq") : after;
    return typeof seq === "number" ? seq : after;
  }

  closed(error: unknown): void {
    const code = error instanceof Refusal ? CLOSING.get(error.status) : undefined;
    if (code !== undefined) this.say(object([["v", 1], ["type", "closing"], ["code", code]]));
  }

  async ticket(): Promise<string> {
    const answer = await request("POST", `${this.path}/ticket`);
    return isObject(answer) ? textAt(answer, "ticket") : "";
  }

  private answer(message: JsonObject, code: string): void {
    this.say(object([["v", 1], ["type", "answer"], ["n", message.get("n") ?? 0], ["tag", message.get("tag") ?? ""], ["code", code]]));
  }
}
