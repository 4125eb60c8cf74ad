import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_FILTERS } from "../../src/runs/list/filters.ts";
import { filtersOf, keep, keptFilters, MAX_KEPT, nameOf } from "../../src/runs/list/kept.ts";

function storage(stored: string | null = null): Pick<Storage, "getItem" | "setItem"> {
  let kept = stored;
  return { getItem: () => kept, setItem: (_, text) => { kept = text; } };
}

const FAILED = { ...NO_FILTERS, status: "failed", since: "24h", tags: ["eu", "vip"] };

test("filters are kept, found, replaced and forgotten by name", () => {
  const made = storage();
  keep("Night shift", FAILED, made);
  keep("Mine", { ...NO_FILTERS, key: "A-17" }, made);
  assert.deepEqual(filtersOf(keptFilters(made).get("Night shift") ?? ""), FAILED);
  assert.equal(nameOf(FAILED, keptFilters(made)), "Night shift");
  keep("Night shift", { ...FAILED, since: "1h" }, made);
  assert.equal(nameOf(FAILED, keptFilters(made)), "");
  assert.deepEqual([...keptFilters(made).keys()].sort(), ["Mine", "Night shift"]);
  keep("Mine", null, made);
  assert.deepEqual([...keptFilters(made).keys()], ["Night shift"]);
});

test("the oldest name goes where there would be too many", () => {
  const made = storage();
  for (let number = 0; number <= MAX_KEPT; number += 1) keep(`filter ${number}`, FAILED, made);
  assert.deepEqual([keptFilters(made).size, keptFilters(made).has("filter 0"), keptFilters(made).has(`filter ${MAX_KEPT}`)], [MAX_KEPT, false, true]);
});

test("what is stored otherwise is no filter", () => {
  for (const stored of ["{", "null", "7", "[]", '{"a": 1, "b": {"c": 2}}']) assert.equal(keptFilters(storage(stored)).size, 0, stored);
});
