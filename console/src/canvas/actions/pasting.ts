/** A fragment, or a whole document, as blocks: what a paste adds. */
import type { Write } from "../../editing/log/effects.ts";
import { operation, type Operation } from "../../editing/log/operations.ts";
import { spread } from "../../editing/values/orders.ts";
import type { State } from "../../editing/state.ts";
import { EMPTY, object, type Json } from "../../editing/values/values.ts";
import { encoded, escaped, isMapping, isSequence, type Value } from "../../editing/values/encoding.ts";
import { ERROR, SOURCE } from "../model/graph.ts";
import type { Fresh } from "../model/keys.ts";
import type { Kinds } from "../model/kinds.ts";
import { lastOrder } from "./places.ts";

/** Names of a block's own fields: a document's field of such a name is kept with a backslash in front. */
const OWN: ReadonlySet<string> = new Set(["id", "parent", "order", "rest"]);
const ENDS: ReadonlySet<string> = new Set(["from", "source", "target", "handle"]);

export interface Pasted {
  readonly operation: Operation;
  readonly tails: readonly string[];
}

type Mapping = ReadonlyMap<string, Value>;

/** What a document says of the workflow as a whole. */
const OF_A_DOCUMENT: ReadonlySet<string> = new Set(["name", "description", "variables", "env", "on_failure", "max_steps", "timeout_ms", "concurrency", "rate_limit"]);

/** What a whole document says of its workflow, where the draft says nothing of it yet: for a draft that begins with a paste. */
export function settings(state: State, value: Value, fresh: Fresh): Write[] {
  const doc = state.get("doc");
  if (!isMapping(value) || doc === undefined) return [];
  const before = doc.has("nodes") ? "nodes" : null;
  return [...value].filter(([field]) => OF_A_DOCUMENT.has(field) && !doc.has(field)).map(([field, held]): Write => ["set", "doc", [field], encoded(held, fresh), before]);
}

/** Null where the value has no `nodes`. The rules give names that are taken a free one, and the references within follow. */
export function paste(state: State, kinds: Kinds, value: Value, parent: string | null, fresh: Fresh): Pasted | null {
  if (!isMapping(value) || !isMapping(value.get("nodes"))) return null;
  const reading = new Reading(kinds, fresh);
  const tails = reading.body(value, parent, lastOrder(state, parent));
  return tails.length === 0 ? null : { operation: operation(reading.writes), tails };
}

class Reading {
  readonly writes: Write[] = [];

  constructor(private readonly kinds: Kinds, private readonly fresh: Fresh) {}

  /** Writes the nodes and edges of a body, with orders that begin with `from`; the tails of its blocks. */
  body(given: Mapping, parent: string | null, from: string): string[] {
    const nodes = given.get("nodes");
    if (!isMapping(nodes)) return [];
    const orders = spread(nodes.size);
    const named = new Map([...nodes.keys()].map((id) => [id, this.fresh()]));
    [...nodes].forEach(([id, fields], place) => {
      this.block(named.get(id) ?? "", id, isMapping(fields) ? fields : new Map(), parent, `${from}${orders[place] ?? "V"}`);
    });
    for (const [id, fields] of nodes) if (isMapping(fields)) this.incoming(named.get(id) ?? "", fields.get("after"), named);
    const listed = given.get("edges");
    const entries = isSequence(listed) ? listed : [];
    const places = spread(entries.length);
    entries.forEach((entry, place) => {
      if (!isMapping(entry)) return;
      const [source, target] = [end(entry.get("source"), named), end(entry.get("target"), named)];
      if (source !== undefined && target !== undefined) this.edge(source, entry.get("handle"), target, entry, places[place] ?? "V");
    });
    return [...named.values()];
  }

  private block(tail: string, id: string, fields: Mapping, parent: string | null, order: string): void {
    const type = fields.get("type");
    const inner = this.bodyOf(fields);
    const made = new Map<string, Json>([["id", id], ["parent", parent], ["order", order]]);
    if (typeof type === "string") made.set("type", type);
    made.set("after", isSequence(fields.get("after")) ? "list" : "one");
    for (const [field, value] of fields) {
      if (field === "type" || field === "after") continue;
      made.set(OWN.has(field) ? `\\${field}` : escaped(field), field === "with" && inner !== null ? EMPTY : encoded(value, this.fresh));
    }
    this.writes.push(["put", `block/${tail}`, made]);
    if (inner !== null) this.subflow(tail, fields.get("with"), inner);
  }

  private subflow(tail: string, given: Value | undefined, inner: Mapping): void {
    const made = new Map<string, Json>();
    for (const [field, value] of isMapping(given) ? given : []) {
      if (field !== "body") made.set(field === "rest" ? "\\rest" : escaped(field), encoded(value, this.fresh));
    }
    made.set("body", object([["nodes", null]]));
    this.writes.push(["put", `subflow/${tail}`, made]);
    this.body(inner, tail, "V");
  }

  /** The body of a container; null for a node that is none. */
  private bodyOf(fields: Mapping): Mapping | null {
    const [type, given] = [fields.get("type"), fields.get("with")];
    const inner = isMapping(given) ? given.get("body") : undefined;
    const known = typeof type === "string" ? this.kinds.get(type)?.container : undefined;
    return isMapping(inner) && (known ?? isMapping(inner.get("nodes"))) ? inner : null;
  }

  private incoming(target: string, after: Value | undefined, named: ReadonlyMap<string, string>): void {
    const entries = isSequence(after) ? after : after === undefined ? [] : [after];
    const orders = spread(entries.length);
    entries.forEach((entry, place) => {
      const from = isMapping(entry) ? entry.get("from") : entry;
      if (typeof from !== "string") return;
      const dot = from.indexOf(".");
      const source = named.get(dot < 0 ? from : from.slice(0, dot));
      if (source === undefined) return;
      this.edge(source, dot < 0 ? undefined : from.slice(dot + 1), target, isMapping(entry) ? entry : null, orders[place] ?? "V");
    });
  }

  private edge(source: string, handle: Value | undefined, target: string, entry: Mapping | null, order: string): void {
    const made = new Map<string, Json>([["source", source]]);
    if (typeof handle === "string" && handle !== SOURCE) made.set("handle", handle === "onError" ? ERROR : handle);
    made.set("target", target);
    for (const [field, value] of entry ?? []) if (!ENDS.has(field)) made.set(escaped(field), encoded(value, this.fresh));
    made.set("order", order);
    made.set("home", "after");
    if (entry === null) made.set("form", "text");
    this.writes.push(["put", `edge/${this.fresh()}`, made]);
  }
}

function end(name: Value | undefined, named: ReadonlyMap<string, string>): string | undefined {
  return typeof name === "string" ? named.get(name) : undefined;
}
