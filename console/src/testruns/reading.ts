/** Reads the output of a node in a run from its events. */
import { isList, isObject, textAt, type Json, type JsonObject } from "../editing/values/values.ts";
import { runPath } from "../ui/addresses.ts";
import { request } from "../wire/api.ts";
import { SOURCE } from "../canvas/model/graph.ts";
import { valueFrom } from "../wire/exact.ts";
import type { Pin } from "./pins.ts";

/** The last output of an instance, and its exit; null where there is none, or it is too large to be in an event. */
export async function outputOf(run: string, instance: string): Promise<Pin | null> {
  const page = await request("GET", `${runPath(run)}/events?instance=${encodeURIComponent(instance)}&type=node.completed&limit=500`);
  const events = isObject(page) ? page.get("events") : null;
  const done = (isList(events) ? events : []).filter(isObject).filter((one) => one.get("type") === "node.completed").at(-1)?.get("payload");
  return isObject(done) && done.has("output") ? pinFrom(done) : null;
}

function pinFrom(payload: JsonObject): Pin {
  const handle = textAt(payload, "handle");
  return { output: valueFrom(payload.get("output") ?? null), handle: handle === SOURCE ? "" : handle };
}

/** What is known of one instance in a run: null where there is no such one. */
export async function recordOf(run: string, instance: string): Promise<JsonObject | null> {
  const found = await request("GET", `${runPath(run)}/nodes?limit=1&instance=${encodeURIComponent(instance)}`);
  const nodes = isObject(found) ? found.get("nodes") : null;
  const first: Json | undefined = isList(nodes) ? nodes[0] : undefined;
  return isObject(first) ? first : null;
}

