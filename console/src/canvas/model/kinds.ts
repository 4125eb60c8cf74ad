/** Holds the kinds of nodes that the server knows, and a default for a kind that it does not know. */
import { isList, isObject, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { GROUPS } from "../../wire/tables/kinds.ts";

/** What a text in a field of `with` is. `cases`: expressions by name. */
export type Part = "template" | "expression" | "cases" | "literal";

/**
 * `exits` are without `error`; where the server says null, they follow from the parameters. `schema` is that of `with`, and `parts`
 * are those of its fields; a field that is not among them is a template. `settings` is the schema of what nodes of this kind have in addition to
 * `with`: retries, time limits and the rest.
 */
export interface Kind {
  readonly name: string;
  readonly summary: string;
  readonly exits: readonly string[];
  readonly container: boolean;
  readonly entry: boolean; // a run may start at it: nothing leads there
  readonly schema: JsonObject | null;
  readonly parts: ReadonlyMap<string, Part>;
  readonly settings: JsonObject | null;
}

export type Kinds = ReadonlyMap<string, Kind>;

/** Reads the answer of `GET /kinds`. What is not understood of a kind is left out, the kind is kept. */
export function kindsRead(answer: Json): Kinds {
  const listed = isObject(answer) ? answer.get("kinds") : null;
  const node = isObject(answer) ? answer.get("node") : undefined;
  const made = new Map<string, Kind>();
  for (const one of isList(listed) ? listed : []) {
    if (!isObject(one)) continue;
    const exits = one.get("exits");
    const schema = one.get("schema");
    const name = textAt(one, "name");
    if (name === "") continue;
    made.set(name, {
      name, summary: textAt(one, "summary"), container: one.get("container") === true, entry: one.get("nature") === "entry",
      exits: isList(exits) ? exits.filter((exit) => typeof exit === "string") : ["source"],
      schema: isObject(schema) ? schema : null, parts: partsOf(one.get("parts")), settings: settingsOf(node, one.get("settings")),
    });
  }
  return made;
}

/** The schema of the fields of a workflow other than its nodes; null where the server does not say. */
export function workflowRead(answer: Json): JsonObject | null {
  const found = isObject(answer) ? answer.get("workflow") : null;
  return isObject(found) ? found : null;
}

function partsOf(given: Json | undefined): Kind["parts"] {
  return new Map(isObject(given) ? [...given].flatMap(([name, part]) => (isPart(part) ? [[name, part] as const] : [])) : []);
}

function settingsOf(node: Json | undefined, names: Json | undefined): JsonObject | null {
  const properties = isObject(node) ? node.get("properties") : undefined;
  if (!isObject(node) || !isObject(properties) || !isList(names)) return null;
  return new Map([...node, ["properties", new Map([...properties].filter(([name]) => names.includes(name)))]]);
}

function isPart(part: Json): part is Part {
  return part === "template" || part === "expression" || part === "cases" || part === "literal";
}

export interface Group {
  readonly title: string;
  readonly kinds: readonly Kind[];
}

/** The groups of the palette, in its order. Kinds of plug-ins are in the last one. */
export function grouped(kinds: Kinds): Group[] {
  const rest = new Map(kinds);
  const made = Object.entries(GROUPS).map(([group, names]) => ({
    title: group.slice(0, 1).toUpperCase() + group.slice(1),
    kinds: names.split(" ").flatMap((name) => {
      rest.delete(name);
      return kinds.get(name) ?? [];
    }),
  }));
  return [...made, { title: "Plug-ins", kinds: [...rest.values()] }].filter((group) => group.kinds.length > 0);
}
