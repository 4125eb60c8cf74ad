import assert from "node:assert/strict";
import { test } from "node:test";
import type { Approval } from "../../src/inbox/answer_form.tsx";
import { each, type Result } from "../../src/inbox/sending.ts";
import { Refusal } from "../../src/wire/api.ts";

const question = (run: string): Approval => ({
  run_id: run, workflow: "pay", name: "Pay", version: 1, pause: "q", node: "q", message: run, details: [], asked_by: null, fields: {}, exits: ["approved"], approvers: [],
  since: "", deadline: null, resume: `/resume/${run}`,
});
const refused = (status: number): Refusal => new Refusal(status, "code", "no", "");

async function sent(answers: Readonly<Record<string, Refusal>>): Promise<{ readonly tried: readonly string[]; readonly results: readonly Result[]; readonly refused: unknown }> {
  const tried: string[] = [];
  let results: readonly Result[] = [];
  const made = await each(["a", "b", "c"].map(question), new Map(), (found) => { results = found; }, ({ run_id }) => {
    tried.push(run_id);
    const error = answers[run_id];
    return error === undefined ? Promise.resolve() : Promise.reject(error);
  });
  return { tried, results, refused: made.refused };
}

test("each answer is sent alone, and one that comes too late does not hold the others", async () => {
  const { tried, results } = await sent({ b: refused(409) });
  assert.deepEqual(tried, ["a", "b", "c"]);
  assert.deepEqual(results.map(({ said }) => said !== ""), [false, true, false]);
});

test("an answer that does not fit is corrected before any other is sent", async () => {
  const error = refused(422);
  assert.deepEqual(await sent({ a: error }), { tried: ["a"], results: [], refused: error });
});
