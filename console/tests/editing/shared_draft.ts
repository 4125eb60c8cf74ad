/** A draft on hand-made servers, and the tabs of people in it: what is sent, lost, delayed and answered is drawn or planted. */
import assert from "node:assert/strict";

import type { Opening } from "../../src/editing/client/ports.ts";
import { Session } from "../../src/editing/client/session.ts";
import { words } from "../../src/editing/client/status.ts";
import { written, type Entity } from "../../src/editing/log/effects.ts";
import type { DraftRequest } from "../../src/editing/log/operations.ts";
import { readObject, writeJson } from "../../src/editing/values/json.ts";
import { requestRead, entryRead } from "../../src/editing/log/messages.ts";
import { resolve } from "../../src/editing/rules/resolve.ts";
import { faults } from "../../src/editing/rules/invariants.ts";
import { snapshot, type State } from "../../src/editing/state.ts";
import type { JsonObject } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { Editor, entity } from "./edits.ts";
import { Browser, HandClock, portsOf } from "./machine.ts";
import { Log, said, Server } from "./server.ts";

export const START: readonly (readonly [string, Entity])[] = [
  ["doc", entity({ id: "w", name: "the start" })],
  ["block/a", entity({ id: "order", type: "manual", parent: null, order: "A" })],
  ["block/b", entity({ id: "score", type: "http", parent: null, order: "B", with: entity({ url: "u", prompt: "score <order.id>" }) })],
  ["block/c", entity({ id: "each", type: "loop", parent: null, order: "C", with: entity({}) })],
  ["subflow/c", entity({ items: "<score.rows>" })],
  ["block/d", entity({ id: "price", type: "http", parent: "c", order: "A", with: entity({ prompt: "<order.id> <each.item>" }) })],
  ["edge/e", entity({ source: "a", target: "b", order: "A" })],
];

export const textOf = (state: State): string => writeJson(new Map(snapshot(state)));

export class SharedDraft {
  readonly clock = new HandClock();
  log: Log;
  servers: Server[];
  tabs: Desk[] = [];
  loss = 0;
  // Faults that a test plants, to see that they are found.
  everyLock = false;
  forgets = false;
  knowsRepeats = true;
  mostDelay = 10;
  /** Answers a request in place of the servers, unless it gives null. */
  intercept: (request: DraftRequest, from: Desk) => string | null = () => null;
  private opened = 0; // tabs, each of which types letters of its own
  /** All that tabs sent: the texts of messages. */
  readonly frames: { from: Desk; text: string }[] = [];

  constructor(readonly dice: Dice, servers = 1, start = START) {
    this.log = new Log(1, start);
    this.servers = Array.from({ length: servers }, () => new Server(this.log, () => Math.floor(this.clock.now())));
  }

  /** Another draft is opened in place of this one. */
  replace(epoch: number): void {
    this.log = new Log(epoch, START);
    this.servers = [new Server(this.log, () => Math.floor(this.clock.now()))];
  }

  delay(): number {
    return this.dice.below(this.mostDelay) + 1;
  }

  /** A message on its way. */
  carry(deliver: () => void): void {
    for (const isLost of [this.dice.fraction() < this.loss, this.dice.fraction() >= this.loss]) {
      if (!isLost) this.clock.after(this.delay(), deliver);
    }
  }

  receive(desk: Desk, text: string): void {
    const message = readObject(text);
    const server = this.dice.one(this.servers);
    switch (message.get("t")) {
      case "hello":
        desk.say(said.welcome(this.log));
        return;
      case "pull": {
        const after = Number(message.get("after"));
        desk.say(said.items(this.log.items.slice(Math.max(after, this.log.first - 1)), this.log.head));
        return;
      }
      default: {
        const request = requestRead(message);
        const answer = this.intercept(request, desk);
        if (answer !== null) {
          desk.say(answer);
          return;
        }
        if (this.dice.below(3) > 0) server.catchUp();
        const done = server.commit(request, desk.name, this.knowsRepeats);
        if (typeof done === "string") {
          desk.say(said.answer(request, done));
        } else if (!done.isNew) {
          desk.say(said.item(done.item));
        } else {
          assert.deepEqual(faults(this.log.state()), []);
          if (this.loss > 0 && this.dice.below(10) === 0) { // it died before the fan-out
            this.servers[this.servers.indexOf(server)] = new Server(this.log, () => Math.floor(this.clock.now()));
            return;
          }
          for (const one of this.tabs) one.say(said.item(done.item));
        }
      }
    }
  }

  /** A tab that is open, in a browser of its own unless one is given. */
  async seat(name: string, browser = new Browser(this.clock), remembered: string | null = null, skew = 0): Promise<Desk> {
    const opening = this.open(name, browser, remembered, skew);
    await this.clock.pass(100);
    return opening;
  }

