import assert from "node:assert/strict";
import { test } from "node:test";
import type { Approval } from "../../src/inbox/answer_form.tsx";
import { addressOf, apart, askedOf, merged, pathAfter, pathOf, type Open } from "../../src/inbox/questions.ts";

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

test("filters are in the address, and are sent to the server", () => {
  const asked = askedOf(new URLSearchParams("workflow=a%26b&due=24h&mine=1&other=1"));
  assert.deepEqual(asked, { workflow: "a&b", due: "24h", mine: true });
  assert.equal(addressOf(asked), "?workflow=a%26b&due=24h&mine=1");
  assert.equal(pathOf(asked, 1), "/approvals?workflow=a%26b&due_before=1970-01-02T00%3A01%3A00.000Z&assigned=true");
  assert.equal(pathAfter(pathOf(asked, 1), "c").endsWith("&cursor=c"), true);
  assert.equal(pathOf({ workflow: "", due: "soon", mine: false }, 1), "/approvals", "a duration that is none is not sent");
});

test("questions of one node with one form are answered together", () => {
  assert.equal(apart([asked("a"), asked("b")]), "");
  assert.notEqual(apart([asked("a"), { ...asked("b"), fields: { n: {} } }]), "");
  assert.notEqual(apart([asked("a"), { ...asked("b"), node: "other" }]), "");
  assert.notEqual(apart([]), "");
});
