/** Reads the names that an expression may refer to, and its value: from the server, whose evaluator is the engine's. */
import { isList, isObject, object, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { requestObject } from "../../wire/api.ts";

/** A name that a reference may start with. `shape` is a JSON Schema; null where nothing is known. */
export interface Root {
  readonly name: string;
  readonly what: string;
  readonly detail: string;
  readonly certain: boolean;
  readonly shape: JsonObject | null;
}

export interface Call {
  readonly name: string;
  readonly calls: readonly string[];
  readonly about: string;
}

export interface Scope {
  readonly roots: readonly Root[];
  readonly env: readonly string[];
  readonly functions: readonly Call[];
}

export interface Fault {
  readonly message: string;
  readonly mend: string;
  readonly offset: number;
  readonly length: number;
}

/** `value` is undefined where there is a fault, or where only a `preview` of it is known. */
export interface Worth {
  readonly run: string | null;
  readonly value: Json | undefined;
  readonly preview: string | null;
  readonly fault: Fault | null;
  readonly nulls: readonly string[];
  readonly unread: readonly string[];
}

/** What is to be evaluated: an expression, or a text with references. `node` is the key of a block. */
export interface Asked {
  readonly draft: string;
  readonly node: string;
  readonly source: string;
  readonly isExpression: boolean;
  readonly place: string;
}

export async function readScope(draft: string, node: string, signal?: AbortSignal): Promise<Scope> {
  const answer = await requestObject("GET", `/drafts/${encodeURIComponent(draft)}/scope?node=${encodeURIComponent(node)}`, undefined, signal);
  return {
    roots: objects(answer.get("roots")).map((one) => {
      const shape = one.get("shape");
      return { name: textAt(one, "name"), what: textAt(one, "what"), detail: textAt(one, "detail"), certain: one.get("certain") === true, shape: isObject(shape) ? shape : null };
    }),
    env: texts(answer.get("env")),
    functions: objects(answer.get("functions")).map((one) => ({ name: textAt(one, "name"), calls: texts(one.get("calls")), about: textAt(one, "about") })),
  };
}

export async function evaluate({ draft, node, source, isExpression, place }: Asked, signal: AbortSignal): Promise<Worth> {
  const body = object([["node", node], [isExpression ? "expression" : "text", source], ["place", place]]);
  const answer = await requestObject("POST", `/drafts/${encodeURIComponent(draft)}/evaluate`, body, signal);
  const [run, error, preview] = [answer.get("run"), answer.get("error"), answer.get("preview")];
  return {
    run: isObject(run) ? textAt(run, "run_id") : null, value: answer.get("value"), preview: typeof preview === "string" ? preview : null,
    fault: isObject(error) ? { message: textAt(error, "message"), mend: textAt(error, "mend"), offset: Number(error.get("offset")), length: Number(error.get("length")) } : null,
    nulls: texts(answer.get("nulls")), unread: texts(answer.get("unread")),
  };
}

function objects(value: Json | undefined): JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

function texts(value: Json | undefined): string[] {
  return isList(value) ? value.filter((one) => typeof one === "string") : [];
}
