/** What a block says of itself in one line: of its parameters, the one by which people tell it from others of its kind. */
import { isList, isObject, type Json, type JsonObject } from "../../editing/values.ts";

const MOST = 80; // characters: a block shows about 20 of them, its title the rest
const ADDRESS = /^https?:\/\//;

type Telling = (given: JsonObject) => string;

const words = (...names: readonly string[]): Telling => (given) => names.map((name) => text(given.get(name))).filter((one) => one !== "").join(" ");

const TELLING: Readonly<Record<string, Telling>> = {
  webhook: words("method", "path"),
  schedule: (given) => text(given.get("cron")) || (text(given.get("rate")) === "" ? "" : `every ${text(given.get("rate"))}`),
  http: (given) => [text(given.get("method")), text(given.get("url")).replace(ADDRESS, "")].filter(Boolean).join(" "),
  function: words("call"), lambda: words("function"), aws: words("service", "action"), llm: words("model"), workflow: words("workflow"),
  condition: (given) => counted(given.get("cases"), "case"), router: (given) => counted(given.get("routes"), "route"),
  loop: (given) => text(given.get("times")) === "" ? text(given.get("items")) || text(given.get("while")) || text(given.get("do_while")) : `${text(given.get("times"))} times`,
  parallel: words("branches", "items"), approval: words("message"), callback: words("message"), wait: words("for", "until"), fail: words("code", "message"),
  transform: (given) => text(given.get("value")), set: (given) => namesIn(given.get("variables")), respond: words("status"),
};

/** `with` is what the node has; a kind that is not known, and one whose parameter is not set, say nothing. */
export function briefOf(type: string, given: Json | undefined): string {
  const telling = Object.hasOwn(TELLING, type) ? TELLING[type] : undefined;
  if (telling === undefined || !isObject(given)) return "";
  const [line = ""] = telling(given).trim().split("\n", 1);
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
