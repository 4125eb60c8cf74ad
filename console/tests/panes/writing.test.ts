/** A text beside its draft: people in tabs over the log of the tests, and a server that makes and reads the text of one block. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeSet } from "@codemirror/state";

import { apply } from "../../src/editing/fold.ts";
import { operation, type Operation } from "../../src/editing/log/operations.ts";
import { Entities } from "../../src/editing/state.ts";
import { at } from "../../src/editing/values/values.ts";
import { differences } from "../../src/editing/values/differences.ts";
import { decoded, isMapping } from "../../src/editing/values/encoding.ts";
import { print, read, Unreadable } from "../../src/source/yaml.ts";
import { changesBetween } from "../../src/source/text/lines.ts";
import { CHECK_MS, Manuscript, type Checked, type Ground, type Served } from "../../src/panes/text/writing.ts";
import { Dice } from "../dice.ts";
import { SharedDraft, type Desk } from "../editing/shared_draft.ts";
import { QUICK } from "../tiers.ts";

const PATH = ["with"];

/** What the server does for a text: the parameters of the block `b`. */
class Printer {
  asked = 0;
  isCut = false;

  constructor(private readonly shared: SharedDraft) {}

  private state(seq: number): Entities {
    const made = new Entities(this.shared.log.start);
    for (const item of this.shared.log.items.slice(0, seq)) apply(made, item.effects);
    return made;
  }

  read(): Served {
    const seq = this.shared.log.head;
    return { seq, text: print(decoded(at(this.state(seq).get("block/b"), PATH) ?? null)) };
  }

  check(seq: number, text: string): Checked {
    this.asked += 1;
    try {
      const value = read(text);
      if (!isMapping(value)) throw new Unreadable("expected names", 1);
      const writes = differences("block/b", PATH, at(this.state(seq).get("block/b"), PATH), value, () => `k${this.asked}`);
      return { operations: writes.length === 0 ? [] : [operation(writes)] };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { fault: { message: error.message, mend: "", line: error.line, column: null } };
    }
  }
}

/** A person with the text open. */
class Writer {
  readonly manuscript: Manuscript;
  text = "";
  isCut = false;
  arrivals = 0;

  constructor(readonly desk: Desk, readonly printer: Printer) {
    const { clock } = desk.shared;
    const over = async <T>(make: () => T): Promise<T> => {
      await new Promise<void>((done) => clock.after(5, done));
      if (this.isCut) throw new TypeError("not reached");
      const made = make();
      await new Promise<void>((done) => clock.after(5, done));
      return made;
    };
    const ground: Ground = {
      read: () => over(() => printer.read()),
      check: (seq, text) => over(() => printer.check(seq, text)),
      perform: (operations: readonly Operation[], base) => {
        const done = desk.session.perform(operations, base);
        desk.session.flush();
        return done;
      },
      standing: () => ({ seq: desk.session.replica.seq, settled: desk.session.replica.pending.length === 0, canEdit: desk.session.snapshot().canEdit }),
      later: (ms, run) => clock.after(ms, run),
      why: (error) => (error as Error).message,
    };
    this.manuscript = new Manuscript(ground);
    this.manuscript.arrive = (changes) => {
      this.arrivals += 1;
      this.text = this.manuscript.text.toString();
      assert.ok(changes.newLength === this.text.length);
    };
    desk.session.subscribe(() => { this.manuscript.moved(); });
  }

  type(text: string): void {
    const changes = ChangeSet.of(changesBetween(this.text, text), this.text.length);
    this.text = text;
    this.manuscript.typed(changes);
    assert.equal(this.manuscript.text.toString(), text);
  }

  /** Replaces a part of what is shown. */
  swap(part: string, by: string): void {
    assert.ok(this.text.includes(part), `${part} is not in ${this.text}`);
    this.type(this.text.replace(part, by));
  }
}

async function opened(names: readonly string[], seed = 1): Promise<{ shared: SharedDraft; writers: Writer[]; pass: (ms?: number) => Promise<void> }> {
  const shared = new SharedDraft(new Dice(seed));
  const printer = new Printer(shared);
  const writers: Writer[] = [];
  for (const name of names) writers.push(new Writer(await shared.seat(name), printer));
  for (const writer of writers) void writer.manuscript.open();
  const pass = (ms = 3_000): Promise<void> => shared.clock.pass(ms);
  await pass(200);
  return { shared, writers, pass };
}

const valueOf = (desk: Desk, name: string): unknown => at(desk.view.get("block/b"), [...PATH, name]);

test("what is typed is in the draft after a pause, and one undo takes it back", async () => {
  const { writers: [ada], pass } = await opened(["ada"]);
  assert.ok(ada !== undefined);
  assert.equal(ada.text, "url: u\nprompt: score <order.id>\n");
  ada.swap("url: u", "url: https://example.com");
  assert.equal(ada.manuscript.snapshot().is, "typing");
  await pass(CHECK_MS / 2);
  assert.equal(valueOf(ada.desk, "url"), "u");
  await pass();
  assert.equal(valueOf(ada.desk, "url"), "https://example.com");
  assert.deepEqual([ada.manuscript.snapshot().is, ada.manuscript.isDirty, ada.manuscript.seq], ["same", false, 1]);
  ada.desk.session.undo();
  await pass();
  assert.equal(ada.text, "url: u\nprompt: score <order.id>\n");
});

