/**
 * The connection of an open draft: over a WebSocket where the server has one, else by long poll. It comes back by itself, after half a
 * second at first and 15 s at last.
 */
import { readObject, writeJson } from "../../editing/values/json.ts";
import { count } from "../../editing/log/messages.ts";
import { isList, isObject, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { Refusal } from "../api.ts";
import { Recorder, type Spot } from "./drags.ts";
import { Exchange, message } from "./exchange.ts";
import type { People, Presence } from "./people.ts";
import { settings } from "../settings.ts";
import { MAX_SOCKET_MESSAGE_BYTES } from "../tables/limits.ts";

/** What a session hears of its connection. */
export interface Hearer {
  connected(): void;
  disconnected(): void;
  hear(said: string): void;
}

const FIRST_MS = 500;
const LAST_MS = 15_000;
const POLL_S = 20;
const LOOK_MS = 5_000;
const PING_MS = 240_000;
const PRESENCE_MS = 40; // at most so often, until the session says how often
const PRESENCE_PART = 0.8; // of what the session allows
const LIFE_MS = 6_600_000; // API Gateway ends a connection after two hours
const MALFORMED = 4400;
const MAX_FAILURES = 2; // of the socket before a welcome: then by long poll

export class Line {
  /** Called with each item that comes, before the session takes it. */
  heardEntry: (item: JsonObject) => void = () => undefined;
  /** Called when someone has started a test run. */
  heardRun: (said: JsonObject) => void = () => undefined;
  /** Called when the session has let this page in, at first and after each break, and while it polls: what was said in it before was not heard. */
  entered: () => void = () => undefined;
  /** Whether this person may edit: a server without a session tells it with the draft only. */
  mayEdit: () => boolean = () => true;
  /** Called when what the draft is compared with, or a conflict with it, has changed. */
  rebased: () => void = () => undefined;
  private readonly exchange: Exchange;
  private socket: WebSocket | null = null;
  private isClosed = false;
  private isPolling = false;
  private failures = 0;
  private pause = FIRST_MS;
  private client = "";
  private epoch = 0;
  private after = 0;
  private framed = ""; // the tag of the request that went over the socket last
  private doubted = ""; // the same, after which the server closed the socket: a request is answered about that request alone
  private hearer: Hearer | null = null;
  private presence: ReadonlyMap<string, Json> = new Map();
  private readonly drag = new Recorder();
  private presenceMs = PRESENCE_MS;
  private enteredAt = -Infinity;
  private isTelling = false;
  private isWelcome = false;
  private readonly stopping = new AbortController();
  private ping = 0;

  constructor(draft: string, private readonly people: People) {
    this.exchange = new Exchange(`/drafts/${encodeURIComponent(draft)}`, (said) => { this.heard(said, writeJson(said)); });
  }

  start(hearer: Hearer): void {
    this.hearer = hearer;
    this.ping = window.setInterval(() => { this.frame(writeJson(message("ping", []))); }, PING_MS);
    void this.connect();
  }

  close(): void {
    this.isClosed = true;
    this.stopping.abort();
    window.clearInterval(this.ping);
    this.socket?.close();
    this.socket = null;
  }

  /** Sends a message of the session. */
  send(text: string): void {
    const said = readObject(text);
    switch (said.get("t")) {
      case "hello":
        this.hello(said, text);
        break;
      case "op":
        this.op(said, text);
        break;
      case "pull":
        this.pull(count(said, "after"));
        break;
      default: // a session says nothing else
    }
  }

  private op(said: JsonObject, text: string): void {
    const tag = textAt(said, "tag");
    if (this.socket !== null && fits(text) && tag !== this.doubted) {
      this.framed = tag;
      this.frame(text);
    } else if (this.isPolling || this.socket !== null) {
      void this.exchange.op(said, this.epoch);
    }
  }

  /** Tells the others what this person does, as often as the session takes it. */
  at(presence: Presence): void {
    this.presence = new Map([...this.presence, ...written(presence)]);
    this.tell();
  }

  /** Tells the others that blocks are dragged, and how far; null: they were dropped. The list is the same one during a drag. */
  dragged(drag: { readonly from: readonly Spot[]; readonly x: number; readonly y: number } | null): void {
    if (drag === null) this.drag.end();
    else this.drag.moved(drag.from, drag.x, drag.y, performance.now());
    this.tell();
  }

  private tell(): void {
    if (this.isTelling || !this.isWelcome) return;
    this.isTelling = true;
    window.setTimeout(() => {
      this.isTelling = false;
      const drag = this.drag.taken();
      if (this.isWelcome) this.frame(writeJson(message("at", drag === null ? this.presence : [...this.presence, ["drag", drag]])));
    }, this.presenceMs);
  }

  private frame(text: string): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  private pull(after: number): void {
    this.exchange.pull(this.epoch, after, 0).catch((error: unknown) => { this.exchange.closed(error); });
  }

  private hello(said: JsonObject, text: string): void {
    this.client = textAt(said, "client");
    this.epoch = count(said, "epoch");
    this.after = count(said, "after");
    if (this.socket !== null) this.frame(text);
    else if (this.isPolling) this.hearer?.hear(writeJson(message("welcome", [["epoch", this.epoch], ["head", this.after], ["edit", this.mayEdit()]])));
  }

  private heard(said: JsonObject, text: string): void {
    if (this.isClosed) return;
    switch (said.get("t")) {
      case "pull": // there are items that no frame can hold
        this.pull(this.after);
        return;
      case "run":
        this.heardRun(said);
        return;
      case "welcome":
        this.welcomed(said.get("rates"));
        this.entered();
        break;
      case "who": // one who came has not seen where this person is
        this.paced(said.get("rates"));
        if (said.get("joined") === true && this.presence.size > 0) this.tell();
        break;
      case "base":
        this.rebased();
        break;
      case "closing":
        if (said.get("code") === MALFORMED) this.doubted = this.framed;
        break;
      case "item":
      case "items":
        this.passed(said);
        break;
      default: // of the people, or of the session alone
    }
    if (!this.people.hear(said, this.client)) this.hearer?.hear(text);
  }

  private passed(said: JsonObject): void {
    const items = said.get("items") ?? [said.get("item") ?? null];
    for (const item of isList(items) ? items.filter(isObject) : []) {
      this.after = Math.max(this.after, count(item, "seq"));
      this.heardEntry(item);
    }
  }

  private welcomed(rates: Json | undefined): void {
    this.isWelcome = true;
    this.failures = 0;
    this.pause = FIRST_MS;
    this.paced(rates);
    if (this.presence.size > 0) this.tell();
  }

  private paced(rates: Json | undefined): void {
    const perSecond = isObject(rates) ? rates.get("presence_per_s") : undefined;
    if (typeof perSecond === "number" && perSecond > 0) this.presenceMs = Math.ceil(1_000 / (PRESENCE_PART * perSecond));
  }

  // -- coming and going ----------------------------------------------------------------------------------------------------

  private async connect(): Promise<void> {
    if (this.failures >= MAX_FAILURES) {
      await this.poll();
      return;
    }
    try {
      const [ticket, { socket }] = await Promise.all([this.exchange.ticket(), settings()]);
      if (!this.isClosed) this.dial(socket, ticket);
    } catch (error) {
      if (error instanceof Refusal) {
        this.exchange.closed(error);
        if (error.status < 500 && error.status !== 429) this.failures = MAX_FAILURES; // it has no tickets: no session either
      }
      this.again();
    }
  }

  /** `address` is that of a gateway; without one, the server has the session. */
  private dial(address: string | null, ticket: string): void {
    const own = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${this.exchange.path}/room`;
    const socket = new WebSocket(`${address ?? own}?ticket=${encodeURIComponent(ticket)}`);
    let life = 0;
    socket.addEventListener("open", () => {
      this.socket = socket;
      life = window.setTimeout(() => { socket.close(); }, LIFE_MS);
      this.hearer?.connected();
    });
    socket.addEventListener("message", (event) => {
      if (typeof event.data === "string") this.heard(readObject(event.data), event.data);
    });
    socket.addEventListener("close", () => {
      window.clearTimeout(life);
      if (!this.isWelcome) this.failures += 1;
      this.isWelcome = false;
      this.socket = null;
      this.people.clear();
      this.hearer?.disconnected();
      this.again();
    });
  }

  private again(): void {
    if (this.isClosed) return;
    const wait = this.pause * (0.8 + Math.random() * 0.4);
    this.pause = Math.min(this.pause * 2, LAST_MS);
    window.setTimeout(() => { if (!this.isClosed) void this.connect(); }, wait);
  }

  private async poll(): Promise<void> {
    this.isPolling = true;
    this.hearer?.connected();
    try {
      for (;;) {
        this.after = Math.max(this.after, await this.exchange.pull(this.epoch, this.after, POLL_S, this.stopping.signal));
        this.pause = FIRST_MS;
        if (performance.now() - this.enteredAt > LOOK_MS) { // no poll says that a test run was started
          this.enteredAt = performance.now();
          this.entered();
        }
      }
    } catch (error) {
      this.isPolling = false;
      if (this.isClosed) return;
      this.hearer?.disconnected();
      this.exchange.closed(error);
      this.again();
    }
  }
}

/** Whether a message may go over a socket. */
function fits(text: string): boolean {
  return text.length <= MAX_SOCKET_MESSAGE_BYTES && new TextEncoder().encode(text).length <= MAX_SOCKET_MESSAGE_BYTES;
}

function written(presence: Presence): [string, Json][] {
  const made: [string, Json][] = [];
  if (presence.cursor !== undefined) made.push(["cursor", presence.cursor === null ? null : [Math.round(presence.cursor.x), Math.round(presence.cursor.y)]]);
  if (presence.selection !== undefined) made.push(["selection", presence.selection]);
  if (presence.field !== undefined) made.push(["field", presence.field]);
  if (presence.view !== undefined) made.push(["view", presence.view === null ? null : [presence.view.x, presence.view.y, presence.view.width, presence.view.height].map(Math.round)]);
  return made;
}
