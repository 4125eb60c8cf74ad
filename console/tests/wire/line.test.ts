/** How a draft is followed: over a socket, by requests where that is the only way, and again after every break. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { textAt } from "../../src/editing/values/values.ts";
import { Page, type Answer, type Asked } from "./page.ts";

const TICKET: Answer = [200, { ticket: "t 1" }];

/** A server with a session; `more` answers what is no ticket. */
const roomy = (more: (asked: Asked) => Answer | undefined = () => undefined) => (asked: Asked): Answer | undefined =>
  (asked.path.endsWith("/ticket") ? TICKET : more(asked));

const said = (page: Page, type: string): Map<string, unknown>[] => page.heard.filter((one) => one.get("t") === type).map((one) => new Map<string, unknown>(one));

test("a socket is opened with a ticket, and says hello first", async () => {
  const page = new Page(roomy());
  await page.start();
  assert.equal(page.socket.address, "ws://here/drafts/d/room?ticket=t%201");
  page.enter();
  assert.deepEqual([page.socket.types(), page.states], [["hello"], ["connected"]]);
  assert.equal(said(page, "welcome").length, 1);
  page.close();
});

test("an intent goes over the socket up to 30,000 bytes, and by request above that", async () => {
  const page = new Page(roomy(({ method }) => (method === "PUT" ? [200, { item: { seq: 1, client: "me" } }] : undefined)));
  await page.start();
  page.enter();
  page.op(1, "small", 20_000);
  page.op(2, "large", 30_000);
  await page.pass(0);
  assert.deepEqual(page.socket.sent.map((one) => one.get("tag")), [undefined, "small"]);
  assert.deepEqual(page.puts(), [[2, "large"]]);
  const put = page.asked.find(({ method }) => method === "PUT");
  assert.deepEqual([put?.path, [...put?.body?.keys() ?? []]], ["/drafts/d/ops", ["epoch", "client", "n", "tag", "base", "gestures"]]);
  assert.equal(said(page, "item").length, 1);
  page.close();
});

for (const [status, code] of [[413, "too_large"], [400, "malformed"]] as const) {
  test(`a request that is answered ${status} took nothing: ${code}`, async () => {
    const page = new Page(roomy(({ method }) => (method === "PUT" ? [status, { error: { code: "x", message: "m" } }] : undefined)));
    await page.start();
    page.enter();
    page.op(7, "large", 30_000);
    await page.pass(0);
    assert.deepEqual(said(page, "answer").map((one) => [one.get("n"), one.get("tag"), one.get("code")]), [[7, "large", code]]);
    page.close();
  });
}

for (const [status, error, closing] of [
  [401, "unauthorized", 4401], [403, "role_missing", 4403], [409, "draft_replaced", 4409], [410, "gone", 4409], [404, "unknown_draft", 4409],
] as const) {
  test(`a request that is answered ${status} ${error} ends like a socket with ${closing}`, async () => {
    const page = new Page(roomy(({ method }) => (method === "PUT" ? [status, { error: { code: error, message: "m" } }] : undefined)));
    await page.start();
    page.enter();
    page.op(1, "large", 30_000);
    await page.pass(0);
    assert.deepEqual(said(page, "closing").map((one) => one.get("code")), [closing]);
    page.close();
  });
}

for (const answer of [[503, { error: { code: "store_unavailable", message: "m" } }], [429, {}], null] as const) {
  test(`a request that ${answer === null ? "gets no answer" : `is answered ${answer[0]}`} is left to the session, which sends it again`, async () => {
    const page = new Page(roomy(({ method }) => (method === "PUT" ? answer : undefined)));
    await page.start();
    page.enter();
    page.op(1, "large", 30_000);
    await page.pass(0);
    assert.deepEqual(page.heard.map((one) => one.get("t")), ["welcome"]);
    page.close();
  });
}

test("an intent after which the socket was closed as malformed is sent by request, which is answered about that one", async () => {
  const page = new Page(roomy(({ method }) => (method === "PUT" ? [400, { error: { code: "malformed_intent", message: "m" } }] : undefined)));
  await page.start();
  page.enter();
  page.op(1, "odd");
  page.socket.say({ t: "closing", code: 4400, why: "m" });
  page.socket.close();
  await page.pass(1_000);
  page.enter();
  page.op(1, "odd");
  page.op(2, "even");
  await page.pass(0);
  assert.deepEqual(page.puts(), [[1, "odd"]]);
  assert.deepEqual(page.socket.sent.map((one) => one.get("tag")), [undefined, "even"]);
  assert.deepEqual(said(page, "answer").map((one) => one.get("code")), ["malformed"]);
  page.close();
});

