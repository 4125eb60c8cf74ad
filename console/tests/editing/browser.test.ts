/** The ports of a browser: rows over IndexedDB, and locks. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { IDBFactory as FakeFactory, IDBKeyRange as FakeRange } from "fake-indexeddb";

import { operation } from "../../src/editing/log/operations.ts";
import { browserChance, browserLocks, openRows } from "../../src/editing/ports/browser.ts";
import { at } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { Browser } from "./machine.ts";
import { Desk, SharedDraft } from "./shared_draft.ts";

globalThis.IDBKeyRange = FakeRange;

/** Web Locks as the specification has them, as far as they are used here. */
function manager(): LockManager {
  const held = new Set<string>();
  const request = async (name: string, _options: LockOptions, run: (lock: Lock | null) => Promise<unknown>): Promise<unknown> => {
    if (held.has(name)) return run(null);
    held.add(name);
    try {
      return await run({ name, mode: "exclusive" });
    } finally {
      held.delete(name);
    }
  };
  return { request, query: () => Promise.resolve({ held: [], pending: [] }) } as unknown as LockManager;
}

test("rows are read by prefix, in their order, and written all at once", async () => {
  const factory = new FakeFactory();
  const rows = await openRows("drafts", factory);
  assert.ok(rows !== null);
  await rows.write(new Map([["w/b/head", "2"], ["w/a/head", "1"], ["w/a/part/1", "😀"], ["x/a/head", "3"]]));
  await rows.write(new Map([["w/b/head", null], ["w/a/head", "4"]]));
  const again = await openRows("drafts", factory);
  assert.deepEqual(await again?.read("w/"), [["w/a/head", "4"], ["w/a/part/1", "😀"]]);
  assert.deepEqual(await again?.read("w/b/"), []);
});

test("where there is no IndexedDB, or it refuses, there are no rows", async () => {
  const refusing = { open: () => {
    const request = { onerror: null as ((event: Event) => void) | null, error: null };
    setImmediate(() => { request.onerror?.(new Event("error")); });
    return request;
  } } as unknown as IDBFactory;
  assert.equal(await openRows("drafts", refusing), null);
});

test("a lock is held by one tab until it gives it back", async () => {
  const locks = browserLocks(manager());
  const release = await locks?.hold("client/a");
  assert.equal(typeof release, "function");
  assert.equal(await locks?.hold("client/a"), null);
  assert.equal(typeof await locks?.hold("client/b"), "function");
  release?.();
  await new Promise((next) => setImmediate(next));
  assert.equal(typeof await locks?.hold("client/a"), "function");
});

test("words are 10 letters, each another one", () => {
  const words = Array.from({ length: 1_000 }, () => browserChance.word());
  assert.equal(new Set(words).size, words.length);
  assert.ok(words.every((word) => /^[0-9A-Za-z]{10}$/.test(word)));
});

test("a session over IndexedDB goes on after a reload with all that it had", async () => {
  const rows = await openRows("drafts", new FakeFactory());
  const shared = new SharedDraft(new Dice(1));
  const locks = browserLocks(manager());
  assert.ok(rows !== null && locks !== null);
  const open = async (remembered: string | null): Promise<Desk> => {
    const browser = new Browser(shared.clock);
    const tab = browser.tab.bind(browser);
    browser.tab = (client) => ({ ...tab(client), rows, locks });
    const opening = shared.open("ann", browser, remembered);
    for (let turn = 0; turn < 50; turn += 1) await shared.clock.pass(20); // IndexedDB takes turns of its own
    return opening;
  };
  const ann = await open(null);
  const { client } = ann.session.replica;
  ann.cut(true);
  ann.session.edit(operation([["splice", "block/b", ["with", "prompt"], 0, 0, "😀"]]), { typed: true });
  for (let turn = 0; turn < 50; turn += 1) await shared.clock.pass(20);
  ann.die();
  const again = await open(client);
  for (let turn = 0; turn < 50; turn += 1) await shared.clock.pass(20);
  assert.deepEqual([again.session.replica.client, again.status], [client, "Saved"]);
  assert.equal(at(shared.log.state().get("block/b"), ["with", "prompt"]), "😀score <order.id>");
  assert.ok((await rows.read("w/")).every(([key]) => !key.includes("/part/")));
});
