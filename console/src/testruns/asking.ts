/** Builds the request of a test run, and stores its inputs in this browser, for each draft. */
import { at, isObject } from "../editing/values/values.ts";
import type { Graph } from "../canvas/model/graph.ts";
import type { State } from "../editing/state.ts";
import { decoded, type Value } from "../editing/values/encoding.ts";
import { shortId } from "../ui/words/formats.ts";
import { ago } from "../ui/words/times.tsx";
import { requestPlain, requestWritten } from "../wire/api.ts";
import { serverNow } from "../wire/clock.ts";
import { jsonOf } from "../wire/exact.ts";
import { isEnded } from "../wire/statuses.ts";
import { testedRead, type Tested } from "./store.ts";

export interface Wanted {
  readonly seq: number;
  readonly inputs: Value;
  readonly stopAfter: string; // an empty text: to the end
  readonly fromRun: string;
  readonly from: string;
  readonly entry: string; // an empty text: at all that there are
  readonly withPins: boolean;
}

/** The body of the request. */
export function bodyOf(wanted: Wanted): ReadonlyMap<string, Value> {
  return new Map<string, Value>([
    ["seq", wanted.seq], ["inputs", wanted.inputs], ...(wanted.withPins ? [] : [["pins", new Map()] as const]), ...(wanted.stopAfter === "" ? [] : [["stop_after", wanted.stopAfter] as const]),
    ...(wanted.from === "" ? [] : [["from_run", wanted.fromRun] as const, ["from", wanted.from] as const]), ...(wanted.entry === "" ? [] : [["entry", wanted.entry] as const]),
  ]);
}

export async function startTest(draft: string, wanted: Wanted): Promise<Tested> {
  return testedRead(await requestWritten("POST", `/drafts/${encodeURIComponent(draft)}/runs`, jsonOf(bodyOf(wanted))));
}

/** The entries of a draft that has several: what a person starts by hand first. */
export function entriesOf(graph: Graph): readonly string[] {
  const entries = [...graph.blocks.values()].filter((block) => block.parent === null && block.entry && block.enabled);
  const byHand = entries.filter(({ type }) => type === "manual");
  return entries.length < 2 ? [] : [...byHand, ...entries.filter((one) => !byHand.includes(one))].map(({ id }) => id);
}

/** The runs of a workflow that have ended, the newest first, as what a test run can take outputs from: their ids with what is said of them. */
export async function endedRuns(workflow: string): Promise<readonly (readonly [id: string, said: string])[]> {
  const { runs } = await requestPlain("GET", `/runs?workflow=${encodeURIComponent(workflow)}&limit=20`) as { readonly runs: readonly { readonly id: string; readonly status: string; readonly created_at: string }[] };
  return runs.filter(({ status }) => isEnded(status)).map(({ id, status, created_at }) => [id, `${shortId(id)}, ${status.replace("_", " ")} ${ago(Date.parse(created_at), serverNow())}`]);
}

/** The schema of the inputs: that of the first entry that has one, or of the one that is named. */
export function schemaOf(graph: Graph, view: State, entry = ""): Readonly<Record<string, unknown>> | null {
  for (const block of graph.blocks.values()) {
    const given = block.parent === null && block.entry && (entry === "" || block.id === entry) ? at(view.get(`block/${block.tail}`), ["inputs"]) : undefined;
    if (isObject(given)) return JSON.parse(jsonOf(decoded(given))) as Record<string, unknown>;
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
    if (!(error instanceof DOMException)) throw error; // there is no session: the inputs are typed again
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
