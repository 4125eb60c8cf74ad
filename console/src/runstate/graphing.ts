/** The graph of a run: the nodes of its version by path (`x@l` is `x` in the container `l`), as the canvas draws them. */
import { isList, isObject, textAt, type Json, type JsonObject } from "../editing/values/values.ts";
import { briefOf } from "../canvas/model/briefs.ts";
import { ERROR, isEnabled, SOURCE, type Block, type Graph, type Wire } from "../canvas/model/graph.ts";
import { BRANCHES, EXITS } from "../wire/tables/kinds.ts";

const MAX_DEPTH = 20;

export function graphOfDocument(document: JsonObject): Graph {
  const made = { blocks: new Map<string, Block>(), wires: new Map<string, Wire>(), children: new Map<string | null, readonly string[]>(), places: new Map<string, readonly [number, number]>() };
  addBody(document, null, made, 0);
  return made;
}

interface Making {
  readonly blocks: Map<string, Block>;
  readonly wires: Map<string, Wire>;
  readonly children: Map<string | null, readonly string[]>;
}

function addBody(body: JsonObject, parent: string | null, made: Making, depth: number): void {
  const nodes = body.get("nodes");
  if (!isObject(nodes) || depth > MAX_DEPTH) return;
  const pathOf = (id: string): string => parent === null ? id : `${id}@${parent}`;
  const tools = toolsOf(nodes);
  const exits = new Map<string, Set<string>>();
  const edges = edgesOf(body, nodes).filter(({ source, target }) => nodes.has(source) && nodes.has(target) && !tools.has(source) && !tools.has(target));
  for (const { source, handle, target } of edges) {
    const tail = `${pathOf(source)}>${handle}>${pathOf(target)}`;
    made.wires.set(tail, { tail, source: pathOf(source), target: pathOf(target), handle, param: "" });
    const known = exits.get(source);
    if (known === undefined) exits.set(source, new Set([handle]));
    else known.add(handle);
  }
  const children: string[] = [];
  for (const [id, node] of nodes) {
    if (!isObject(node) || tools.has(id)) continue;
    const path = pathOf(id);
    const given = node.get("with");
    const body = isObject(given) ? given.get("body") : undefined;
    const inner = isObject(body) && isObject(body.get("nodes")) ? body : undefined; // a response may have a body, too
    children.push(path);
    made.blocks.set(path, {
      tail: path, id, type: textAt(node, "type"), parent, order: "", container: isObject(inner), entry: false, enabled: isEnabled(node),
      exits: ordered(exits.get(id), branchesOf(node)), brief: briefOf(textAt(node, "type"), given),
    });
    if (isObject(inner)) addBody(inner, path, made, depth + 1);
  }
  made.children.set(parent, children);
}

/** The exits of a node in the order in which they are written, or in which its kind has them. */
function branchesOf(node: JsonObject): readonly string[] {
  const given = node.get("with");
  const type = textAt(node, "type");
  const branches = isObject(given) ? given.get(Object.hasOwn(BRANCHES, type) ? BRANCHES[type] ?? "" : "") : undefined;
  return isObject(branches) ? [...branches.keys()] : Object.hasOwn(EXITS, type) ? EXITS[type]?.split(" ") ?? [] : [];
}

function ordered(found: ReadonlySet<string> | undefined, written: readonly string[]): readonly string[] {
  const place = (exit: string): number => written.includes(exit) ? written.indexOf(exit) : written.length;
  const exits = [...(found ?? [SOURCE])].filter((exit) => exit !== ERROR).sort((left, right) => place(left) - place(right));
  return found?.has(ERROR) === true ? [...exits, ERROR] : exits;
}

interface Edge {
  readonly source: string;
  readonly handle: string;
  readonly target: string;
}

function edgesOf(body: JsonObject, nodes: JsonObject): Edge[] {
  const found: Edge[] = [];
  const add = (source: string, handle: string, target: string): void => { found.push({ source, handle: handle === "onError" ? ERROR : handle === "" ? SOURCE : handle, target }); };
  for (const [target, node] of nodes) {
    const after = isObject(node) ? node.get("after") : undefined;
    for (const entry of after === undefined ? [] : isList(after) ? after : [after]) {
      const text = typeof entry === "string" ? entry : isObject(entry) ? textAt(entry, "from") : "";
      const dot = text.indexOf(".");
      if (text !== "") add(dot < 0 ? text : text.slice(0, dot), dot < 0 ? "" : text.slice(dot + 1), target);
    }
  }
  const edges = body.get("edges");
  for (const edge of isList(edges) ? edges : []) if (isObject(edge)) add(textAt(edge, "source"), textAt(edge, "handle"), textAt(edge, "target"));
  return found;
}

/** Nodes that are tools of a model: they are called by it, and are no steps. */
function toolsOf(nodes: JsonObject): ReadonlySet<string> {
  const found = new Set<string>();
  for (const node of nodes.values()) {
    const given: Json | undefined = isObject(node) ? node.get("with") : undefined;
    const tools = isObject(given) ? given.get("tools") : undefined;
    for (const tool of isList(tools) ? tools : []) if (isObject(tool) && textAt(tool, "node") !== "") found.add(textAt(tool, "node"));
  }
  return found;
}
