/** A form from a JSON Schema: one control for each property of an object, or one for a plain value. The server validates what is typed. */
import { Digits, isMapping, type Value } from "../../editing/values/encoding.ts";
import { jsonOf, typedValue, writtenOf } from "../../wire/exact.ts";

export type Schema = Readonly<Record<string, unknown>>;

export type Control = "choice" | "whole" | "number" | "text" | "lines" | "json";

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly control: Control;
  readonly choices: readonly unknown[];
  readonly ghost: string; // the default, which the server takes where nothing is given
  readonly required: boolean;
}

const LONG_TEXT = 200;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a schema, required ones first; null where it does not describe an object by its properties. */
export function formOf(schema: unknown): FormField[] | null {
  if (!isSchema(schema) || !isSchema(schema["properties"]) || (schema["type"] !== undefined && schema["type"] !== "object")) return null;
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const made = Object.entries(schema["properties"]).map(([name, given]) => fieldOf(name, isSchema(given) ? given : {}, required.has(name)));
  return [...made.filter((field) => field.required), ...made.filter((field) => !field.required)];
}

/** The controls for a value. `single`: the schema is that of a plain value, and its only field is the whole. */
export interface Shape {
  readonly fields: readonly FormField[];
  readonly single: boolean;
}

/** The controls that a schema describes, null for none. `name` is that of a plain value. */
export function shapeOf(schema: unknown, name: string): Shape | null {
  const fields = formOf(schema);
  if (fields !== null) return { fields, single: false };
  const field = isSchema(schema) ? fieldOf(name, schema, true) : null;
  return field === null || field.control === "json" ? null : { fields: [field], single: true };
}

/** What is typed, as the value that the schema describes. A plain value that is left empty is null. */
export function wholeOf({ fields, single }: Shape, typed: ReadonlyMap<string, string>): Value {
  const made = valueOf(fields, typed);
  return single ? made.get(fields[0]?.name ?? "") ?? null : made;
}

/** The texts of the controls for a value; null where it has what no control can show. */
export function textsOf({ fields, single }: Shape, value: Value): ReadonlyMap<string, string> | null {
  if (!single) return typedOf(fields, value);
  return value === null ? new Map() : typedOf(fields, new Map([[fields[0]?.name ?? "", value]]));
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): FormField {
  const given = Array.isArray(schema["enum"]) ? schema["enum"] as readonly unknown[] : [];
  const choices = given.length === 0 && schema["type"] === "boolean" ? [true, false] : given;
  const hasDefault = schema["default"] !== undefined;
  return {
    name, choices, control: choices.length > 0 ? "choice" : controlOf(schema), label: textOf(schema["title"]) || name, hint: textOf(schema["description"]),
    ghost: hasDefault ? shown(schema["default"]) : "", required: isRequired && !hasDefault,
  };
}

function controlOf(schema: Schema): Control {
  const type = schema["type"];
  if (type === "integer") return "whole";
  if (type === "number") return "number";
  if (type !== "string") return "json";
  const most = schema["maxLength"];
  return typeof most === "number" && most > LONG_TEXT ? "lines" : "text";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A value as its control shows it. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : writtenOf(value);
}

/** What is typed, as an object. An empty field is left out, and what is not of its type stays text, which the server refuses. */
export function valueOf(fields: readonly FormField[], typed: ReadonlyMap<string, string>): ReadonlyMap<string, Value> {
  const made = new Map<string, Value>();
  for (const { name, control } of fields) {
    const given = typed.get(name) ?? "";
    const isText = control === "text" || control === "lines";
    if (given === "" || (!isText && given.trim() === "")) continue;
    made.set(name, isText ? given : typedValue(given, control));
  }
  return made;
}

/** The texts of the fields for an object; null where it has what no field can show. */
export function typedOf(fields: readonly FormField[], value: Value): ReadonlyMap<string, string> | null {
  if (!isMapping(value)) return null;
  const known = new Map(fields.map((field) => [field.name, field]));
  const made = new Map<string, string>();
  for (const [name, held] of value) {
    const control = known.get(name)?.control;
    if (control === undefined) return null;
    const isText = control === "text" || control === "lines";
    if (isText && (typeof held !== "string" || held === "")) return null;
    if (control === "choice" && held instanceof Digits) return null; // the control shows what a double gives back
    made.set(name, isText ? held as string : jsonOf(held));
  }
  return made;
}

export interface Faults {
  readonly whole: readonly string[];
  readonly byField: ReadonlyMap<string, string>;
}

export const NO_FAULTS: Faults = { whole: [], byField: new Map() };

const MISSING = /^"((?:[^"\\]|\\.)*)" is a required property/;

/** Splits the sentences of a refusal into those about one field, by its name or a place below it, and the rest. */
export function faultsOf(violations: readonly string[], fields: readonly FormField[]): Faults {
  const [whole, byField] = [[] as string[], new Map<string, string>()];
  const names = fields.map(({ name }) => name).sort((left, right) => right.length - left.length);
  for (const said of violations) {
    const missing = MISSING.exec(said)?.[1];
    const name = names.find((one) => one === missing || [":", ".", "["].some((mark) => said.startsWith(one + mark)));
    if (name === undefined) whole.push(said);
    else if (!byField.has(name)) byField.set(name, name === missing ? "This is required." : said.slice(name.length).replace(/^:\s*/, ""));
  }
  return { whole, byField };
}
