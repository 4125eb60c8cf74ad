/** Describes a block in one line: shows, of its parameters, the one by which people tell it from others of its kind. */
import { isList, isObject, type Json, type JsonObject } from "../../editing/values/values.ts";
import { BRANCHES, BRIEFS } from "../../wire/tables/kinds.ts";

const MOST = 80; // characters: a block shows about 20 of them, its title the rest
const ADDRESS = /^https?:\/\//;

type Telling = (given: JsonObject) => string;

/** Where a value alone does not say it. */
const TELLING: Readonly<Record<string, Telling>> = {
  schedule: (given) => text(given.get("cron")) || (text(given.get("rate")) === "" ? "" : `every ${text(given.get("rate"))}`),
  loop: (given) => text(given.get("times")) === "" ? words("loop", given) : `${text(given.get("times"))} times`,
  set: (given) => namesIn(given.get("variables")),
};

function words(type: string, given: JsonObject): string {
  const branches = BRANCHES[type];
  if (branches !== undefined) return counted(given.get(branches), branches.slice(0, -1));
  return BRIEFS[type]?.split(" ").map((name) => text(given.get(name)).replace(ADDRESS, "")).filter(Boolean).join(" ") ?? "";
}

/** `with` is what the node has; a kind that is not known, and one whose parameter is not set, say nothing. */
export function briefOf(type: string, given: Json | undefined): string {
  if (!Object.hasOwn(BRIEFS, type) || !isObject(given)) return "";
  const [line = ""] = (TELLING[type]?.(given) ?? words(type, given)).trim().split("\n", 1);
  return line.length > MOST ? `${line.slice(0, MOST - 1)}…` : line;
}

function text(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  const digits = isObject(value) ? value.get("#") : undefined;
  if (typeof digits === "string") return digits;
  const items = isList(value) ? value : isObject(value) ? value.get("[]") : undefined; // a list of a draft keeps its items by key
  return isList(items) ? items.map((one) => text(one)).filter(Boolean).join(", ") : "";
}

function counted(value: Json | undefined, one: string): string {
  if (!isObject(value) || value.size === 0) return "";
  return `${value.size} ${one}${value.size === 1 ? "" : "s"}`;
}

function namesIn(value: Json | undefined): string {
  return isObject(value) ? [...value.keys()].join(", ") : "";
}
