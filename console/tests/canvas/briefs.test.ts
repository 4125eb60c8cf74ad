import assert from "node:assert/strict";
import { test } from "node:test";
import { briefOf } from "../../src/canvas/model/briefs.ts";
import { readObject } from "../../src/editing/values/json.ts";

const said = (type: string, given: string): string => briefOf(type, readObject(given));

test("a block says by which parameter people know it", () => {
  assert.equal(said("http", `{"method": "POST", "url": "https://risk.example.com/v1"}`), "POST risk.example.com/v1");
  assert.equal(said("function", `{"call": "risk.score", "args": {"a": 1}}`), "risk.score");
  assert.equal(said("webhook", `{"path": "/refunds"}`), "/refunds");
  assert.equal(said("schedule", `{"rate": "5m"}`), "every 5m");
  assert.equal(said("condition", `{"cases": {"auto": "true"}}`), "1 case");
  assert.equal(said("router", `{"routes": {"a": "", "b": ""}}`), "2 routes");
  assert.equal(said("loop", `{"times": 3}`), "3 times");
  assert.equal(said("loop", `{"items": "<order.lines>"}`), "<order.lines>");
  assert.equal(said("set", `{"variables": {"status": "x", "total": 1}}`), "status, total");
  assert.equal(said("respond", `{"status": 201}`), "201");
});

test("one line, and of a long text its beginning", () => {
  assert.equal(said("approval", `{"message": "Refund?\\nThe order is old."}`), "Refund?");
  assert.equal(said("approval", `{"message": "${"x".repeat(200)}"}`), `${"x".repeat(79)}…`);
});

test("what is not known or not set says nothing", () => {
  assert.deepEqual([briefOf("a plug-in", readObject(`{"url": "x"}`)), briefOf("http", undefined), said("http", "{}"), said("transform", `{"value": {"a": 1}}`), briefOf("constructor", readObject("{}"))], ["", "", "", "", ""]);
});
