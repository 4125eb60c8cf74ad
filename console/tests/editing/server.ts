/** Servers over one log: each keeps nothing but a cache, any of them may sequence, and the log decides. */
import type { Entity } from "../../src/editing/log/effects.ts";
import { apply } from "../../src/editing/fold.ts";
import type { DraftRequest, LogEntry } from "../../src/editing/log/operations.ts";
import { writeJson } from "../../src/editing/values/json.ts";
import { entryWritten } from "../../src/editing/log/messages.ts";
import { resolve } from "../../src/editing/rules/resolve.ts";
import { Entities } from "../../src/editing/state.ts";
import { object, type Json } from "../../src/editing/values/values.ts";

const MAX_BEHIND = 1_000;

/** An append is a put under the condition that the place is free. `first` is the lowest sequence that it still has. */
export class Log {
  readonly items: LogEntry[] = [];
  first = 1;

  constructor(readonly epoch: number, readonly start: readonly (readonly [string, Entity])[]) {}

  get head(): number {
    return this.items.length;
  }

  append(item: LogEntry): boolean {
    if (item.seq !== this.head + 1) return false;
    this.items.push(item);
    return true;
  }

  since(seq: number): LogEntry[] | null {
    return seq + 1 < this.first ? null : this.items.slice(seq);
  }

  state(): Entities {
    const state = new Entities(this.start);
    for (const item of this.items) apply(state, item.effects);
    return state;
  }
}

export class Server {
  seq = 0;
  private readonly state: Entities;
  private readonly last = new Map<string, { n: number; tag: string }>();

  constructor(readonly log: Log, private readonly clock: () => number) {
    this.state = new Entities(log.start);
  }

  catchUp(to = this.log.head): void {
    for (const item of this.log.items.slice(this.seq, to)) {
      apply(this.state, item.effects);
      this.last.set(item.client, { n: item.n, tag: item.tag });
      this.seq = item.seq;
    }
  }

  /** The item that it appended, the one that was there already, or the code of an answer. */
  commit(request: DraftRequest, by: string, knowsRepeats = true): { item: LogEntry; isNew: boolean } | string {
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const decided = this.decide(request, by, knowsRepeats);
      if (typeof decided !== "string" && this.log.append(decided)) {
        this.catchUp();
        return { item: decided, isNew: true };
      }
      if (decided === "known") {
        const item = this.log.items.find((one) => one.tag === request.tag);
        if (item !== undefined) return { item, isNew: false };
      }
      if (typeof decided === "string" && this.seq === this.log.head) return decided;
      this.catchUp();
    }
    return "busy";
  }

  private decide(request: DraftRequest, by: string, knowsRepeats: boolean): LogEntry | string {
    const { n, tag } = this.last.get(request.client) ?? { n: 0, tag: "" };
    const since = this.log.items.slice(request.base, this.seq);
    if (knowsRepeats && (since.some((item) => item.tag === request.tag) || (request.n === n && request.tag === tag))) return "known";
    if (knowsRepeats && request.n <= n) return "forked";
    if (request.n > n + 1 || request.base > this.seq || this.seq - request.base > MAX_BEHIND) return "stale";
    const { effects, outcomes } = resolve(this.state, request.operations, since);
    const at = Math.max(this.clock(), (this.log.items[this.seq - 1]?.at ?? 0) + 1);
    return { seq: this.seq + 1, client: request.client, n: request.n, tag: request.tag, by, at, effects, outcomes, closes: null };
  }
}

export const said = {
  welcome: (log: Log): string => message("welcome", [["epoch", log.epoch], ["head", log.head]]),
  item: (item: LogEntry): string => message("item", [["item", entryWritten(item)]]),
  items: (items: readonly LogEntry[], head: number): string => message("items", [["items", items.map(entryWritten)], ["head", head]]),
  answer: (request: DraftRequest, code: string, more: readonly (readonly [string, Json])[] = []): string =>
    message("answer", [["n", request.n], ["tag", request.tag], ["code", code], ...more]),
  closing: (code: number): string => message("closing", [["code", code]]),
};

function message(type: string, fields: Iterable<readonly [string, Json]>): string {
  return writeJson(object([["v", 1], ["t", type], ...fields]));
}

