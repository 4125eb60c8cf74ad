/** One run as an external store: its head, its graph and the counts of its nodes, kept live by waiting for the next event. */
import { isObject, type JsonObject } from "../editing/values/values.ts";
import { Refusal, request, requestPlain } from "../wire/api.ts";
import { runPath } from "../ui/addresses.ts";
import type { Graph } from "../canvas/model/graph.ts";
import { graphOfDocument } from "./graphing.ts";
import type { NodeSummary, Overview, Span, Summary } from "./types.ts";

export interface RunLook {
  readonly head: Overview | null;
  readonly values: JsonObject | null; // the run as the server answers it, with keys in their order
  readonly document: JsonObject | null;
  readonly graph: Graph | null;
  readonly graphFault: unknown;
  readonly nodes: ReadonlyMap<string, NodeSummary>;
  readonly busy: readonly Span[];
  readonly lasted: number;
  readonly at: number; // when it was read last, by this machine's clock
  readonly began: string | null;
  readonly instances: number;
  readonly leftOut: number;
  readonly sequence: number;
  readonly ended: boolean;
  readonly error: unknown;
  readonly live: boolean;
}

const NOTHING: RunLook = {
  head: null, values: null, document: null, graph: null, graphFault: null, nodes: new Map(), busy: [], lasted: 0, at: 0, began: null, instances: 0, leftOut: 0, sequence: 0, ended: false,
  error: null, live: false,
};
const WAIT_S = 20;
const PACE_MS = 700; // between two looks at a run in which much happens
const AGAIN_MS = 4_000;

export class RunStore {
  private now = NOTHING;
  private readonly listeners = new Set<() => void>();
  private leaving = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: string) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  };

  readonly snapshot = (): RunLook => this.now;

  open(): void {
    this.leaving = new AbortController();
    this.set({ error: null });
    window.addEventListener("online", this.retry);
    void this.start();
  }

  close(): void {
    this.leaving.abort();
    clearTimeout(this.timer);
    window.removeEventListener("online", this.retry);
  }

  /** After something was asked of the run. */
  again(): void {
    this.readHead().catch((error: unknown) => { this.failed(error, () => { this.follow(); }); });
  }

  /** Looks at once, where an error has interrupted it. */
  readonly retry = (): void => {
    if (this.now.error === null || isGone(this.now.error)) return;
    clearTimeout(this.timer);
    void this.start();
  };

  /** Reads the graph again that could not be read. */
  readonly retryGraph = (): void => {
    this.set({ graphFault: null });
    void this.readGraph();
  };

  private async start(): Promise<void> {
    void this.readGraph(); // at once: of a large run it takes as long as the summary, and is laid out then
    try {
      await Promise.all([this.readHead(), this.readSummary(0)]);
      this.follow();
    } catch (error) {
      this.failed(error, () => { void this.start(); });
    }
  }

  private async readHead(): Promise<Overview> {
    const values = await request("GET", runPath(this.id), undefined, this.leaving.signal);
    if (!isObject(values)) throw new SyntaxError("the run is no object");
    const head = plain(values) as Overview;
    this.set({ head, values });
    return head;
  }

  private async readGraph(): Promise<void> {
    if (this.now.graph !== null) return;
    try {
      const found = await request("GET", `${runPath(this.id)}/document`, undefined, this.leaving.signal);
      const document = isObject(found) ? found.get("document") : null;
      if (isObject(document)) this.set({ document, graph: graphOfDocument(document), graphFault: null });
    } catch (error) {
      this.set({ graphFault: error });
    }
  }

  private async readSummary(after: number, wait = false): Promise<Summary> {
    const found = await requestPlain("GET", `${runPath(this.id)}/summary?after=${after}${wait ? `&wait_s=${WAIT_S}` : ""}`, undefined, this.leaving.signal) as Summary;
    const nodes = new Map(after === 0 ? [] : this.now.nodes);
    for (const node of found.nodes) nodes.set(node.path, node);
    this.set({
      nodes, busy: found.busy, lasted: found.lasted_ms, began: found.began_at, instances: found.instances, leftOut: found.left_out, sequence: found.sequence,
      ended: found.ended, error: null, live: !found.ended, at: Date.now(),
    });
    return found;
  }

  private follow(): void {
    clearTimeout(this.timer);
    if (this.now.ended || this.leaving.signal.aborted) return;
    this.timer = setTimeout(() => {
      const before = this.now.sequence;
      this.readSummary(before, this.now.error === null).then(async (found) => {
        if (found.sequence !== before || found.ended) await this.readHead();
        this.follow();
      }).catch((error: unknown) => { this.failed(error, () => { this.follow(); }); });
    }, PACE_MS);
  }

  private failed(error: unknown, again: () => void): void {
    if (this.leaving.signal.aborted) return;
    this.set({ error, live: false });
    clearTimeout(this.timer);
    if (this.now.head !== null && !isGone(error)) this.timer = setTimeout(again, AGAIN_MS);
  }

  private set(change: Partial<RunLook>): void {
    if (this.leaving.signal.aborted) return;
    this.now = { ...this.now, ...change };
    for (const listener of this.listeners) listener();
  }
}

/** Whether there is no such run any more: it was erased, or its time is over. */
export function isGone(error: unknown): boolean {
  return error instanceof Refusal && (error.status === 404 || error.status === 410);
}

/** A value with ordered objects as plain ones: for facts whose keys are known. */
export function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value as Map<string, unknown>].map(([key, one]) => [key, plain(one)]));
  return Array.isArray(value) ? value.map(plain) : value;
}
