/** Differences in words: what changed, and values as a person reads them. */
import { writeJson } from "../../editing/values/json.ts";
import { prefixOf } from "../../editing/state.ts";
import { isObject, type Json } from "../../editing/values/values.ts";
import { decoded, Digits, isMapping, isSequence, type Value } from "../../editing/values/encoding.ts";
import type { EntryChange, NodeChange } from "../../wire/draft/served.ts";

const MAX_NAMES = 4;

/** A value in one line where it fits, else as indented JSON. */
export function valueText(value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  const read = decoded(value);
  const line = written(read, null);
  return line.length <= 72 ? line : written(read, "");
}

function written(value: Value, indent: string | null): string {
  if (value instanceof Digits) return value.text;
  const deeper = indent === null ? null : `${indent}  `;
  if (isMapping(value)) return group([...value].map(([key, held]) => `${writeJson(key)}: ${written(held, deeper)}`), ["{", "}"], indent);
  if (isSequence(value)) return group(value.map((held) => written(held, deeper)), ["[", "]"], indent);
  return writeJson(value);
}

function group(parts: readonly string[], [open, close]: readonly [string, string], indent: string | null): string {
  if (parts.length === 0) return `${open}${close}`;
  if (indent === null) return `${open}${parts.join(", ")}${close}`;
  return `${open}\n${parts.map((part) => `${indent}  ${part}`).join(",\n")}\n${indent}${close}`;
}

export function isShort(text: string): boolean {
  return text.length <= 72 && !text.includes("\n");
}

/** `with.url`, or the name of the field itself. */
export function pathText(path: readonly string[]): string {
  return path.join(".");
}

/** The parts of a field's path that a reader counts as its name: `with` stands before every parameter. */
export function fieldName(path: readonly string[]): string {
  return path.length > 1 && path[0] === "with" ? pathText(path.slice(1)) : pathText(path);
}

/** In an entry of the history: `added pay, settle · changed score (url) · 3 placed`. Words that a later server has are shown as they are. */
export function changeWords(changes: readonly EntryChange[]): string {
  const groups = new Map<string, Map<string, string>>();
  for (const { what, key, id, formerId, fields } of changes) {
    const held = groups.get(what) ?? new Map<string, string>();
    const more = what === "renamed" && formerId !== "" ? `${formerId} to ` : "";
    held.set(key, `${more}${id || (key === "doc" ? "the workflow" : prefixOf(key))}${fields.length > 0 ? ` (${some(fields, 3)})` : ""}`);
    groups.set(what, held);
  }
  return [...groups].map(([what, names]) => {
    if (what === "placed") return `${names.size} ${names.size === 1 ? "node" : "nodes"} placed`;
    if (what === "typed") return "typed in the text";
    return `${what} ${some([...names.values()], MAX_NAMES)}`;
  }).join(" · ");
}

function some(names: readonly string[], most: number): string {
  return names.length <= most ? names.join(", ") : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}

const ORDER = ["added", "removed", "changed", "renamed", "moved"];

/** `2 added, 1 changed`; an empty text where nothing did. */
export function sumWords(nodes: readonly NodeChange[], fields: number): string {
  const counts = new Map<string, number>();
  for (const { change } of nodes) counts.set(change, (counts.get(change) ?? 0) + 1);
  const words = [...counts].sort(([left], [right]) => ORDER.indexOf(left) - ORDER.indexOf(right)).map(([change, count]) => `${count} ${change}`);
  const sum = words.length === 0 ? "" : `Nodes: ${words.join(", ")}`;
  return [sum, fields === 0 ? "" : `${fields} ${fields === 1 ? "setting" : "settings"} of the workflow`].filter(Boolean).join(" · ");
}

/** Whether a field's value is better read below its name. */
export function isBlock(value: Json | undefined): boolean {
  return isObject(value) ? !isShort(valueText(value)) : typeof value === "string" && !isShort(value);
}
