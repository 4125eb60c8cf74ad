/** What a test run is asked for, and the inputs that this browser keeps for each draft. */
import { at, isObject, type Json } from "../editing/values.ts";
import type { Graph } from "../canvas/model/graph.ts";
import type { State } from "../editing/state.ts";
import { decoded } from "../inspector/values.ts";
import { requestObject } from "../wire/api.ts";
import { testedRead, type Tested } from "./store.ts";
import { textOf } from "./pins.ts";

export interface Wanted {
  readonly seq: number;
  readonly inputs: unknown;
  readonly stopAfter: string; // an empty text: to the end
  readonly fromRun: string;
  readonly from: string;
  readonly withPins: boolean;
}

/** The body of the request. `inputs` are plain JSON, whose keys the server takes in any order. */
export function bodyOf(wanted: Wanted): Record<string, unknown> {
  return {
    seq: wanted.seq, inputs: wanted.inputs, ...(wanted.withPins ? {} : { pins: {} }), ...(wanted.stopAfter === "" ? {} : { stop_after: wanted.stopAfter }),
    ...(wanted.from === "" ? {} : { from_run: wanted.fromRun, from: wanted.from }),
  };
}

export async function startTest(draft: string, wanted: Wanted): Promise<Tested> {
  return testedRead(await requestObject("POST", `/drafts/${encodeURIComponent(draft)}/runs`, mapped(bodyOf(wanted))));
}

/** Plain JSON in the form that a request takes. */
function mapped(value: unknown): Json {
  if (Array.isArray(value)) return value.map(mapped);
  if (typeof value === "object" && value !== null) return new Map(Object.entries(value).map(([key, one]) => [key, mapped(one)]));
  return value as Json;
}

/** The schema of the inputs: that of the first entry that has one. */
export function schemaOf(graph: Graph, view: State): Readonly<Record<string, unknown>> | null {
  for (const block of graph.blocks.values()) {
    const given = block.parent === null && block.entry ? at(view.get(`block/${block.tail}`), ["inputs"]) : undefined;
    if (isObject(given)) return JSON.parse(textOf(decoded(given))) as Record<string, unknown>;
  }
  return null;
}

/** The properties of the inputs where they are an object of named fields; null where only JSON can say them. */
export function propertiesOf(schema: Readonly<Record<string, unknown>> | null): Readonly<Record<string, unknown>> | null {
  const properties = schema?.["properties"];
  return typeof properties === "object" && properties !== null && !Array.isArray(properties) && Object.keys(properties).length > 0 ? properties as Record<string, unknown> : null;
}

/** The nodes at the top level by name: a test run can stop after each, or begin at it. */
export function namesOf(graph: Graph): readonly string[] {
  return (graph.children.get(null) ?? []).map((tail) => graph.blocks.get(tail)?.id ?? "");
}

const KEPT = "stepless.inputs.";

/** What was typed last; null where nothing was, or the browser keeps nothing. */
export function keptInputs(draft: string, storage: Storage | null = ofBrowser()): string | null {
  return storage?.getItem(KEPT + draft) ?? null;
}

export function keepInputs(draft: string, text: string, storage: Storage | null = ofBrowser()): void {
  try {
    storage?.setItem(KEPT + draft, text);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // there is no room: the inputs are typed again
  }
}

function ofBrowser(): Storage | null {
  try {
    return window.localStorage;
  } catch (error) {
    if (error instanceof DOMException) return null; // the browser keeps nothing for this page
    throw error;
  }
}
