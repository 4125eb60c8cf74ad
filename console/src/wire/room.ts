/** A draft that is open in this tab: its session, the others in it, and what is read beside it. */
import type { Opening, Ports, Rows } from "../editing/client/ports.ts";
import { Session } from "../editing/client/session.ts";
import { itemRead } from "../editing/messages.ts";
import { browserChance, browserClock, browserLocks, browserTab } from "../editing/ports/browser.ts";
import { isList, isObject, textAt, type Json, type JsonObject } from "../editing/values.ts";
import { Refusal, requestObject } from "./api.ts";
import { Line } from "./line.ts";
import { People } from "./people.ts";

/** `key` is that of the block's entity, null where the finding is about the whole workflow. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly mend: string;
  readonly severity: "error" | "warning";
  readonly key: string | null;
  readonly path: string;
}

/** What the draft was opened from. */
export interface Head {
  readonly workflow: string;
  readonly base: Json;
  readonly createdBy: string;
  readonly createdAt: string;
}

export class Room {
  readonly people = new People();
  readonly session: Session;
  readonly line: Line;
  head: Head | null = null;
  private readonly path: string;

  /** `rows`: where what is not committed outlives the tab; null where the browser keeps nothing. */
  constructor(readonly draft: string, rows: Rows | null) {
    this.path = `/drafts/${encodeURIComponent(draft)}`;
    this.line = new Line(draft, this.people);
    const ports: Ports = {
      clock: browserClock, chance: browserChance, rows, locks: browserLocks(), tab: browserTab(draft),
      wire: { open: (after) => this.open(after), send: (text) => { this.line.send(text); } },
    };
    this.session = new Session(ports, draft);
  }

  async start(): Promise<void> {
    await this.session.start();
    this.line.start(this.session);
  }

  close(): void {
    this.session.flush();
    this.line.close();
    this.session.close();
  }

  async findings(): Promise<Finding[]> {
    const answer = await requestObject("GET", `${this.path}/findings`);
    const listed = answer.get("findings");
    return (isList(listed) ? listed : []).filter(isObject).map(findingRead);
  }

  private async open(after: number | null): Promise<Opening> {
    const draft = await requestObject("GET", this.path);
    const [epoch, seq] = [Number(draft.get("epoch")), Number(draft.get("seq"))];
    this.head = {
      workflow: textAt(draft, "workflow"), base: draft.get("base") ?? null, createdBy: textAt(draft, "created_by"), createdAt: textAt(draft, "created_at"),
    };
    const entities = draft.get("entities");
    const state = isObject(entities) ? [...entities].flatMap(([key, entity]): [string, JsonObject][] => (isObject(entity) ? [[key, entity]] : [])) : [];
    return { epoch: String(epoch), seq, state, items: after === null ? null : await this.since(epoch, after, seq) };
  }

  /** The items between two sequences; null where the log has them no more. */
  private async since(epoch: number, after: number, until: number): Promise<Opening["items"]> {
    const found = [];
    try {
      for (let seq = after; seq < until;) {
        const page = (await requestObject("GET", `${this.path}/ops?epoch=${epoch}&after=${seq}&limit=1000`)).get("items");
        const items = (isList(page) ? page : []).map(itemRead);
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

function findingRead(one: JsonObject): Finding {
  const key = one.get("key");
  return {
    code: textAt(one, "code"), message: textAt(one, "message"), mend: textAt(one, "mend"), path: textAt(one, "path"),
    severity: one.get("severity") === "warning" ? "warning" : "error", key: typeof key === "string" ? key : null,
  };
}
