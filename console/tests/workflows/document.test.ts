import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, hooksOf, keyOf, messagesOf, sampleOf } from "../../src/workflows/document.ts";

const SCHEMA = { type: "object", properties: { amount: { type: "integer" } } };

test("entries are those by hand first, without disabled nodes", () => {
  const nodes = {
    night: { type: "schedule", with: { rate: "1h" } }, begin: { type: "manual", inputs: SCHEMA }, off: { type: "event", enabled: false }, work: { type: "http" }, broken: null,
  };
  assert.deepEqual(entriesOf({ nodes }), [{ id: "begin", kind: "manual", inputs: SCHEMA }, { id: "night", kind: "schedule", inputs: null }]);
  for (const document of [null, [], {}, { nodes: [] }, { nodes: { a: 1 } }]) assert.deepEqual(entriesOf(document), []);
});

test("a webhook says how its sender proves itself, and never a secret of the document", () => {
  const auths: readonly (readonly [auth: unknown, scheme: string, header: string, secret: string])[] = [
    ["none", "none", "", ""], [undefined, "none", "", ""], [{ hmac: "${SHOP}" }, "hmac", "X-Signature", "SHOP"], [{ hmac: "${SHOP}", header: "X-Shop" }, "hmac", "X-Shop", "SHOP"],
    [{ bearer: "plain-token" }, "bearer", "Authorization", ""], [{ scheme: "github", secret: "${GH}" }, "github", "X-Hub-Signature-256", "GH"],
    [{ scheme: "stripe", secret: "whsec_plain" }, "stripe", "Stripe-Signature", ""], [{ scheme: "standard", secret: "${A}${B}" }, "standard", "webhook-signature", ""],
    [{ scheme: "later", secret: "${X}" }, "other", "", "X"], [{ scheme: "twilio", secret: ["${S}", "${T}"] }, "other", "", "S"],
    [{ scheme: "slack", secret: "${S}" }, "slack", "X-Slack-Signature", "S"],
    [{ hmac: "${X}", template: "{body}", header: "X-Sig" }, "other", "X-Sig", "X"], [{ hmac: ["${X}"] }, "hmac", "X-Signature", "X"],
  ];
  for (const [auth, scheme, header, secret] of auths) {
    const [hook] = hooksOf({ nodes: { in: { type: "webhook", with: { path: "/in", auth } } } });
    assert.deepEqual([hook?.scheme, hook?.header, hook?.secret, hook?.methods, hook?.waits], [scheme, header, secret, ["POST"], false]);
  }
  const [hook] = hooksOf({ nodes: { in: { type: "webhook", with: { path: "/in", method: ["get", "PUT"], response: "wait", schema: SCHEMA } } } });
  assert.deepEqual([hook?.methods, hook?.waits, hook?.schema], [["GET", "PUT"], true, SCHEMA]);
  assert.deepEqual(hooksOf({ nodes: { in: { type: "webhook", with: {} }, other: { type: "webhook" } } }), []);
});

test("a sample has what the schema names, and something of its type elsewhere", () => {
  const schema = {
    type: "object", properties: {
      id: { type: "string", examples: ["o-1"] }, amount: { type: "integer", minimum: 1 }, how: { enum: ["card", "voucher"] }, when: { type: "string", default: "now" },
      lines: { type: "array", items: SCHEMA }, deep: SCHEMA, any: true, sure: { type: ["boolean", "null"] },
    },
  };
  assert.deepEqual(sampleOf(schema), { id: "o-1", amount: 1, how: "card", when: "now", lines: [], deep: { amount: 0 }, any: null, sure: false });
  const endless: Record<string, unknown> = { type: "object" };
  endless["properties"] = { again: endless };
  assert.ok(JSON.stringify(sampleOf(endless)).length < 200);
});

test("a message has its sources, and the nodes that take it, in containers too", () => {
  const receive = (message: string) => ({ type: "receive", with: { message } });
  const document = {
    key: "<input.id>", messages: {
      payment: { data: SCHEMA, webhook: { path: "/pay", auth: { scheme: "stripe", secret: "${KEY}" } }, where: "<body.ok>", key: "<body.id>", map: { amount: "<body.a>" }, keep: "1h" },
      parcel: { event: { source: ["shop"] } }, plain: {},
    },
    nodes: { begin: { type: "manual" }, paid: receive("payment"), each: { type: "loop", with: { body: { nodes: { inner: receive("payment"), off: { ...receive("payment"), enabled: false } } } } } },
  };
  const made = messagesOf(document).map(({ hook, event, where, key, map, keep, takers, schema }) => [hook?.path, hook?.scheme, hook?.secret, event, where, key, map, keep, takers, schema]);
  const none = [undefined, undefined, undefined];
  assert.deepEqual(made, [
    ["/pay", "stripe", "KEY", null, "<body.ok>", "<body.id>", { amount: "<body.a>" }, "1h", ["paid", "inner@each"], SCHEMA],
    [...none, { source: ["shop"] }, "", "", null, "", [], null], [...none, null, "", "", null, "", [], null],
  ]);
  assert.deepEqual(keyOf(document), { key: "<input.id>", onConflict: "join" });
  assert.deepEqual(keyOf({ key: "<input.id>", on_conflict: "refuse" }), { key: "<input.id>", onConflict: "refuse" });
  for (const other of [null, {}, { messages: [] }, { messages: { a: 1 }, nodes: 1 }]) assert.ok(messagesOf(other).every(({ hook, takers }) => hook === null && takers.length === 0));
  assert.equal(keyOf({}), null);
});
