/**
 * A world in which several people edit one draft, each in tabs of a browser. Everything is drawn from one seed. Messages are dropped,
 * doubled, delayed and so reordered; tabs are cut off, closed, reloaded and copied; servers die between the append and the fan-out.
 */
import assert from "node:assert/strict";

import { texts } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { Browser } from "./machine.ts";
import { SharedDraft, textOf, waiting } from "./shared_draft.ts";
import { Server } from "./server.ts";

export class World extends SharedDraft {
  private readonly browsers: Browser[];
  private people = 0;

  constructor(seed: number) {
    const dice = new Dice(seed);
    super(dice, 1 + dice.below(3));
    this.loss = dice.one([0, 0.1, 0.3]);
    this.mostDelay = dice.one([10, 200, 2_000]);
    const slow = dice.one([0, 20]);
    this.browsers = Array.from({ length: 2 + dice.below(3) }, () => new Browser(this.clock, () => (slow === 0 ? 0 : 1 + dice.below(slow))));
  }

  async episode(steps: number): Promise<void> {
    for (const browser of this.browsers) void this.join(browser, null);
    await this.clock.pass(3_000);
    for (let step = 0; step < steps; step += 1) {
      this.step();
      await this.clock.pass(this.dice.one([0, 5, 30, 200, 1_500]));
    }
    await this.settle();
  }

  private async join(browser: Browser, remembered: string | null): Promise<void> {
    this.people += 1;
    await this.open(`p${this.people}`, browser, remembered);
  }

  private step(): void {
    const draw = this.dice.below(200);
    const tab = this.tabs.length > 0 ? this.dice.one(this.tabs) : null;
    if (tab === null) void this.join(this.dice.one(this.browsers), null);
    else if (draw < 170) tab.edit();
    else if (draw < 182) tab.cut(!tab.isCut);
    else if (draw < 190) {
      tab.die();
      void this.join(tab.browser, tab.machine.remembered());
    } else if (draw < 193) tab.die();
    else if (draw < 196 && this.tabs.length < 8) void this.join(tab.browser, tab.machine.remembered());
    else if (draw < 198) tab.session.flush();
    else this.servers[0] = new Server(this.log, () => Math.floor(this.clock.now()));
  }

  /** The network holds, no one edits, and in each browser a tab is opened: everything arrives. */
  private async settle(): Promise<void> {
    this.loss = 0;
    this.mostDelay = 10;
    for (const tab of this.tabs) tab.cut(false);
    for (const browser of this.browsers) void this.join(browser, null);
    for (let round = 0; round < 40 && !this.isSettled(); round += 1) {
      await this.clock.pass(20_000);
      for (const tab of this.tabs) tab.session.flush();
    }
    this.verify();
  }

  private isSettled(): boolean {
    return this.tabs.every(({ session }) => session.snapshot().status.is === "saved" && session.replica.seq === this.log.head)
      && this.browsers.every((browser) => waiting(browser) === 0);
  }

  private verify(): void {
    const state = this.log.state();
    const wanted = textOf(state);
    for (const { name, session } of this.tabs) {
      assert.equal(session.snapshot().status.is, "saved", name);
      assert.equal(textOf(session.replica.confirmed), wanted, `${name} differs`);
      assert.equal(textOf(session.snapshot().view), wanted, `${name} shows something else`);
    }
    for (const browser of this.browsers) assert.equal(waiting(browser), 0, "work waits in a storage");
    const tags = this.log.items.map((item) => item.tag);
    assert.equal(new Set(tags).size, tags.length, "an intent was committed twice");
    const seen = new Set<string>();
    for (const key of state.keys()) {
      for (const [, text] of texts(state.get(key))) {
        for (const letter of text) {
          if (letter < "\u1000") continue;
          assert.ok(!seen.has(letter), `${letter} stands twice`);
          seen.add(letter);
        }
      }
    }
  }
}
