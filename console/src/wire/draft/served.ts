/** Reads what the server computes from a draft: its text, its differences, its history, what it takes to save and to publish it. */
import type { Operation } from "../../editing/log/operations.ts";
import { count, operationRead, list } from "../../editing/log/messages.ts";
import { isList, isObject, object, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { requestObject } from "../api.ts";

export interface Served {
  readonly seq: number;
  readonly format: "yaml" | "json";
  readonly text: string;
}

/** Operations over the state at a sequence; nothing of them is committed. */
export interface Meant {
  readonly seq: number;
  readonly operations: readonly Operation[];
}

export interface FieldChange {
  readonly path: readonly string[];
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export interface NodeChange {
  readonly change: string;
  readonly path: readonly string[];
  readonly key: string;
  readonly formerId: string;
  readonly fields: readonly FieldChange[];
}

/** `op` is one of ` `, `-`, `+` and `…` for lines that are left out. */
export interface LineChange {
  readonly op: string;
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
}

/** `against`: the number of a version, or the name of what it is held against. */
export interface Difference {
  readonly seq: number;
  readonly against: string;
  readonly nodes: readonly NodeChange[];
  readonly document: readonly FieldChange[];
  readonly lines: readonly LineChange[];
}

export interface EntryChange {
  readonly what: string;
  readonly key: string;
  readonly id: string;
  readonly formerId: string;
  readonly fields: readonly string[];
}

/** Neighbouring items of one person. */
export interface Entry {
  readonly from: number;
  readonly to: number;
  readonly at: string | number;
  readonly until: string | number;
  readonly by: string;
  readonly changes: readonly EntryChange[];
  readonly refused: number;
}

export interface Conflict {
  readonly key: string;
  readonly id: string;
  readonly path: readonly string[];
  readonly base: Json | undefined;
  readonly draft: Json | undefined;
  readonly file: Json | undefined;
  readonly from: string;
}

export type Against = "base" | number;

/** The routes of one draft. Each rejects as `request` does. */
export class Routes {
  private readonly path: string;

  constructor(readonly draft: string) {
    this.path = `/drafts/${encodeURIComponent(draft)}`;
  }

  async text(): Promise<Served> {
    const answer = await requestObject("GET", `${this.path}/yaml`);
    return { seq: count(answer, "seq"), format: answer.get("format") === "json" ? "json" : "yaml", text: textAt(answer, "text") };
  }

  /** What a text means over the state at a sequence. */
  async meant(seq: number, text: string): Promise<Meant> {
    return meantRead(await requestObject("POST", `${this.path}/yaml`, object([["seq", seq], ["text", text]])));
  }

  async difference(against: Against): Promise<Difference> {
    return differenceRead(await requestObject("GET", `${this.path}/diff?against=${against}`));
  }

  /** Newest first; `before`: only older ones. */
  async history(before: number | null): Promise<{ readonly entries: readonly Entry[]; readonly before: number | null }> {
    const answer = await requestObject("GET", `${this.path}/history?limit=50${before === null ? "" : `&before=${before}`}`);
    const entries = objects(answer, "entries").map((one): Entry => ({
      from: count(one, "from"), to: count(one, "to"), at: timeAt(one, "at"), until: timeAt(one, "until"), by: textAt(one, "by"), refused: numberAt(one, "refused") ?? 0,
      changes: objects(one, "changes").map((change) => ({
        what: textAt(change, "what"), key: textAt(change, "key"), id: textAt(change, "id"), formerId: textAt(change, "former_id"), fields: fieldNames(change.get("fields")),
      })),
    }));
    return { entries, before: numberAt(answer, "next_before") };
  }

  async restored(to: { readonly version: number } | { readonly seq: number }): Promise<Meant> {
    return meantRead(await requestObject("POST", `${this.path}/restore`, object(Object.entries(to))));
  }

  async publish(seq: number, message: string): Promise<number> {
    const body = object([["seq", seq], ...(message === "" ? [] : [["message", message] as const])]);
    return count(await requestObject("POST", `${this.path}/publish`, body), "version");
  }

  /** The name of the file; `file` chooses where two have this workflow. */
  async save(seq: number, file: string | null): Promise<string> {
    return textAt(await requestObject("POST", `${this.path}/save`, object([["seq", seq], ...(file === null ? [] : [["file", file] as const])])), "file");
  }

  async conflicts(): Promise<Conflict[]> {
    return objects(await requestObject("GET", `${this.path}/conflicts`), "conflicts").map((one) => ({
      key: textAt(one, "key"), id: textAt(one, "id"), path: texts(one.get("path")), from: textAt(one, "from"), base: one.get("base"), draft: one.get("draft"), file: one.get("file"),
    }));
  }

  async take(conflict: Conflict, side: "draft" | "file"): Promise<Meant> {
    return meantRead(await requestObject("POST", `${this.path}/conflicts`, object([["key", conflict.key], ["path", conflict.path], ["take", side]])));
  }
}

/** What differs between two versions of a workflow; of no item of a draft. */
export async function versionsDifference(workflow: string, from: number, to: number): Promise<Omit<Difference, "seq">> {
  return differenceRead(await requestObject("GET", `/workflows/${encodeURIComponent(workflow)}/diff?from=${from}&to=${to}`));
}

function differenceRead(answer: JsonObject): Difference {
  return {
    seq: numberAt(answer, "seq") ?? 0, against: nameOf(answer.get("against")), document: objects(answer, "document").map(fieldRead),
    nodes: objects(answer, "nodes").map((one) => ({
      change: textAt(one, "change"), path: texts(one.get("path")), key: textAt(one, "key"), formerId: textAt(one, "former_id"), fields: objects(one, "fields").map(fieldRead),
    })),
    lines: objects(answer, "lines").map((one) => ({ op: textAt(one, "op"), before: numberAt(one, "before"), after: numberAt(one, "after"), text: textAt(one, "text") })),
  };
}

function meantRead(answer: JsonObject): Meant {
  return { seq: count(answer, "seq"), operations: list(answer, "gestures").map(operationRead) };
}

function objects(value: JsonObject, name: string): JsonObject[] {
  const found = value.get(name);
  return isList(found) ? found.filter(isObject) : [];
}

function texts(value: Json | undefined): string[] {
  return isList(value) ? value.map((one) => (typeof one === "string" ? one : String(one as number))) : [];
}

function fieldNames(value: Json | undefined): string[] {
  return isList(value) ? value.flatMap((one) => (typeof one === "string" ? [one] : isList(one) ? [nameOfField(texts(one))] : [])) : [];
}

/** `with` stands before every parameter. */
function nameOfField(path: readonly string[]): string {
  return (path.length > 1 && path[0] === "with" ? path.slice(1) : path).join(".");
}

function fieldRead(one: JsonObject): FieldChange {
  const path = one.get("path");
  return { path: typeof path === "string" ? [path] : texts(path), before: one.get("before"), after: one.get("after") };
}

function numberAt(value: JsonObject, name: string): number | null {
  const found = value.get(name);
  return typeof found === "number" ? found : null;
}

function timeAt(value: JsonObject, name: string): string | number {
  const found = value.get(name);
  return typeof found === "number" ? found : textAt(value, name);
}

/** What a draft is held against, in words. */
function nameOf(against: Json | undefined): string {
  if (!isObject(against)) return "nothing";
  const version = numberAt(against, "version");
  return version !== null ? `v${version}` : textAt(against, "file") || "nothing";
}
