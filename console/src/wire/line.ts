/**
 * The connection of an open draft: over a WebSocket where the server has one, else by long poll. It comes back by itself, after half a
 * second at first and 15 s at last.
 */
import { readObject, writeJson } from "../editing/json.ts";
import { object, textAt, type Json, type JsonObject } from "../editing/values.ts";
import { Refusal } from "./api.ts";
import { framed, unframed } from "./frames.ts";
import { Exchange } from "./exchange.ts";
import type { People, Presence } from "./people.ts";

/** What a session hears of its connection. */
export interface Hearer {
  connected(): void;
  disconnected(): void;
  hear(said: string): void;
}

const FIRST_MS = 500;
const LAST_MS = 15_000;
const POLL_S = 20;
const PING_MS = 240_000;
const MAX_FRAME = 30_000;
const FRAME_MS = 40; // presence, at most so often
const MAX_FAILURES = 2; // of the socket before a welcome: then by long poll

export class Line {
  private readonly exchange: Exchange;
  private socket: WebSocket | null = null;
  private isClosed = false;
  private isPolling = false;
  private failures = 0;
  private pause = FIRST_MS;
  private client = "";
  private epoch = "";
  private after = 0;
  private hearer: Hearer | null = null;
  private presence: ReadonlyMap<string, Json> = new Map();
  private isTelling = false;
  private isWelcome = false;
  private readonly stopping = new AbortController();
  private ping = 0;

  constructor(draft: string, private readonly people: People) {
    this.exchange = new Exchange(`/drafts/${encodeURIComponent(draft)}`, (message) => { this.heard(message); });
  }

  start(hearer: Hearer): void {
    this.hearer = hearer;
    this.ping = window.setInterval(() => { this.socket?.send('{"v":1,"t":"ping"}'); }, PING_MS);
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
    const message = readObject(text);
    switch (message.get("type")) {
      case "hello":
        this.hello(message);
        break;
      case "op":
        if (this.socket !== null && text.length <= MAX_FRAME) this.frame(message);
        else if (this.isPolling || this.socket !== null) void this.exchange.op(message, this.epoch);
        break;
      case "pull":
        this.pull(Number(message.get("after")));
        break;
      default: // a session says nothing else
    }
  }

  /** Tells the others what this person does, as often as a frame at most. */
  at(presence: Presence): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    this.presence = new Map([...this.presence, ...written(presence)]);
    if (this.isTelling) return;
    this.isTelling = true;
    window.setTimeout(() => {
      this.isTelling = false;
      if (this.isWelcome) this.frame(object([["type", "at"], ...this.presence]));
    }, FRAME_MS);
  }

  private frame(message: JsonObject): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(writeJson(framed(new Map([["v", 1], ...message]))));
  }

  private pull(after: number): void {
    this.exchange.pull(this.epoch, after, 0).catch((error: unknown) => { this.exchange.closed(error); });
  }

  private hello(message: JsonObject): void {
    this.client = textAt(message, "client");
    this.epoch = textAt(message, "epoch");
    this.after = Number(message.get("after"));
    const epoch = Number(this.epoch);
    if (this.socket !== null) this.frame(new Map([...message, ["epoch", epoch]]));
    else if (this.isPolling) this.heard(object([["v", 1], ["type", "welcome"], ["epoch", epoch], ["head", this.after]]));
  }

  private heard(message: JsonObject): void {
    if (this.isClosed) return;
    if (message.get("type") === "pull") { // there are items that no frame can hold
      this.pull(this.after);
      return;
    }
    if (message.get("type") === "welcome") {
      this.isWelcome = true;
      this.failures = 0;
      this.pause = FIRST_MS;
    }
    if (this.people.hear(message, this.client)) return;
    const seq = message.get("seq");
    if (typeof seq === "number") this.after = Math.max(this.after, seq);
    const epoch = message.get("epoch"); // a number on the wire
    this.hearer?.hear(writeJson(epoch === undefined ? message : new Map([...message, ["epoch", writeJson(epoch)]])));
  }

  // -- coming and going ----------------------------------------------------------------------------------------------------

  private async connect(): Promise<void> {
    if (this.failures >= MAX_FAILURES) {
      await this.poll();
      return;
    }
    try {
      const ticket = await this.exchange.ticket();
      if (!this.isClosed) this.dial(ticket);
    } catch (error) {
      if (error instanceof Refusal) {
        this.exchange.closed(error);
        this.failures = MAX_FAILURES; // it has no tickets: no room either
      }
      this.again();
    }
  }

  private dial(ticket: string): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}${this.exchange.path}/room?ticket=${encodeURIComponent(ticket)}`);
    socket.addEventListener("open", () => {
      this.socket = socket;
      this.hearer?.connected();
    });
    socket.addEventListener("message", (event) => {
      if (typeof event.data === "string") this.heard(unframed(readObject(event.data)));
    });
    socket.addEventListener("close", () => {
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

function written(presence: Presence): [string, Json][] {
  const made: [string, Json][] = [];
  if (presence.cursor !== undefined) made.push(["cursor", presence.cursor === null ? null : [Math.round(presence.cursor.x), Math.round(presence.cursor.y)]]);
  if (presence.selection !== undefined) made.push(["selection", presence.selection]);
  if (presence.field !== undefined) made.push(["field", presence.field]);
  if (presence.drag !== undefined) made.push(["drag", presence.drag.map(([tail, x, y]) => [tail, Math.round(x), Math.round(y)])]);
  return made;
}
