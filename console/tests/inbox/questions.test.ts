import assert from "node:assert/strict";
import { test } from "node:test";
import type { Approval } from "../../src/inbox/answer.tsx";
import { merged, pathAfter, type Open } from "../../src/inbox/questions.ts";

function asked(run: string): Approval {
  return { run_id: run, workflow: "pay", name: "Pay", version: 1, pause: "q", node: "q", message: "?", details: [], asked_by: null, fields: {}, exits: [], approvers: [], since: "2026-01-01T00:00:00Z", deadline: null, resume: null };
}

function page(runs: readonly string[], cursor: string | null, unreadable: readonly string[] = []): Open {
  return { approvals: runs.map(asked), count: 3, at_least: false, cursor, deciding_as: null, unreadable, pages: 1 };
}

test("a question that two pages have is listed once, in its first place", () => {
  const whole = merged(page(["a", "b"], "x", ["lost"]), page(["b", "c"], null, ["lost", "gone"]));
  assert.deepEqual(whole.approvals.map((one) => one.run_id), ["a", "b", "c"]);
  assert.deepEqual([whole.cursor, whole.unreadable], [null, ["lost", "gone"]]);
});

test("a cursor is one part of the address", () => {
  assert.equal(pathAfter("/approvals", "a&b"), "/approvals?cursor=a%26b");
});
