import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, barWords, orderOf, percent, shownOf, windowOf, type Listed } from "../../src/workflows/health.ts";

function listed(workflow: string, given: Partial<Listed> = {}): Listed {
  return {
    workflow, name: workflow, since: "", until: "", runs: 0, at_least: false, statuses: {}, failure_rate: null, p50_ms: null, p95_ms: null, usd: null,
    bars: [], failed_bars: [], next_at: null, version: 1, published_at: "", starts: [], schedules: 0, paused_schedules: 0, ...given,
  };
}

test("what the address names is taken where it is known", () => {
  assert.deepEqual([windowOf("7d"), windowOf("8d"), windowOf(null), windowOf("constructor")], ["7d", "24h", "24h", "24h"]);
  assert.deepEqual([orderOf("failures"), orderOf("x"), orderOf("toString")], ["failures", "name", "name"]);
});

test("a search finds every word in the name or the id", () => {
  const all = [listed("refund", { name: "Refund approval" }), listed("quotes"), listed("refund-b2b", { name: "Large refunds" })];
  const found = (words: string): string[] => shownOf(all, words, "name").map((one) => one.workflow);
  assert.deepEqual(found(""), ["refund-b2b", "quotes", "refund"]);
  assert.deepEqual(found("  REFUND large"), ["refund-b2b"]);
  assert.deepEqual(found("none"), []);
});

test("workflows stand by what is asked for, those without it last", () => {
  const all = [
    listed("a", { failure_rate: 0, runs: 9, p95_ms: 5 }), listed("b", { failure_rate: 0.5, runs: 2, usd: 1, next_at: "2026-01-02T00:00:00Z" }),
    listed("c", { next_at: "2026-01-01T00:00:00Z" }), listed("d", { failure_rate: 0.5, runs: 1 }),
  ];
  const order = (name: Parameters<typeof shownOf>[2]): string => shownOf(all, "", name).map((one) => one.workflow).join("");
  assert.deepEqual([order("failures"), order("runs"), order("slow"), order("cost"), order("next")], ["bdac", "abdc", "abcd", "bacd", "cbad"]);
});

test("a share has two significant digits, and is neither nothing nor everything by rounding", () => {
  assert.deepEqual([0, 0.0002, 0.0123, 0.05, 0.256, 0.9999, 1].map(percent), ["0%", "0.02%", "1.2%", "5%", "26%", "99.5%+", "100%"]);
});

test("a bar shows each run and each failure, however few", () => {
  assert.deepEqual(barsOf([0, 1, 100, 100], [0, 1, 1, 100], 20).map(({ whole, failed }) => [whole, failed]), [[0, 0], [2, 2], [20, 2], [20, 20]]);
  assert.deepEqual(barsOf([100, 100], [99, 0], 20).map(({ whole, failed }) => [whole, failed]), [[20, 19], [20, 0]]);
  assert.equal(barWords(listed("a", { runs: 1, failed_bars: [1] })), "1 of 1 run failed");
  assert.equal(barWords(listed("a", { runs: 100, at_least: true, failed_bars: [1, 2] })), "3 of the newest 100 runs failed");
});
