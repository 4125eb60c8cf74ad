/** One published version: its document, its source. */
import { graphOfDocument } from "../runstate/graphing.ts";
import type { Graph } from "../canvas/model/graph.ts";
import { isObject, textAt, type JsonObject } from "../editing/values/values.ts";
import { liftedRead, linesRead, madeRead, type Made, type Node } from "../source/made.ts";
import { Source } from "../source/source.ts";
import { requestObject, requestText } from "../wire/api.ts";

export interface Version {
  readonly workflow: string;
  readonly number: number;
  readonly name: string;
  readonly at: string;
  readonly document: JsonObject;
  readonly made: Made | null;
}

export async function versionAt(workflow: string, number: number): Promise<Version> {
  const answer = await requestObject("GET", pathOf(workflow, number));
  const document = answer.get("document");
  if (!isObject(document)) throw new SyntaxError("the version has no document");
  return { workflow, number, name: textAt(answer, "name") || workflow, at: textAt(answer, "published_at"), document, made: madeRead(document.get("made_by")) };
}

/** The text as its author wrote it, where a version was not compiled. */
export async function textOf({ workflow, number }: Version): Promise<string> {
  return await requestText(`${pathOf(workflow, number)}?format=yaml`);
}

/** The number of the newest version. */
export async function newestOf(workflow: string): Promise<number> {
  return Number((await requestObject("GET", `/workflows/${encodeURIComponent(workflow)}`)).get("version"));
}

function pathOf(workflow: string, number: number): string {
  return `/workflows/${encodeURIComponent(workflow)}/versions/${number}`;
}

/** The graph of a version, and its source next to it. */
export function drawn({ document, made }: Version): { readonly graph: Graph; readonly source: Source | null } {
  const graph = graphOfDocument(document);
  const led = new Set([...graph.wires.values()].map((wire) => wire.target));
  const found = nodesOf(document);
  const nodes = [...graph.blocks.values()].map((block): Node => (
    { tail: block.tail, type: block.type, entry: block.parent === null && !led.has(block.tail), at: linesRead(found.get(block.tail) ?? new Map()), lifted: liftedRead(found.get(block.tail) ?? new Map()) }
  ));
  return { graph, source: made === null ? null : new Source(made, nodes) };
}

const MAX_DEPTH = 20;

/** The nodes of a document by path: `x@l` is `x` in the container `l`. */
export function nodesOf(document: JsonObject): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  const add = (body: JsonObject, parent: string, depth: number): void => {
    const nodes = body.get("nodes");
    if (!isObject(nodes) || depth > MAX_DEPTH) return;
    for (const [id, node] of nodes) {
      if (!isObject(node)) continue;
      const path = parent === "" ? id : `${id}@${parent}`;
      found.set(path, node);
      const given = node.get("with");
      const inner = isObject(given) ? given.get("body") : undefined;
      if (isObject(inner)) add(inner, path, depth + 1);
    }
  };
  add(document, "", 0);
  return found;
}
