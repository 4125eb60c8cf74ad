/** What a node of a kind begins with. What stands there is meant to be replaced, and valid before it is. */
import type { Write } from "../../editing/log/effects.ts";
import type { State } from "../../editing/state.ts";
import { at, isObject, object, textAt, type JsonObject } from "../../editing/values/values.ts";

/** `with` of the node, and further writes that it needs. */
export interface Template {
  readonly given: JsonObject | null;
  readonly more: readonly Write[];
}

const NOTHING: Template = { given: null, more: [] };
const MESSAGE = "update"; // the message that is declared with the first node that waits for one
const NO_MESSAGES: JsonObject = new Map();

export function templateOf(state: State, kind: string): Template {
  switch (kind) {
    case "receive":
      return receiving(state);
    case "send":
      return { given: object([["workflow", textAt(state.get("doc") ?? NO_MESSAGES, "id")], ["key", "<run.id>"], ["message", firstMessage(state) ?? MESSAGE]]), more: [] };
    default:
      return NOTHING;
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
