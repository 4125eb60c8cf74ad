import assert from "node:assert/strict";
import { test } from "node:test";
import { declaredIn } from "../../src/messages/declared.ts";
import { nextMessage } from "../../src/messages/receivable.ts";
import { pathOf } from "../../src/messages/sending.ts";

const DATA = { type: "object", properties: { amount: { type: "number" } } };

test("messages are those of the document, with their schema and whether they cancel", () => {
  const document = { messages: { payment: { data: DATA }, gone: {}, broken: null }, cancel_on: ["gone", 7] };
  assert.deepEqual(declaredIn(document), [{ name: "payment", schema: DATA, cancels: false }, { name: "gone", schema: null, cancels: true }, { name: "broken", schema: null, cancels: false }]);
  for (const other of [null, [], {}, { messages: [] }, { messages: 1, cancel_on: "gone" }]) assert.deepEqual(declaredIn(other), []);
});

test("a message goes to one run, or to the runs of a key; one that may start a run is not kept", () => {
  const key = { workflow: "order", key: "A 17/ü", keep: "", starts: false };
  assert.equal(pathOf({ run: "run_1" }, "pay"), "/runs/run_1/messages/pay");
  assert.equal(pathOf(key, "pay"), "/workflows/order/messages/pay?key=A+17%2F%C3%BC");
  assert.equal(pathOf({ ...key, key: "a", keep: "1h" }, "pay"), "/workflows/order/messages/pay?key=a&keep=1h");
  assert.equal(pathOf({ ...key, key: "a", keep: "1h", starts: true }, "pay"), "/workflows/order/messages/pay?key=a&start=true");
});

test("the message that is offered first is the one that has been waited for longest", () => {
  const pause = (since: string, reason: string, details: Record<string, unknown>) => ({ pause: "x", node: "x", reason, exits: [], details, since, deadline: null, resume_at: null, resume: null });
  const pauses = [
    pause("2026-01-02T00:00:00.000Z", "message", { message: "late" }), pause("2026-01-01T00:00:00.000Z", "message", { message: "early" }), pause("2025-01-01T00:00:00.000Z", "human_input", { message: "Pay?" }),
  ];
  assert.equal(nextMessage({ pauses }), "early");
  assert.equal(nextMessage({ pauses: pauses.slice(2) }), "");
});
