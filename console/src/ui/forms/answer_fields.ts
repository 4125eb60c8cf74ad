/** The fields of an answer as controls of a form, from their JSON Schemas, and what is typed as values. The server validates them. */
import type { Value } from "../../editing/values/encoding.ts";
import { typedValue, writtenOf } from "../../wire/exact.ts";

export type Control = "choice" | "check" | "whole" | "number" | "text" | "lines" | "json";

export type Schema = Readonly<Record<string, unknown>>;

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly control: Control;
  readonly choices: readonly unknown[];
  readonly initial: string;
}

const LONG_TEXT = 200;

export function fieldsOf(schemas: Readonly<Record<string, unknown>>): Field[] {
  return Object.entries(schemas).map(([name, given]) => {
    const schema: Schema = typeof given === "object" && given !== null ? given as Schema : {};
    const choices = Array.isArray(schema["enum"]) ? schema["enum"] as readonly unknown[] : [];
    const control = choices.length > 0 ? "choice" : controlOf(schema);
    const fallback = schema["default"];
    return {
      name, control, choices, label: text(schema["title"]) || name, hint: text(schema["description"]),
      initial: fallback === undefined ? control === "check" ? "false" : "" : typeof fallback === "string" && (control === "text" || control === "lines") ? fallback : writtenOf(fallback),
    };
  });
}

function controlOf(schema: Schema): Control {
  const type = schema["type"];
  if (type === "boolean") return "check";
  if (type === "integer") return "whole";
  if (type === "number") return "number";
  if (type !== "string") return "json";
  const most = schema["maxLength"];
  return typeof most === "number" && most > LONG_TEXT ? "lines" : "text";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The answer: a field that is left empty is left out, and what is not of the field's type stays text, which the server refuses. */
export function answerOf(fields: readonly Field[], typed: ReadonlyMap<string, string>): ReadonlyMap<string, Value> {
  const answer = new Map<string, Value>();
  for (const field of fields) {
    const given = typed.get(field.name) ?? field.initial;
    if (given === "" || (field.control !== "text" && field.control !== "lines" && given.trim() === "")) continue;
    answer.set(field.name, field.control === "text" || field.control === "lines" ? given : typedValue(given, field.control));
  }
  return answer;
}

/** Splits the sentences of a refusal into those of one field and the rest. */
export function faultsOf(violations: readonly string[], fields: readonly Field[]): { readonly whole: readonly string[]; readonly byField: ReadonlyMap<string, string> } {
  const [whole, byField] = [[] as string[], new Map<string, string>()];
  const names = fields.map(({ name }) => name).sort((left, right) => right.length - left.length);
  for (const said of violations) {
    const name = names.find((one) => [":", ".", "["].some((mark) => said.startsWith(one + mark)));
    if (name === undefined) whole.push(said);
    else if (!byField.has(name)) byField.set(name, said.slice(name.length).replace(/^:\s*/, ""));
  }
  return { whole, byField };
}

const VERBS: Readonly<Record<string, string>> = { approved: "Approve", rejected: "Reject" };

/** The button of an exit: a verb where there is one. */
export function verbOf(exit: string): string {
  return Object.hasOwn(VERBS, exit) ? VERBS[exit] ?? exit : exit.slice(0, 1).toUpperCase() + exit.slice(1).replaceAll("_", " ");
}
