/** Reads the beginning of a new workflow: nothing, or a text that is read here, or converted by the server. */
import { isMapping, isSequence, type Value } from "../editing/values/encoding.ts";
import { draftPath } from "../ui/addresses.ts";
import { Refusal, requestObject, requestWritten } from "../wire/api.ts";
import { jsonOf } from "../wire/exact.ts";
import { converted, foreign } from "../wire/imports.ts";

const ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MOST = 64;

/** Why a text is no id of a workflow; null where it is one. */
export function idFault(id: string): string | null {
  return ID.test(id) ? null : "An id has lower-case letters, digits and hyphens, begins with a letter or digit, and has at most 64 characters.";
}

/** The id that is nearest to a name; empty where it has no letter that an id may have. */
export function idLike(name: string): string {
  return name.normalize("NFKD").replace(/\p{Mark}/gu, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, MOST).replace(/-+$/, "");
}

/** `id`: the one that the document says, or its name as one. `text`: the author's, where the document was read from it. */
export interface Given {
  readonly id: string;
  readonly document: ReadonlyMap<string, Value>;
  readonly text: string | null;
  readonly findings: readonly string[];
}

/** What is shown where a text is no workflow. */
export class NoWorkflow extends Error {}

/** Reads a document, a fragment or an export. Throws `NoWorkflow`; rejects as the server does with an export that it cannot convert. */
export async function given(text: string): Promise<Given> {
  const yaml = await import("./yaml.ts");
  let value: Value;
  try {
    value = yaml.read(text);
  } catch (error) {
    if (!(error instanceof yaml.Unreadable)) throw error;
    throw new NoWorkflow(`${error.line === null ? "" : `Line ${error.line}: `}${error.message}`);
  }
  if (foreign(value) !== null) {
    const made = await converted(value);
    return begunWith(made.document, null, made.findings);
  }
  return begunWith(value, text, []);
}

function begunWith(document: Value, text: string | null, findings: readonly string[]): Given {
  if (!isMapping(document) || !isMapping(document.get("nodes"))) {
    const list = isMapping(document) && isSequence(document.get("nodes"));
    throw new NoWorkflow(list ? "`nodes` is a list. In a workflow it has one entry for each node, by its name." : "There are no `nodes`: expected a workflow in YAML or JSON, or an export of Sim or n8n.");
  }
  const [id, name] = [document.get("id"), document.get("name")];
  return { id: typeof id === "string" && idFault(id) === null ? id : idLike(typeof name === "string" ? name : typeof id === "string" ? id : ""), document, text, findings };
}

/** The document with this id, which is its first field. */
export function named(document: ReadonlyMap<string, Value>, id: string): ReadonlyMap<string, Value> {
  return new Map([["id", id], ...[...document].filter(([field]) => field !== "id")]);
}

/**
 * Opens a draft of a new workflow. Null where it is open; else why not: what is there already is never replaced. Rejects as the server
 * refuses.
 */
export async function begin(id: string, from: Given | null): Promise<string | null> {
  if (await isThere(draftPath(id))) return `A draft of ${id} already exists. Choose another id, or open it from the list.`;
  if (await isThere(`/workflows/${encodeURIComponent(id)}`)) return `A workflow ${id} is already published. Choose another id, or open a draft of it from the list.`;
  const text = from?.text ?? null;
  await requestWritten("POST", draftPath(id), from === null ? '{"from":"empty"}'
    : `{"from":"document","document":${jsonOf(named(from.document, id))}${text === null ? "" : `,"text":${JSON.stringify(text)}`}}`);
  return null;
}

const TRIES = 20;

/** Opens a draft of a text under its own id, or under the first that is free: `refund-2`. Returns that id, or why there is none. */
export async function beginAnew(text: string): Promise<{ readonly id: string; readonly why: string | null }> {
  const from = await given(text);
  let [id, why]: [string, string | null] = [from.id, null];
  for (let number = 2; number <= TRIES; number += 1) {
    why = await begin(id, from);
    if (why === null) break;
    id = `${from.id.slice(0, MOST - 3)}-${number}`;
  }
  return { id, why };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await requestObject("GET", path);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return false;
    throw error;
  }
}
