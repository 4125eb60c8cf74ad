/** A draft that is open in this tab: its session, the others in it, and what is read with it. */
import type { Opening, Ports, Rows } from "../../editing/client/ports.ts";
import { Session } from "../../editing/client/session.ts";
import type { Operation } from "../../editing/log/operations.ts";
import { operationRead, entryRead } from "../../editing/log/messages.ts";
import { browserChance, browserClock, browserLocks, browserTab } from "../../editing/ports/browser.ts";
import { isList, isObject, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { Refusal, requestObject } from "../api.ts";
import { Line } from "./line.ts";
import { People } from "./people.ts";
import { Routes } from "./served.ts";
import { comparisonRead, UNKNOWN, type Comparison } from "./comparison.ts";
import { DRAFT_READ_ITEMS } from "../tables/limits.ts";

/** The fix of a finding, and the label of its button. */
export interface Fix {
  readonly label: string;
  readonly operation: Operation;
}

/** `incomplete`: what is not filled in yet. It is an error, which a person sees as one when they test or publish. */
export type Severity = "error" | "warning" | "incomplete";

/** `key` is that of the block's entity, null where the finding is about the whole workflow. `fix`: null where only the author can know it. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly mend: string;
  readonly severity: Severity;
  readonly key: string | null;
  readonly path: string;
  readonly fix: Fix | null;
}

const FILE = "file-"; // begins the client by which a changed file, or a version published elsewhere, comes in

const SETTLED_MS = 2_000; // by when `stepless dev` has read a file that was saved
const LOOK_MS = 300; // after the last item of a change that came in

export class OpenDraft {
  readonly people = new People();
  readonly session: Session;
  readonly line: Line;
  readonly routes: Routes;
  comparison: Comparison = UNKNOWN;
  /** Called with what others did, before the session takes it. */
  changedBy: (item: JsonObject) => void = () => undefined;
  private readonly path: string;
  private readonly listeners = new Set<() => void>();
  private looking = 0;
  private beside: ReadonlySet<string> = new Set();

  /** `rows`: where what is not committed outlives the tab; null where the browser keeps nothing. */
  constructor(readonly draft: string, rows: Rows | null) {
    this.path = `/drafts/${encodeURIComponent(draft)}`;
    this.line = new Line(draft, this.people);
    this.routes = new Routes(draft);
    const ports: Ports = {
      clock: browserClock, chance: browserChance, rows, locks: browserLocks(), tab: browserTab(draft),
      wire: { open: (after) => this.open(after), send: (text) => { this.line.send(text); } },
    };
    this.session = new Session(ports, draft);
    this.people.subscribe(() => { this.near(); });
    this.line.heardEntry = (item) => {
      const client = textAt(item, "client");
      if (client.startsWith(FILE)) this.lookSoon();
      if (client !== this.session.replica.client) this.changedBy(item);
    };
    this.line.mayEdit = () => this.comparison.mayEdit;
    this.line.rebased = () => { this.lookSoon(); };
  }

  async start(): Promise<void> {
    await this.session.start();
    this.line.start(this.session);
    window.addEventListener("focus", this.back);
  }

  close(): void {
    window.removeEventListener("focus", this.back);
    window.clearTimeout(this.looking);
    this.session.flush();
    this.line.close();
    this.session.close();
  }

  /** Has the session type faster in what others have open. */
  private near(): void {
    const { open } = this.people;
    if (open.size === this.beside.size && [...open].every((tail) => this.beside.has(tail))) return;
    this.beside = open;
    this.session.beside(open);
  }

  async findings(): Promise<Finding[]> {
    return findingsRead((await requestObject("GET", `${this.path}/findings`)).get("findings"));
  }

  // -- what the draft is held against, as an external store ----------------------------------------------------------------

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Reads it again. Where that is not possible it stays as it was. */
  async look(): Promise<void> {
    const draft = await requestObject("GET", this.path).catch(() => null);
    if (draft !== null) this.stand(draft);
  }

  private lookSoon(delay = LOOK_MS): void {
    window.clearTimeout(this.looking);
    this.looking = window.setTimeout(() => void this.look(), delay);
  }

  /** The person comes back, it may be from the program that has just saved the file: a conflict alone is no item of the log. */
  private readonly back = (): void => {
    void this.look();
    this.lookSoon(SETTLED_MS);
  };

  private stand(draft: JsonObject): void {
    this.comparison = comparisonRead(draft);
    for (const listener of this.listeners) listener();
  }

  private async open(after: number | null): Promise<Opening> {
    const draft = await requestObject("GET", this.path);
    const [epoch, seq] = [Number(draft.get("epoch")), Number(draft.get("seq"))];
    this.stand(draft);
    const entities = draft.get("entities");
    const state = isObject(entities) ? [...entities].flatMap(([key, entity]): [string, JsonObject][] => (isObject(entity) ? [[key, entity]] : [])) : [];
    return { epoch, seq, state, items: after === null ? null : await this.since(epoch, after, seq) };
  }

  /** The items between two sequences; null where the log has them no more. */
  private async since(epoch: number, after: number, until: number): Promise<Opening["items"]> {
    const found = [];
    try {
      for (let seq = after; seq < until;) {
        const page = (await requestObject("GET", `${this.path}/ops?epoch=${epoch}&after=${seq}&limit=${DRAFT_READ_ITEMS}`)).get("items");
        const items = (isList(page) ? page : []).map(entryRead);
        if (items[0]?.seq !== seq + 1) return null;
        found.push(...items.filter((item) => item.seq <= until));
        seq = items.at(-1)?.seq ?? until;
      }
    } catch (error) {
      if (error instanceof Refusal) return null;
      throw error;
    }
    return found;
  }
}

export function findingsRead(listed: Json | undefined): Finding[] {
  return (isList(listed) ? listed : []).filter(isObject).map(findingRead);
}

function findingRead(one: JsonObject): Finding {
  const key = one.get("key");
  return {
    code: textAt(one, "code"), message: textAt(one, "message"), mend: textAt(one, "mend"), path: textAt(one, "path"),
    severity: one.get("severity") === "warning" ? "warning" : "error", key: typeof key === "string" ? key : null, fix: fixRead(one.get("fix")),
  };
}

function fixRead(fix: Json | undefined): Fix | null {
  return isObject(fix) ? { label: textAt(fix, "label"), operation: operationRead(fix) } : null;
}
