import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, filterOf, saidOf, spanOf, toggled } from "../../src/inbox/groups.ts";

test("the highest bar is full, and one that counts something is seen", () => {
  assert.deepEqual(barsOf([0, 1, 1_000, 500], 24).map(({ height }) => height), [1, 3, 24, 12]);
  assert.deepEqual(barsOf([0, 0], 24).map(({ height }) => height), [1, 1]);
});

test("an address that names no span has a week", () => {
  assert.deepEqual([null, "", "24h", "30d", "constructor", "9y"].map(spanOf), ["7d", "7d", "24h", "30d", "7d", "7d"]);
});

test("the runs of a group are listed by their status, and by their error where they have one", () => {
  assert.deepEqual(filterOf({ workflow: "pay", status: "timed_out", code: "timed_out" }, "24h"), { workflow: "pay", status: "timed_out", since: "24h" });
  assert.deepEqual(filterOf({ workflow: "pay", status: "failed", code: "no_stock" }, "7d"), { workflow: "pay", status: "failed", error: "no_stock", since: "7d" });
});

test("groups that are not shown are told", () => {
  const found = { errors: Array.from({ length: 200 }), group_count: 312, count: 4_000, at_least: false, unsure: false };
  assert.equal(saidOf(found), "4,000 failures; the first 200 of 312 groups are shown");
  assert.equal(saidOf({ ...found, group_count: 200, at_least: true, unsure: true }), "At least 4,000 failures in 200 groups; some may have been rerun since");
  assert.equal(saidOf({ ...found, errors: [], group_count: 0, count: 0 }), "");
});

test("a group is opened and closed in the address beside what else stands there", () => {
  const opened = toggled(toggled(new URLSearchParams("since=24h"), "a b"), "c");
  assert.equal(opened.toString(), "since=24h&group=a+b&group=c");
  assert.equal(toggled(opened, "a b").toString(), "since=24h&group=c");
});
