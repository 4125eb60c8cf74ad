/** Suggests completions of the text that is being typed: names of the scope after `<` and `.`, secrets after `${`, functions in an expression. */
import { isList, isObject, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import type { Scope } from "./scope.ts";
import { isFormula } from "./tokens.ts";

/** `insert` replaces what was typed from `from` on; the caret is `back` characters before its end. */
export interface Option {
  readonly label: string;
  readonly detail: string;
  readonly about: string;
  readonly insert: string;
  readonly back: number;
  readonly goesOn: boolean; // what is inside of it is offered next
}

export interface Completion {
  readonly from: number;
  readonly to: number;
  readonly options: readonly Option[];
}

const MAX_OPTIONS = 60;
const STARTED = /<([A-Za-z_][\w-]*)?((?:\.[\w-]*|\[-?\d*\]?)*)$/;
const SECRET = /\$\{([A-Za-z_]\w*)?$/;
const CALL = /(?:^|[^\w.<$'"])([A-Za-z_]\w*)$/;

/** `asked`: the person asks for it, so that an empty beginning has all names too. */
export function completing(source: string, at: number, scope: Scope, isExpression: boolean, asked = false): Completion | null {
  const before = source.slice(0, at);
  const started = STARTED.exec(before);
  if (started !== null) return ofReference(source, at, started, scope);
  const secret = SECRET.exec(before);
  if (secret !== null) return ofSecret(source, at, secret[1] ?? "", scope);
  const formula = isFormula(source, at, isExpression);
  const call = formula ? CALL.exec(before) : null;
  if (call !== null) return made(at - (call[1] ?? "").length, at, calls(scope, call[1] ?? ""));
  if (!asked) return null;
  const names = roots(scope, "", "<", ">");
  return made(at, at, formula ? [...names, ...calls(scope, "")] : names);
}

/** `typed`: how much of a name stands behind the caret, and goes with it; `close`: what is to be added at the end. */
interface Rest {
  readonly typed: number;
  readonly close: string;
}

function restOf(source: string, at: number): Rest {
  const rest = source.slice(at);
  const isClosed = /^[\w-]*(?:\.[\w-]*|\[-?\d*\])*!?>/.test(rest);
  return { typed: isClosed ? lengthOf(/^[\w-]*/.exec(rest)) : 0, close: isClosed ? "" : ">" };
}

function lengthOf(match: RegExpExecArray | null): number {
  return match === null ? 0 : match[0].length;
}

function ofReference(source: string, at: number, started: RegExpExecArray, scope: Scope): Completion | null {
  const [, name = "", path = ""] = started;
  const { typed, close } = restOf(source, at);
  if (path === "") return made(at - name.length, at + typed, roots(scope, name, "", close));
  const steps = [...path.matchAll(/\.([\w-]*)|\[(-?\d*)\]?/g)];
  const last = steps.at(-1);
  let shape = scope.roots.find((one) => one.name === name)?.shape ?? null;
  for (const step of steps.slice(0, -1)) shape = stepped(shape, step);
  if (shape === null || last === undefined) return null;
  const begun = last[1];
  return begun === undefined ? made(at - last[0].length, at + typed, indexes(shape, close)) : made(at - begun.length, at + typed, properties(shape, begun, close));
}

function ofSecret(source: string, at: number, typed: string, scope: Scope): Completion | null {
  const close = source.startsWith("}", at) ? "" : "}";
  const options = scope.env.filter((name) => fits(name, typed)).map((name) => ({ label: name, detail: "secret", about: "", insert: `${name}${close}`, back: 0, goesOn: false }));
  return made(at - typed.length, at, options);
}

function made(from: number, to: number, options: readonly Option[]): Completion | null {
  return options.length === 0 ? null : { from, to, options: options.slice(0, MAX_OPTIONS) };
}

function roots(scope: Scope, typed: string, open: string, close: string): Option[] {
  return ranked(scope.roots, typed, ({ name }) => name).map(({ name, detail, certain, shape }) => ({
    label: name, detail, about: certain ? about(shape) : `${about(shape)} may be null`.trim(), insert: `${open}${name}${close}`, back: close.length,
    goesOn: shape !== null && hasParts(shape),
  }));
}

function calls(scope: Scope, typed: string): Option[] {
  return ranked(scope.functions, typed, ({ name }) => name).map(({ name, calls: forms, about: meaning }) => ({
    label: name, detail: forms[0] ?? "", about: meaning, insert: `${name}()`, back: forms.includes(`${name}()`) ? 0 : 1, goesOn: false,
  }));
}

function properties(shape: JsonObject, typed: string, close: string): Option[] {
  const listed = shape.get("properties");
  if (isObject(listed)) {
    return ranked([...listed].filter(([name]) => /^[\w-]+$/.test(name)), typed, ([name]) => name).map(([name, value]) => option(name, isObject(value) ? value : null, name, close));
  }
  return typed === "" && isObject(shape.get("items")) ? [{ ...option("[0]", items(shape), "[0]", close), detail: "first item" }] : [];
}

function indexes(shape: JsonObject, close: string): Option[] {
  const inner = items(shape);
  return inner === null ? [] : [["[0]", "first item"], ["[-1]", "last item"]].map(([label = "", detail = ""]) => ({ ...option(label, inner, label, close), detail }));
}

function option(label: string, shape: JsonObject | null, insert: string, close: string): Option {
  return { label, detail: shape === null ? "" : textAt(shape, "type"), about: about(shape), insert: `${insert}${close}`, back: close.length, goesOn: shape !== null && hasParts(shape) };
}

function items(shape: JsonObject): JsonObject | null {
  const inner = shape.get("items");
  return isObject(inner) ? inner : null;
}

function hasParts(shape: JsonObject): boolean {
  return isObject(shape.get("properties")) || isObject(shape.get("items"));
}

function stepped(shape: JsonObject | null, step: RegExpExecArray): JsonObject | null {
  if (shape === null) return null;
  if (step[1] === undefined) return items(shape);
  const listed = shape.get("properties");
  const inner = isObject(listed) ? listed.get(step[1]) : undefined;
  return isObject(inner) ? inner : null;
}

/** What is known of a value: an example, or its description. */
function about(shape: JsonObject | null): string {
  if (shape === null) return "";
  const examples = shape.get("examples");
  const [example] = isList(examples) ? examples : [];
  if (example !== undefined) return written(example);
  return textAt(shape, "description");
}

function written(value: Json): string {
  return isObject(value) && value.has("#") ? textAt(value, "#") : JSON.stringify(value);
}

/** Those that begin as it was typed, then those that have it inside. */
function ranked<T>(all: readonly T[], typed: string, nameOf: (one: T) => string): T[] {
  const found = all.filter((one) => fits(nameOf(one), typed));
  const begins = (one: T): boolean => nameOf(one).toLowerCase().startsWith(typed.toLowerCase());
  return [...found.filter(begins), ...found.filter((one) => !begins(one))];
}

function fits(name: string, typed: string): boolean {
  return name.toLowerCase().includes(typed.toLowerCase());
}