test("items that no message holds are read by request, from the last one that was heard", async () => {
  const page = new Page(roomy(({ path }) => (path.includes("/ops?") ? [200, { items: [{ seq: 4, client: "bo" }], head: 4 }] : undefined)));
  await page.start();
  page.enter();
  const clients: string[] = [];
  page.line.heardEntry = (item) => clients.push(textAt(item, "client"));
  page.socket.say({ t: "item", item: { seq: 3, client: "ann" } });
  page.socket.say({ t: "pull", head: 4 });
  await page.pass(0);
  assert.deepEqual(page.asked.at(-1)?.path, "/drafts/d/ops?epoch=1&after=3&limit=1000&wait=0");
  assert.deepEqual([clients, said(page, "items").map((one) => one.get("head"))], [["ann", "bo"], [4]]);
  page.close();
});

test("who comes may change what this page may send, which the session hears too", async () => {
  const page = new Page(roomy());
  await page.start();
  page.enter();
  page.socket.say({ t: "who", client: "c2", person: "Bo", joined: true });
  page.socket.say({ t: "who", client: "c3", person: "Cy", joined: true, rates: { ops_per_s: 5, presence_per_s: 1 } });
  assert.deepEqual(said(page, "who").map((one) => one.get("client")), ["c3"]);
  page.line.at({ cursor: { x: 1, y: 2 } });
  await page.pass(1_000);
  assert.deepEqual(page.socket.types(), ["hello"]);
  await page.pass(250);
  assert.deepEqual(page.socket.types(), ["hello", "at"], "one in a second, and a little less");
  page.close();
});

test("a ping goes every four minutes, and after 110 minutes another socket is opened", async () => {
  const page = new Page(roomy());
  await page.start();
  page.enter();
  const first = page.socket;
  for (let minute = 0; minute < 109; minute += 1) await page.pass(60_000);
  assert.deepEqual([first.types().filter((type) => type === "ping").length, first.readyState], [27, 1]);
  await page.pass(60_000);
  assert.equal(first.readyState, 3);
  await page.pass(1_000);
  page.enter();
  assert.notEqual(page.socket, first);
  assert.deepEqual(page.states, ["connected", "disconnected", "connected"]);
  page.close();
});

test("it comes back after half a second, each time after twice as long, and after 15 s at last", async () => {
  const page = new Page(roomy(() => null));
  let reached = true;
  Object.assign(page, { answer: (asked: Asked) => (reached && asked.path.endsWith("/ticket") ? TICKET : null) });
  await page.start();
  page.enter();
  reached = false;
  page.socket.close();
  const tickets = (): number => page.asked.filter(({ path }) => path.endsWith("/ticket")).length;
  const waits: number[] = [];
  for (let tries = 0; tries < 8; tries += 1) {
    const before = tickets();
    let waited = 0;
    while (tickets() === before) {
      await page.pass(50);
      waited += 50;
    }
    waits.push(waited);
  }
  for (const [place, wait] of [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000].entries()) {
    const found = waits[place] ?? 0;
    assert.ok(found >= wait * 0.8 && found <= wait * 1.2 + 50, `${found} ms after failure ${place + 1}`);
  }
  reached = true;
  await page.pass(18_000);
  page.enter();
  assert.equal(textAt(page.heard.at(-1) ?? new Map(), "t"), "welcome");
  page.close();
});

test("where two sockets fail before a welcome, as in a full room, it polls, and sends by request", async () => {
  const page = new Page(roomy(({ method }) => (method === "PUT" ? [200, { item: { seq: 1, client: "me" } }] : undefined)));
  page.line.mayEdit = () => false;
  await page.start();
  for (let sockets = 1; sockets <= 2; sockets += 1) {
    page.socket.open();
    page.socket.say({ t: "closing", code: 4429, why: "50 people are here already" });
    page.socket.close();
    await page.pass(2_000);
  }
  assert.equal(page.sockets.length, 2);
  assert.equal(page.asked.at(-1)?.path, "/drafts/d/ops?epoch=1&after=0&limit=1000&wait=20");
  assert.deepEqual(said(page, "welcome").map((one) => [one.get("epoch"), one.get("head"), one.get("edit")]), [[1, 0, false]], "a reader is told so at once");
  page.op(1, "small");
  await page.pass(0);
  assert.deepEqual(page.puts(), [[1, "small"]]);
  page.close();
});

test("one who polls looks now and then for what only a room says, such as a test run", async () => {
  let polls = 0;
  const page = new Page((asked) => {
    if (!asked.path.includes("/ops?")) return [404, { error: { code: "unknown_route", message: "m" } }];
    polls += 1;
    return polls < 5 ? [200, { items: [{ seq: polls, client: "bo" }], head: polls }] : undefined;
  });
  let looked = 0;
  page.line.entered = () => { looked += 1; };
  await page.start();
  await page.pass(2_000);
  assert.deepEqual([polls, looked], [5, 1], "at once, and then at most every five seconds");
  page.close();
});
