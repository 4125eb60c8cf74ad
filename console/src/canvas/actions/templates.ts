/** What a node of a kind begins with. What stands there is meant to be replaced, and valid before it is. */
import type { Write } from "../../editing/log/effects.ts";
import type { State } from "../../editing/state.ts";
import { at, isObject, object, textAt, type JsonObject } from "../../editing/values/values.ts";

/** `with` of the node, and further writes that it needs. */
export interface Template {
  readonly given: JsonObject | null;
  readonly more: readonly Write[];
}

const MESSAGE = "update"; // the message that is declared with the first node that waits for one
const NO_MESSAGES: JsonObject = new Map();

/** `with` of the kinds for which the same can stand in each draft. */
const GIVEN: ReadonlyMap<string, JsonObject> = new Map([
  ["schedule", object([["cron", "0 7 * * *"]])],
  ["condition", object([["cases", object([["first", "<input> == 1"], ["second", "<input> == 2"], ["other", "else"]])]])],
  ["loop", object([["items", "[1, 2, 3]"]])],
  ["parallel", object([["items", "[1, 2, 3]"]])],
  ["distributed", object([["items", "[1, 2, 3]"]])],
  ["approval", object([["message", "Approve this request?"]])],
  ["wait", object([["for", "1h"]])],
  ["transform", object([["value", "<input>"]])],
  ["code", object([["code", "def main(args):\n    return args\n"]])],
  ["fail", object([["code", "failed"], ["message", "Say here what went wrong"]])],
]);

/** The names of nodes whose kind is a word that references reserve. */
const NAMES: Readonly<Record<string, string>> = { loop: "each", parallel: "all", workflow: "child" };

/** What a node is called that was added without a name. */
export function nameOf(kind: string): string {
  return NAMES[kind] ?? kind;
}

export function templateOf(state: State, kind: string): Template {
  switch (kind) {
    case "receive":
      return receiving(state);
    case "send":
      return { given: object([["workflow", textAt(state.get("doc") ?? NO_MESSAGES, "id")], ["key", "<run.id>"], ["message", firstMessage(state) ?? MESSAGE]]), more: [] };
    case "webhook":
      return { given: object([["path", `/${textAt(state.get("doc") ?? NO_MESSAGES, "id")}`]]), more: [] };
    default:
      return { given: GIVEN.get(kind) ?? null, more: [] };
  }
}

/** It waits for the first message of the workflow, which is declared where there is none. */
function receiving(state: State): Template {
  const name = firstMessage(state);
  const declared = at(state.get("doc"), ["messages"]);
  const more: Write[] = name !== null ? [] : isObject(declared) ? [["set", "doc", ["messages", MESSAGE], NO_MESSAGES]] : [["set", "doc", ["messages"], object([[MESSAGE, NO_MESSAGES]])]];
  return { given: object([["message", name ?? MESSAGE]]), more };
}

function firstMessage(state: State): string | null {
  const declared = at(state.get("doc"), ["messages"]);
  const [first] = isObject(declared) ? declared.keys() : [];
  return first ?? null;
}
