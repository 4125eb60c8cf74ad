import { strict as assert } from "node:assert";
import { test } from "node:test";
import { forgetTyped } from "../../src/wire/login/signing_out.ts";

/** A storage of a browser, in memory. */
function storage(names: readonly string[]): Storage {
  const kept = new Map(names.map((name) => [name, "x"]));
  return {
    get length() { return kept.size; }, key: (place: number) => [...kept.keys()][place] ?? null, getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => { kept.set(name, value); }, removeItem: (name: string) => { kept.delete(name); }, clear: () => { kept.clear(); },
  };
}

function names(storage: Storage): string[] {
  return Array.from({ length: storage.length }, (_, place) => storage.key(place) ?? "");
}

test("what was typed is removed, and settings of the browser and other pages' values stay", async () => {
  const local = storage(["stepless.theme", "stepless.inputs.refund", "stepless.parameters", "stepless.filters", "stepless.steps", "other", "stepless.inputs.order"]);
  const tab = storage(["stepless.client/a", "stepless.token", "other"]);
  await forgetTyped(local, tab, undefined);
  assert.deepEqual(names(local), ["stepless.theme", "stepless.parameters", "stepless.filters", "stepless.steps", "other"]);
  assert.deepEqual(names(tab), ["other"]);
});