  async open(name: string, browser: Browser, remembered: string | null = null, skew = 0): Promise<Desk> {
    const desk = new Desk(this, name, browser, remembered, 0x1000 + 0x200 * this.opened, skew);
    this.opened += 1;
    this.tabs.push(desk);
    await desk.start();
    return desk;
  }
}

/** A person's tab. */
export class Desk {
  readonly session: Session;
  readonly editor: Editor;
  isCut = false;
  isGone = false;
  readonly machine: ReturnType<Browser["tab"]>;

  constructor(readonly shared: SharedDraft, readonly name: string, readonly browser: Browser, remembered: string | null, letter: number, skew: number) {
    this.machine = browser.tab(remembered);
    const { rows, locks } = this.machine;
    if (shared.everyLock) this.machine.locks = { hold: async (name) => (await locks.hold(name)) ?? (() => undefined) };
    if (shared.forgets) this.machine.rows = { ...rows, read: () => Promise.resolve([]) };
    this.editor = new Editor(new Dice(shared.dice.below(2 ** 31)), letter);
    const clock = { now: () => shared.clock.now() + skew, after: (ms: number, run: () => void) => shared.clock.after(ms, run) };
    this.session = new Session(portsOf(clock, shared.dice, this.machine, {
      open: (after) => this.opening(after),
      send: (text) => {
        if (this.isCut || this.isGone) return;
        shared.frames.push({ from: this, text });
        shared.carry(() => { if (!this.isCut) shared.receive(this, text); });
      },
    }), "w");
  }

  private async opening(after: number | null): Promise<Opening> {
    await new Promise<void>((done) => this.shared.clock.after(this.shared.delay(), done));
    if (this.isCut) throw new Error("not reached");
    const { log } = this.shared;
    return { epoch: log.epoch, seq: log.head, state: snapshot(log.state()), items: after === null ? null : log.since(after) };
  }

  get status(): string {
    return words(this.session.snapshot().status);
  }

  get view(): State {
    return this.session.snapshot().view;
  }

  /** The messages of one type that this tab sent. */
  frames(type: string): JsonObject[] {
    return this.shared.frames.filter((frame) => frame.from === this).map(({ text }) => readObject(text)).filter((one) => one.get("t") === type);
  }

  /** Opens the draft; where the server is not reached, again a second later. */
  async start(): Promise<void> {
    try {
      await this.session.start();
      if (!this.isGone) this.session.connected();
    } catch (error) {
      assert.equal((error as Error).message, "not reached");
      this.shared.clock.after(1_000, () => { if (!this.isGone) void this.start(); });
    }
  }

  say(text: string): void {
    if (!this.isGone) this.shared.carry(() => { this.hear(text); });
  }

  hear(text: string): void {
    if (this.isCut || this.isGone) return;
    const message = readObject(text);
    const { replica } = this.session;
    if (message.get("t") === "item") {
      const item = entryRead(message.get("item") ?? null);
      if (item.tag === replica.sent?.tag && item.seq === replica.seq + 1) {
        const shown = resolve(replica.confirmed, replica.sent.parts.map((part) => part.operation)).effects;
        assert.equal(writeJson(shown.map(written)), writeJson(item.effects.map(written)), `${this.name} showed something else`);
      }
    }
    this.session.hear(text);
    this.check();
  }

  check(): void {
    assert.deepEqual(faults(this.session.snapshot().view), [], `${this.name} shows`);
  }

  edit(): void {
    const { dice } = this.shared;
    const draw = dice.below(100);
    if (draw < 12) this.session.undo();
    else if (draw < 16) this.session.redo();
    else {
      const drawn = this.editor.operation(this.session.snapshot().view);
      if (drawn !== null) this.session.edit(drawn.asked, { typed: drawn.typed, join: dice.below(5) === 0 });
    }
    this.check();
  }

  cut(isCut: boolean): void {
    this.isCut = isCut;
    if (isCut) this.session.disconnected();
    else this.session.connected();
  }

  /** The tab is gone, from one moment to the next. */
  die(): void {
    this.isGone = true;
    this.machine.die();
    this.session.close();
    this.shared.tabs = this.shared.tabs.filter((one) => one !== this);
  }
}

/** How many operations wait in the storage of a browser. */
export function waiting(browser: Browser): number {
  return [...browser.rows.keys()].filter((key) => key.includes("/part/")).length;
}

/** These tabs are done, and show what the log says. */
export function agree(...desks: Desk[]): void {
  for (const desk of desks) {
    assert.equal(desk.status, "Saved", desk.name);
    assert.equal(textOf(desk.view), textOf(desk.shared.log.state()), desk.name);
  }
}
