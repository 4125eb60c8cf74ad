import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal, type requestPlain } from "../../src/wire/api.ts";
import { doneSteps, keepSteps, keptSteps, type Step } from "../../src/workflows/welcome/done.ts";

type Found = Parameters<typeof doneSteps>[0];

const found = (drafts: readonly string[], listed: readonly string[]): Found => ({
  drafts: drafts.map((workflow) => ({ workflow })), listed: listed.map((workflow) => ({ workflow })),
}) as unknown as Found;

/** Answers with one entry for the paths that begin with one of these, refuses others. */
let version: number | null = 1; // of the last run

function answering(...paths: readonly string[]): { readonly read: typeof requestPlain; readonly asked: string[] } {
  const asked: string[] = [];
  return { asked, read: (_, path) => {
    asked.push(path);
    return paths.some((one) => path.startsWith(one)) ? Promise.resolve({ runs: [{ version: null }, { version: path.startsWith("/runs") ? version : null }], decisions: [{}] }) : Promise.reject(new Refusal(403, "forbidden", "no", ""));
  } };
}

test("each step ticks itself off by what the server has", async () => {
  const none = new Set<Step>();
  assert.deepEqual([...await doneSteps(found([], []), none, answering().read)], []);
  assert.deepEqual([...await doneSteps(found(["a"], []), none, answering("/drafts/a/runs").read)], ["begin", "test"]);
  assert.deepEqual([...await doneSteps(found([], ["a"]), none, answering("/runs", "/approvals/decisions").read)], ["begin", "publish", "run", "decide"]);
});

test("a test run is no run of a version", async () => {
  version = null;
  assert.deepEqual([...await doneSteps(found([], []), new Set(), answering("/runs").read)], []);
  version = 1;
});

test("what was done stays done, and is not asked for again", async () => {
  const { read, asked } = answering();
  assert.deepEqual([...await doneSteps(found([], []), new Set<Step>(["begin", "test", "run"]), read)], ["begin", "test", "run"]);
  assert.deepEqual(asked, ["/approvals/decisions?limit=1"]);
});

test("the steps are kept in the browser, and can be hidden", () => {
  let kept: string | null = null;
  const storage = { getItem: () => kept, setItem: (_: string, text: string) => { kept = text; } };
  assert.deepEqual(keptSteps(storage), new Set());
  keepSteps(new Set<Step>(["begin", "publish"]), storage);
  assert.deepEqual(keptSteps(storage), new Set(["begin", "publish"]));
  keepSteps(null, storage);
  assert.equal(keptSteps(storage), null);
});
