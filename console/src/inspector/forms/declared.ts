/** The messages of a draft, as its forms offer them, and the operations that change one for all that name it. */
import { decoded, escaped, isMapping } from "../../editing/values/encoding.ts";
import { operation, type Operation } from "../../editing/log/operations.ts";
import type { State } from "../../editing/state.ts";
import { prefixOf } from "../../editing/state.ts";
import { at, isList, type Json } from "../../editing/values/values.ts";
import type { Write } from "../../editing/log/effects.ts";
import { entering, type Spot } from "./entering.ts";
import type { Field } from "./fields.ts";

export const MESSAGES: Spot = { key: "doc", path: ["messages"] };
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The names of the messages that a draft declares, in their order. */
export function messageNames(view: State): readonly string[] {
  const held = at(view.get("doc"), MESSAGES.path);
  const read = held === undefined ? null : decoded(held);
  return isMapping(read) ? [...read.keys()] : [];
}

/** A field that holds the name of a message, as a choice of those that there are. */
export function choosing(field: Field, names: readonly string[]): Field {
  return names.length === 0 ? field : { ...field, control: field.control === "texts" ? "set" : "choice", choices: names };
}

/** Why a message cannot have this name; null if it can. */
export function nameFault(name: string, others: readonly string[]): string | null {
  if (!NAME.test(name)) return "A name has letters, digits, _ and -, begins with a letter or _, and has at most 64 characters.";
  return others.includes(name) ? `Another message is named ${name}.` : null;
}

/** Names a message otherwise: in the list, in the nodes that wait for it and where it cancels. Null if there is none of this name. */
export function renameMessage(view: State, name: string, wanted: string, fresh: () => string): Operation | null {
  const held = at(view.get("doc"), MESSAGES.path);
  const read = held === undefined ? null : decoded(held);
  if (!isMapping(read) || !read.has(name)) return null;
  const renamed = entering(MESSAGES, held, held, new Map([...read].map(([key, one]) => [key === name ? wanted : key, one])), fresh);
  return operation([...renamed?.writes ?? [], ...cancelling(view, name, wanted, fresh), ...named(view, "receive", name).map((key): Write => ["set", key, ["with", "message"], wanted])]);
}

/** Takes a message out, with what it cancels. Nodes that wait for it stay, and are told of it. */
export function removeMessage(view: State, name: string, fresh: () => string): Operation {
  return operation([["unset", MESSAGES.key, [...MESSAGES.path, escaped(name)]], ...cancelling(view, name, null, fresh)]);
}

function cancelling(view: State, name: string, wanted: string | null, fresh: () => string): readonly Write[] {
  const held: Json | undefined = at(view.get("doc"), ["cancel_on"]);
  const read = held === undefined ? null : decoded(held);
  if (!isListOfTexts(read) || !read.includes(name)) return [];
  const left = read.flatMap((one) => (one === name ? wanted ?? [] : one));
  return entering({ key: "doc", path: ["cancel_on"] }, held, held, left.length === 0 ? undefined : left, fresh)?.writes ?? [];
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return isList(value as Json) && (value as readonly unknown[]).every((one) => typeof one === "string");
}

/** The keys of the blocks of a kind that name a message. */
function named(view: State, kind: string, name: string): readonly string[] {
  return [...view.keys()].filter((key) => prefixOf(key) === "block" && at(view.get(key), ["type"]) === kind && at(view.get(key), ["with", "message"]) === name);
}
