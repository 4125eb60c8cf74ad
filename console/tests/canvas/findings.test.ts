import assert from "node:assert/strict";
import { test } from "node:test";
import { findingWords, quieted, worstOf } from "../../src/canvas/model/findings.ts";
import type { Finding } from "../../src/wire/draft/open_draft.ts";
import { Alone, deskOf } from "./drafts.ts";

const finding = (code: string, key: string | null, severity: Finding["severity"] = "error"): Finding => ({ code, key, severity, message: "", mend: "", path: "", fix: null });
const MISSING = finding("missing_field", "block/a");
const WRONG = finding("unknown_reference", "block/a");

test("what a node still lacks is no error until it is tested or published", () => {
  const desk = deskOf(new Alone());
  const severities = (): (string | null)[] => ["a", "b"].map((tail) => worstOf(desk.snapshot().findings.get(tail)));
  desk.found([MISSING]);
  assert.deepEqual(severities(), ["incomplete", null]);
  assert.ok(desk.described("a").endsWith("1 to fill in"));
  desk.insist();
  assert.deepEqual(severities(), ["error", null]);
  desk.found([MISSING, finding("empty_body", "block/b")]);
  assert.deepEqual(severities(), ["error", "incomplete"], "a node that was added since is not insisted on");
});

test("other errors, and those of the whole workflow, are errors at once", () => {
  assert.deepEqual(quieted([WRONG, finding("missing_field", null)], new Set()).map(({ severity }) => severity), ["error", "error"]);
});

test("the worst is shown, and what is to fill in is counted apart", () => {
  const listed = quieted([MISSING, WRONG, finding("idle_setting", "block/a", "warning")], new Set());
  assert.equal(worstOf(listed), "error");
  assert.equal(findingWords(listed), "2 findings, 1 to fill in");
  assert.equal(findingWords(quieted([MISSING, MISSING], new Set())), "2 to fill in");
  assert.deepEqual([findingWords([]), worstOf([]), worstOf(undefined)], ["", null, null]);
});
