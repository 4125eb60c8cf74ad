/** The fields of a kind as controls of a form, from its JSON Schema. The server validates what is entered; a form only helps to enter it. */
import type { Kind, Part } from "../../canvas/model/kinds.ts";
import { isList, isObject, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { decoded, Digits, digitsOf, isMapping, isSequence, type Value } from "../../editing/values/encoding.ts";

/**
 * `scalar`: a text, a number or a boolean, as it is typed. `texts`: a list of texts. `map`: values by name. `cases`: expressions by
 * name. `set`: some of a few words. `variants`: objects of different forms. `any`: JSON as YAML text.
 */
export type Control =
  "text" | "lines" | "scalar" | "duration" | "whole" | "number" | "check" | "choice" | "set" | "texts" | "map" | "cases" | "object" | "variants" | "expression" | "any";

/** `ghost`: what counts where nothing is entered. `single`: a list of one may be written as its item. */
export interface Field {
  readonly name: string;
  readonly about: string;
  readonly required: boolean;
  readonly control: Control;
  readonly part: Part;
  readonly choices: readonly Json[];
  readonly ghost: string;
  readonly single: boolean;
  readonly fields: readonly Field[]; // of an object; of a map, the one that each value is
  readonly variants: readonly Variant[];
}

/** One form of an object, or a word or a whole number in its place. */
export interface Variant {
  readonly name: string;
  readonly word: Json | null;
  readonly number: boolean;
  readonly fields: readonly Field[];
}

const LONG_TEXT = 10_000;
const SHOWN_EXAMPLES = 3;
const MAX_DEPTH = 3; // of objects in objects; deeper ones are YAML
const NO_DEFINITIONS: JsonObject = new Map();

/** Required ones first, each group in the order of the schema. `body` of a container is the canvas'. */
export function fieldsOf(kind: Kind): Field[] {
  const { schema } = kind;
  if (schema === null) return [];
  const fields = propertiesOf(schema, definitionsOf(schema), 1, (name) => kind.parts.get(name) ?? "template");
  return kind.container ? fields.filter(({ name }) => name !== "body") : fields;
}

/** The other fields of nodes of a kind, or of a workflow, in the order of the schema. Nothing in it may have references. */
export function settingsOf(settings: JsonObject | null): Field[] {
  const fields = settings === null ? [] : propertiesOf(settings, definitionsOf(settings), 1, () => "literal");
  return fields.map((field) => (field.control === "lines" && field.name !== "description" ? { ...field, control: "text" } : field));
}

function definitionsOf(schema: JsonObject): JsonObject {
  const found = schema.get("$defs");
  return isObject(found) ? found : NO_DEFINITIONS;
}

function propertiesOf(schema: JsonObject, definitions: JsonObject, depth: number, partOf: (name: string) => Part): Field[] {
  const properties = schema.get("properties");
  const needed = schema.get("required");
  const required = new Set(isList(needed) ? needed : []);
  const made = isObject(properties) ? [...properties].flatMap(([name, about]) => (isObject(about) ? [fieldOf(name, about, required.has(name), partOf(name), definitions, depth)] : [])) : [];
  return [...made.filter((field) => field.required), ...made.filter((field) => !field.required)];
}

function fieldOf(name: string, schema: JsonObject, required: boolean, part: Part, definitions: JsonObject, depth: number): Field {
  const options = optionsOf(schema, definitions);
  const [only] = options.length === 1 ? options : [];
  const variants = only === undefined && depth < MAX_DEPTH ? variantsOf(options, definitions, depth, part) : [];
  const control = controlOf(options, part, variants.length > 0, depth);
  return {
    name, required, part, control, variants, about: textAt(schema, "description"), choices: control === "set" ? choicesOf(itemsOf(only)) : choicesOf(options[0]), ghost: ghostOf(schema, control, options[0]),
    single: options.some((one) => one.get("type") === "string"),
    fields: only === undefined ? [] : control === "object" ? propertiesOf(only, definitions, depth + 1, () => part) : control === "map" ? [valueOf(only, definitions, part)] : [],
  };
}

/** The field that each value of a map is: an object of the named type, what is typed, or a text where all of them are. */
function valueOf(schema: JsonObject, definitions: JsonObject, part: Part): Field {
  const patterns = schema.get("patternProperties");
  const [each] = isObject(patterns) ? [...patterns.values()].filter(isObject) : [];
  const [type] = each === undefined ? [] : optionsOf(each, definitions);
  if (type?.has("properties") === true) {
    return { name: "", about: "", required: true, control: "object", part, choices: [], ghost: "", single: false, fields: propertiesOf(type, definitions, 1, () => part), variants: [] };
  }
  const values = schema.get("additionalProperties");
  const control = isObject(values) && values.get("type") === "string" ? "text" : "scalar";
  return { name: "", about: "", required: true, control, part, choices: [], ghost: "", single: false, fields: [], variants: [] };
}

/** The forms that a value may have, without null and with what they refer to. */
function optionsOf(schema: JsonObject, definitions: JsonObject): JsonObject[] {
  const listed = schema.get("anyOf") ?? schema.get("oneOf");
  const options = isList(listed) ? listed.filter(isObject) : [schema];
  return options.flatMap((one) => {
    const name = textAt(one, "$ref").replace("#/$defs/", "");
    const found = definitions.get(name);
    return isObject(found) ? [found] : one !== schema && one.has("oneOf") ? optionsOf(one, definitions) : [one];
  }).filter((one) => one.get("type") !== "null");
}

function variantsOf(options: readonly JsonObject[], definitions: JsonObject, depth: number, part: Part): Variant[] {
  if (!options.some((one) => one.has("properties")) || !options.every((one) => one.has("properties") || one.has("const") || one.has("enum") || isWhole(one))) return [];
  return options.flatMap((one) => wordsOf(one)).map((one) => {
    const word = one.get("const") ?? null;
    const name = typeof word === "string" ? word : isWhole(one) ? "a number" : (textAt(one, "title") || "object").replace(/(?<=[a-z])(?:Merge|Document)$/, "").toLowerCase();
    return { name, word, number: isWhole(one), fields: one.has("properties") ? propertiesOf(one, definitions, depth + 1, () => part) : [] };
  });
}

function isWhole(schema: JsonObject): boolean {
  return schema.get("type") === "integer";
}

/** An enumeration as its words. */
function wordsOf(schema: JsonObject): JsonObject[] {
  const words = schema.get("enum");
  return isList(words) ? words.map((word) => new Map([["const", word]])) : [schema];
}

function itemsOf(schema: JsonObject | undefined): JsonObject | undefined {
  const items = schema?.get("items");
  return isObject(items) ? items : undefined;
}

function controlOf(options: readonly JsonObject[], part: Part, hasVariants: boolean, depth: number): Control {
  if (part === "cases") return "cases";
  if (part === "expression") return "expression";
  if (hasVariants) return "variants";
  const [only] = options;
  if (only === undefined) return "any";
  if (options.length === 1) return ofOne(only, depth);
  if (options.every(isScalar)) return "scalar";
  const [word, list] = options;
  const isOneOrMany = options.length === 2 && word?.get("type") === "string" && list?.get("type") === "array" && listsTexts(list);
  if (!isOneOrMany) return "any";
  return word.has("enum") ? "choice" : "texts";
}

function ofOne(schema: JsonObject, depth: number): Control {
  if (schema.has("enum") || schema.has("const")) return "choice";
  switch (schema.get("type")) {
    case "boolean":
      return "check";
    case "integer":
      return "whole";
    case "number":
      return "number";
    case "string":
      return ofText(schema);
    case "array":
      return itemsOf(schema)?.has("enum") === true ? "set" : listsTexts(schema) ? "texts" : "any";
    case "object":
      return schema.has("properties") ? (depth < MAX_DEPTH ? "object" : "any") : isMap(schema) ? "map" : "any";
    default:
      return "any";
  }
}

function ofText(schema: JsonObject): Control {
  const [examples, most] = [schema.get("examples"), schema.get("maxLength")];
  if (isList(examples) && examples.some((one) => one === "90s" || one === "90d")) return "duration";
  if (typeof most === "number") return most >= LONG_TEXT ? "lines" : "text";
  return schema.has("minLength") || schema.has("pattern") ? "text" : "lines";
}

function isScalar(schema: JsonObject): boolean {
  const type = schema.get("type");
  return type === "string" || type === "integer" || type === "number" || type === "boolean";
}

function listsTexts(schema: JsonObject): boolean {
  const items = schema.get("items");
  return isObject(items) && items.get("type") === "string";
}

/** Whether an object has values by any name, and no schemas in them. */
function isMap(schema: JsonObject): boolean {
  const values = schema.get("additionalProperties");
  const patterns = schema.get("patternProperties");
  if (isObject(patterns)) return true;
  if (values === true) return schema.has("propertyNames");
  if (!isObject(values)) return false;
  const options = values.get("anyOf");
  const each = isList(options) ? options.filter(isObject) : [values];
  return !each.some((one) => one.get("type") === "object") && !each.every((one) => one.has("$ref") || one.get("type") === "array");
}

function choicesOf(schema: JsonObject | undefined): readonly Json[] {
  const [listed, word] = [schema?.get("enum"), schema?.get("const")];
  return isList(listed) ? listed : word === undefined ? [] : [word];
}

function ghostOf(schema: JsonObject, control: Control, option: JsonObject | undefined): string {
  const fallback = schema.get("default");
  if (control === "set" && isList(fallback)) return fallback.map(String).join(" ");
  if (fallback !== undefined && fallback !== null) return typeof fallback === "string" ? fallback : digitsOf(fallback) ?? (typeof fallback === "object" ? "" : String(fallback));
  const examples = option?.get("examples");
  return control === "duration" && isList(examples) ? `such as ${examples.filter((one) => typeof one === "string").slice(0, SHOWN_EXAMPLES).join(", ")}` : "";
}

const FITS: Readonly<Record<Control, (value: Value, field: Field, kept: Json) => boolean>> = {
  text: isText, lines: isText, duration: isText, whole: isWritten, number: isWritten, object: isMapping, map: isMapping,
  scalar: isPlain, expression: isPlain,
  any: () => true,
  check: (value) => typeof value === "boolean",
  choice: (value, field, kept) => typeof value === "string" || field.choices.includes(kept),
  set: (value) => isSequence(value) && value.every(isText),
  texts: (value, field) => (typeof value === "string" ? field.single : isSequence(value) && value.every(isText)),
  cases: (value) => isMapping(value) && [...value.values()].every(isText),
  variants: (_, field, kept) => variantOf(field, kept) !== null,
};

/** Whether a control can show a value; one that it cannot is shown as YAML. */
export function fits(field: Field, value: Json | undefined): boolean {
  return value === undefined || FITS[field.control](decoded(value), field, value);
}

function isText(value: Value): boolean {
  return typeof value === "string";
}

/** A number, or a text that is to become one. */
function isWritten(value: Value): boolean {
  return typeof value === "number" || typeof value === "string" || value instanceof Digits;
}

function isPlain(value: Value): boolean {
  return value === null || typeof value !== "object" || value instanceof Digits;
}

/** The variant that a value has the form of: the first whose required fields it has. */
export function variantOf(field: Field, value: Json | undefined): Variant | null {
  if (typeof value === "number") return field.variants.find((one) => one.number) ?? null;
  const found = isObject(value)
    ? field.variants.find((one) => one.word === null && !one.number && one.fields.every((inner) => !inner.required || value.has(inner.name)))
    : field.variants.find((one) => one.word !== null && one.word === value);
  return found ?? null;
}

const REFERENCE = /<[A-Za-z_][\w-]*(?:[.[][^<>\s]*)?!?>|\$\{[A-Za-z_]\w*\}|\{\{/;

/** Whether a value is written as a reference, or with references in it. */
export function isReference(value: Json | undefined): boolean {
  return typeof value === "string" && REFERENCE.test(value);
}

/** Whether a field may have references in place of its values. */
export function takesReferences({ part, control }: Field): boolean {
  return part === "template" && control !== "object" && control !== "variants" && control !== "map";
}