test("a text that does not parse waits, says where, and is in the draft once it does", async () => {
  const { shared, writers: [ada], pass } = await opened(["ada"]);
  assert.ok(ada !== undefined);
  ada.swap("url: u", "url: [u");
  await pass();
  assert.equal(ada.manuscript.snapshot().is, "faulty");
  assert.ok((ada.manuscript.snapshot().fault?.line ?? 0) >= 1);
  assert.equal(shared.log.head, 0);
  await pass(60_000);
  assert.equal(ada.printer.asked, 1, "it is not asked again before it changes");
  ada.swap("url: [u", "url: [u]");
  await pass();
  assert.equal(ada.manuscript.snapshot().is, "same");
  assert.equal(shared.log.head, 1);
});

test("what others change comes in around what is typed, and both are in the draft", async () => {
  const { writers: [ada, bo], pass } = await opened(["ada", "bo"]);
  assert.ok(ada !== undefined && bo !== undefined);
  ada.swap("url: u", "url: [u");
  bo.swap("score <order.id>", "rate <order.id>");
  await pass();
  assert.equal(ada.text, "url: [u\nprompt: rate <order.id>\n");
  assert.equal(ada.manuscript.snapshot().is, "faulty");
  ada.swap("url: [u", "url: v");
  await pass();
  for (const one of [ada, bo]) {
    assert.equal(one.text, "url: v\nprompt: rate <order.id>\n");
    assert.equal(valueOf(one.desk, "prompt"), "rate <order.id>");
    assert.equal(one.manuscript.snapshot().is, "same");
  }
});

test("two people type into one text at once: all of it is kept", async () => {
  const { writers: [ada, bo], pass } = await opened(["ada", "bo"]);
  assert.ok(ada !== undefined && bo !== undefined);
  ada.swap("score", "AAAA score");
  bo.swap("<order.id>", "<order.id> BBBB");
  await pass();
  assert.equal(ada.text, "url: u\nprompt: AAAA score <order.id> BBBB\n");
  assert.equal(bo.text, ada.text);
});

test("without a network the text waits; it is in the draft when the network is back", async () => {
  const { writers: [ada], pass } = await opened(["ada"]);
  assert.ok(ada !== undefined);
  ada.isCut = true;
  ada.swap("url: u", "url: w");
  await pass();
  assert.equal(ada.manuscript.snapshot().problem, "not reached");
  ada.isCut = false;
  await pass(10_000);
  assert.deepEqual([valueOf(ada.desk, "url"), ada.manuscript.snapshot().is, ada.manuscript.snapshot().problem], ["w", "same", null]);
});

test("what was typed can be discarded, also while it is being checked", async () => {
  const { shared, writers: [ada], pass } = await opened(["ada"]);
  assert.ok(ada !== undefined);
  const before = ada.text;
  for (const wait of [0, CHECK_MS + 7]) {
    ada.swap("url: u", "url: {");
    await pass(wait);
    ada.manuscript.discard();
    assert.equal(ada.text, before);
    await pass();
    assert.deepEqual([ada.text, ada.manuscript.snapshot().is, shared.log.head], [before, "same", 0]);
  }
});

const SEEDS = Number(process.env["SEEDS"] ?? (QUICK ? 6 : 20));

test("people write at random into one text: in the end all see the draft's text", async () => {
  let agreed = 0;
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const { shared, writers, pass } = await opened(["ada", "bo", "cy"], seed);
    const dice = new Dice(seed);
    const names = ["url", "prompt", "retries", "note"];
    for (let turn = 0; turn < 40; turn += 1) {
      const writer = dice.one(writers);
      const lines = writer.text.split("\n").filter((line) => line !== "");
      const place = dice.below(lines.length + 1);
      const name = dice.one(names);
      if (dice.below(4) === 0 || lines.length === 0) {
        if (!lines.some((line) => line.startsWith(`${name}:`))) lines.splice(place, 0, `${name}: t${turn}`);
      } else {
        const line = dice.below(lines.length);
        lines[line] = dice.below(6) === 0 ? `${lines[line] ?? ""} [` : `${lines[line]?.replaceAll(" [", "") ?? ""}${turn}`;
      }
      writer.type(`${lines.join("\n")}\n`);
      await pass(dice.below(900));
    }
    for (const writer of writers) {
      const mended = writer.text.replaceAll(" [", "");
      if (mended !== writer.text) writer.type(mended);
      await pass(5_000);
    }
    await pass(20_000);
    const wanted = writers[0]?.printer.read();
    for (const writer of writers) {
      if (writer.manuscript.snapshot().is === "faulty") continue; // a name that two people added is there twice: it waits and says so
      assert.deepEqual([writer.text, writer.manuscript.snapshot().is], [wanted?.text, "same"], `seed ${seed}, ${writer.desk.name}`);
      agreed += 1;
    }
    assert.ok(shared.log.head > 0);
  }
  assert.ok(agreed >= 2.5 * SEEDS, `${agreed} of ${3 * SEEDS} texts agree`);
});
