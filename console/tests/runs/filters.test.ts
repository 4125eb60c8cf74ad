import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, fromAddress, isFiltered, NO_FILTERS, sinceOf, toAddress, toBody, toQuery } from "../../src/runs/list/filters.ts";
import { Dice } from "../dice.ts";
import { lasting, readDuration, dollars, shortId } from "../../src/ui/words/formats.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");

test("filters come back from the address as they went into it", () => {
  const dice = new Dice(7);
  const random = (): number => dice.fraction();
  const words = ["", "refund", "a b", "ü&=?#", "x/y", "100%", "+"];
  const one = (): string => words[Math.floor(random() * words.length)] ?? "";
  for (let round = 0; round < 2_000; round += 1) {
    const filters = { ...NO_FILTERS, workflow: one(), status: one(), waiting: one(), since: one(), search: one(), error: one(), longer: one(), shorter: one(), tags: [...new Set([one(), one()])].filter(Boolean) };
    assert.deepEqual(fromAddress(new URLSearchParams(toAddress(filters))), filters);
  }
});

test("no filter is no query", () => {
  assert.equal(toAddress(NO_FILTERS), "");
  assert.equal(toQuery(NO_FILTERS, NOW).toString(), "");
  assert.equal(isFiltered(NO_FILTERS), false);
  assert.equal(isFiltered({ ...NO_FILTERS, tags: ["a"] }), true);
});

test("a filter is sent in the names of the API", () => {
  const filters = { ...NO_FILTERS, workflow: "refund", status: "failed", since: "24h", tags: ["customer:c-1", "urgent"], search: "tea", longer: "1.5 h", shorter: "2d", error: "no_stock" };
  assert.deepEqual(toBody(filters, NOW), {
    workflow: "refund", status: "failed", since: "2026-11-22T12:00:00.000Z", keywords: ["customer:c-1", "urgent"], search: "tea", error: "no_stock",
    min_duration_ms: 5_400_000, max_duration_ms: 172_800_000,
  });
  assert.deepEqual(toQuery(filters, NOW).getAll("keyword"), ["customer:c-1", "urgent"]);
});

test("what cannot be meant is said, and not sent", () => {
  const filters = { ...NO_FILTERS, status: "broken", waiting: "rain", since: "yesterday", tags: ["two words"], error: "No Code", longer: "long", search: "x".repeat(201) };
  assert.deepEqual([...faultsOf(filters).keys()].sort(), ["error", "longer", "search", "since", "status", "tags", "waiting"]);
  assert.deepEqual(toBody(filters, NOW), {});
});

test("a since is a duration or an instant", () => {
  assert.equal(sinceOf("1h", NOW), "2026-11-23T11:00:00.000Z");
  assert.equal(sinceOf("2026-01-31T12:00:00Z", NOW), "2026-01-31T12:00:00.000Z");
  for (const text of ["", "now", "24", "-1h", "2026-13-01T00:00:00Z", "1e9h"]) assert.equal(sinceOf(text, NOW), null, text);
});

test("durations are read and written", () => {
  assert.deepEqual(["250ms", "90s", "5m", "5 min", "1.5h", "2d", "1w"].map(readDuration), [250, 90_000, 300_000, 300_000, 5_400_000, 172_800_000, 604_800_000]);
  assert.deepEqual(["", "5", "h", "5x", "-5s", "5s5s"].map(readDuration), [null, null, null, null, null, null]);
  assert.deepEqual([0, 12.4, 999, 1_000, 59_900, 59_960, 61_000, 3_599_999, 3_600_000, 90_061_000].map(lasting), ["0 ms", "12 ms", "999 ms", "1.0 s", "59.9 s", "1 min", "1 min 1 s", "1 h", "1 h", "1 d 1 h"]);
  assert.deepEqual([0, 0.00001125, 0.5, 12.345].map(dollars), ["$0", "$0.000011", "$0.50", "$12.35"]);
  assert.equal(shortId("run_5c9b3c607606162f02b7"), "162f02b7");
});
