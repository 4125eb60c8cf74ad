/**
 * The test run that this tab shows over its draft, as an external store. The session says which one was started last; it is followed by
 * the routes of the run view, whose code comes with the first test run.
 */
import { isList, isObject, textAt, type Json, type JsonObject } from "../editing/values/values.ts";
import type { RunStore, RunLook } from "../runstate/store.ts";
import type { NodeSummary } from "../runstate/types.ts";
import { requestObject } from "../wire/api.ts";
import type { Graph } from "../canvas/model/graph.ts";

/** `at` is a time in milliseconds. */
export interface Tested {
  readonly id: string;
  readonly seq: number;
  readonly by: string;
  readonly at: number;
}

export interface TestLook {
  readonly tested: Tested | null;
  readonly look: RunLook | null;
}

/** What the store needs of the session and of the desk. */
export interface Around {
  readonly draft: string;
  readonly graph: () => Graph;
  readonly now: () => number;
  readonly load: () => Promise<{ readonly RunStore: new (id: string) => RunStore }>;
}

const FRESH_MS = 600_000; // a test run that was started longer ago is not shown to one who opens the draft
const NOTHING: TestLook = { tested: null, look: null };

export class TestRuns {
  private now = NOTHING;
  private readonly listeners = new Set<() => void>();
  private run: RunStore | null = null;
  private leave: () => void = () => undefined;
  private isClosed = false;
  private newest = 0; // when the newest test run was started that was shown here

  constructor(private readonly around: Around) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  };

  readonly snapshot = (): TestLook => this.now;

  /** Shows the last test run of the draft, if it was started lately and is newer than those shown before. */
  async open(): Promise<void> {
    const answer = await requestObject("GET", `/drafts/${encodeURIComponent(this.around.draft)}/runs`).catch(() => null);
    const runs = answer?.get("runs");
    const [last] = isList(runs) ? runs.filter(isObject).map(testedRead) : [];
    if (last !== undefined && last.at > this.newest && this.around.now() - last.at < FRESH_MS) await this.show(last);
  }

  close(): void {
    this.isClosed = true;
    this.hide();
  }

  /** A message of the session: someone has started a test run. */
  readonly hear = (said: JsonObject): void => { void this.show(testedRead(said)); };

  /** Shows a test run in place of the one before. */
  async show(tested: Tested): Promise<void> {
    if (this.isClosed || tested.id === "" || this.now.tested?.id === tested.id) return;
    this.end();
    this.newest = Math.max(this.newest, tested.at);
    this.set({ tested, look: null });
    const { RunStore } = await this.around.load();
    if (this.now.tested !== tested) return; // closed, or another one is shown by now
    const run = new RunStore(tested.id);
    this.run = run;
    this.leave = run.subscribe(() => { this.set({ tested, look: run.snapshot() }); });
    run.open();
  }

  hide(): void {
    this.end();
    this.set(NOTHING);
  }

  /** After something was asked of the run. */
  again(): void {
    this.run?.again();
  }

  /** How a block stands in the test run; undefined where nothing has happened to it. */
  of(tail: string): NodeSummary | undefined {
    const nodes = this.now.look?.nodes;
    return nodes === undefined || nodes.size === 0 ? undefined : nodes.get(pathOf(this.around.graph(), tail));
  }

  private end(): void {
    this.leave();
    this.leave = () => undefined;
    this.run?.close();
    this.run = null;
  }

  private set(look: TestLook): void {
    this.now = look;
    for (const listener of this.listeners) listener();
  }
}

/** The path of a block in its runs: its id, and the containers around it (`price@each`). */
export function pathOf(graph: Graph, tail: string): string {
  const ids: string[] = [];
  const seen = new Set<string>();
  for (let at: string | null = tail; at !== null && !seen.has(at); at = graph.blocks.get(at)?.parent ?? null) {
    seen.add(at);
    ids.push(graph.blocks.get(at)?.id ?? "");
  }
  return ids.join("@");
}

/** A test run as a route or a message of the session has it. */
export function testedRead(said: JsonObject): Tested {
  const seq = said.get("seq");
  return { id: textAt(said, "run_id") || textAt(said, "run"), seq: typeof seq === "number" ? seq : 0, by: textAt(said, "by"), at: instantOf(said.get("at")) };
}

function instantOf(at: Json | undefined): number {
  return typeof at === "number" ? at : typeof at === "string" ? Date.parse(at) : 0;
}
