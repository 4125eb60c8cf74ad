/**
 * Keeps the edits of a tab in its storage, in rows under its client's id, so that one edit writes what it changed:
 *
 *     head         {epoch, seq, n, at, sent?: {n, tag, base, parts}, unsent, undos, redos, listed}: numbers of the rows below;
 *                  called?: [{key, name, readers}], the names of added blocks that texts mean
 *     part/N       {operation, origin, typed, entry?, former?}
 *     entry/N      {operation, begun}: what takes an action back
 *     listed/N     an operation that waits for a person's word
 *
 * `Written` makes the rows and knows which of them are stored already; `kept` reads them.
 */
import type { Operation } from "../../log/operations.ts";
import { readObject, writeJson } from "../../values/json.ts";
import { count, operationRead, operationWritten, list, text } from "../../log/messages.ts";
import type { Entry, Origin, Pending, Sent } from "../../replica/pending.ts";
import type { Replica } from "../../replica/replica.ts";
import type { Called } from "../../rules/following.ts";
import { EMPTY, isObject, object, type Json, type JsonObject } from "../../values/values.ts";

/** A replica without its state. */
export interface Kept {
  readonly client: string;
  readonly epoch: number;
  readonly seq: number;
  readonly n: number;
  readonly at: number;
  readonly sent: Sent | null;
  readonly unsent: readonly Pending[];
  readonly undos: readonly Entry[];
  readonly redos: readonly Entry[];
  readonly listed: readonly Operation[];
  readonly called: readonly Called[];
}

export function prefix(draft: string, client = ""): string {
  return client === "" ? `${encodeURIComponent(draft)}/` : `${encodeURIComponent(draft)}/${client}/`;
}

export class Written {
  private readonly numbers = new WeakMap<object, number>();
  private next = 0;
  private stored = new Map<string, unknown>(); // each row with what it was made from

  /** The rows that differ from those stored, null for one to remove. What it returns counts as stored. */
  changes(replica: Replica, draft: string, epoch: number, at: number, listed: readonly Operation[]): Map<string, string | null> {
    const start = prefix(draft, replica.client);
    const rows = new Map<string, [source: unknown, make: () => Json]>();
    const entry = (one: Entry): number => {
      const number = this.numberOf(one);
      const made = (): Json => object([["gesture", operationWritten(one.operation)], ["begun", one.begun]]);
      rows.set(`${start}entry/${number}`, [one.begun ? null : one.operation, made]);
      return number;
    };
    const part = (one: Pending): number => {
      const number = this.numberOf(one);
      const fields: [string, Json][] = [["origin", one.origin], ["typed", one.typed]];
      if (one.entry !== null) fields.push(["entry", entry(one.entry)]);
      if (one.former !== null) fields.push(["former", entry(one.former)]);
      rows.set(`${start}part/${number}`, [one.operation, () => object([["gesture", operationWritten(one.operation)], ...fields])]);
      return number;
    };
    const waiting = listed.map((one) => {
      const number = this.numberOf(one);
      rows.set(`${start}listed/${number}`, [one, () => operationWritten(one)]);
      return number;
    });
    const { sent } = replica;
    const head: [string, Json][] = [["epoch", epoch], ["seq", replica.seq], ["n", replica.n], ["at", at]];
    if (sent !== null) head.push(["sent", object([["n", sent.n], ["tag", sent.tag], ["base", sent.base], ["parts", sent.parts.map(part)],
      ...(sent.first === undefined ? [] : [["first", sent.first] as const])])]);
    head.push(["unsent", replica.unsent.map(part)], ["undos", replica.stacks.undos.map(entry)], ["redos", replica.stacks.redos.map(entry)]);
    head.push(["listed", waiting]);
    const called = replica.called();
    if (called.length > 0) head.push(["called", called.map(({ key, name, readers }) => object([["key", key], ["name", name], ["readers", readers]]))]);
    rows.set(`${start}head`, [null, () => object(head)]);
    return this.difference(rows);
  }

  private difference(rows: ReadonlyMap<string, readonly [source: unknown, make: () => Json]>): Map<string, string | null> {
    const changed = new Map<string, string | null>();
    for (const [key, [source, make]] of rows) {
      if (source === null || this.stored.get(key) !== source) changed.set(key, writeJson(make()));
    }
    for (const key of this.stored.keys()) if (!rows.has(key)) changed.set(key, null);
    this.stored = new Map([...rows].map(([key, [source]]) => [key, source]));
    return changed;
  }

  /** Rows of this client that were there before. */
  found(keys: Iterable<string>): void {
    for (const key of keys) this.stored.set(key, undefined);
    this.next = Math.max(this.next, ...[...this.stored.keys()].map((key) => Number(key.split("/").at(-1)) || 0)) + 1;
  }

  private numberOf(one: object): number {
    const held = this.numbers.get(one);
    if (held !== undefined) return held;
    this.numbers.set(one, this.next);
    this.next += 1;
    return this.next - 1;
  }
}

/** What the rows of a client hold; null where they have no head. Throws a SyntaxError where a row is malformed. */
export function kept(draft: string, client: string, rows: ReadonlyMap<string, string>): Kept | null {
  const start = prefix(draft, client);
  const headText = rows.get(`${start}head`);
  if (headText === undefined) return null;
  const head = readObject(headText);
  const row = (prefix: string, number: Json | undefined): JsonObject => readObject(rows.get(`${start}${prefix}/${writeJson(number ?? null)}`) ?? "");
  const entries = new Map<string, Entry>();
  const entry = (number: Json | undefined): Entry => {
    const name = writeJson(number ?? null);
    const held = entries.get(name);
    if (held !== undefined) return held;
    const fields = row("entry", number);
    const made: Entry = { operation: operationRead(fields.get("gesture") ?? null), begun: fields.get("begun") === true };
    entries.set(name, made);
    return made;
  };
  const part = (number: Json): Pending => {
    const fields = row("part", number);
    return {
      operation: operationRead(fields.get("gesture") ?? null), origin: originOf(text(fields, "origin")), typed: fields.get("typed") === true,
      entry: fields.has("entry") ? entry(fields.get("entry")) : null, former: fields.has("former") ? entry(fields.get("former")) : null,
    };
  };
  const sent = head.get("sent");
  return {
    client, epoch: epochOf(head), seq: count(head, "seq"), n: count(head, "n"), at: count(head, "at"),
    sent: isObject(sent)
      ? { n: count(sent, "n"), tag: text(sent, "tag"), base: count(sent, "base"), parts: list(sent, "parts").map(part), lost: [],
        ...(sent.has("first") ? { first: text(sent, "first") } : {}) } : null,
    unsent: list(head, "unsent").map(part), undos: list(head, "undos").map(entry), redos: list(head, "redos").map(entry),
    listed: list(head, "listed").map((number) => operationRead(row("listed", number))),
    called: head.has("called") ? list(head, "called").map(calledRead) : [],
  };
}

/** A number; the first rows of this form had its digits as a text. */
function epochOf(head: JsonObject): number {
  return typeof head.get("epoch") === "string" ? Number(text(head, "epoch")) : count(head, "epoch");
}

function calledRead(value: Json): Called {
  const fields = isObject(value) ? value : EMPTY;
  const readers = list(fields, "readers").filter((one) => typeof one === "string");
  return { key: text(fields, "key"), name: text(fields, "name"), readers };
}

function originOf(word: string): Origin {
  return word === "undo" || word === "redo" ? word : "edit";
}
