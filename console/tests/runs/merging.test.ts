import assert from "node:assert/strict";
import { test } from "node:test";
import { held } from "../../src/runs/list/holding.ts";
import { compare, extended, merged, type Head } from "../../src/runs/list/merging.ts";
import { revealing, rowsIn } from "../../src/runs/virtual.ts";
import { Dice } from "../dice.ts";

function head(number: number, status = "completed"): Head {
  return {
    id: `run_${String(number).padStart(5, "0")}`, workflow: "w", version: 1, number: null, key: null, status, waiting: [], summary: status, duration_ms: 0, failed_node: null, error: null,
    pauses: [], usd: null, keywords: [], created_at: new Date(1_000 * Math.floor(number / 3)).toISOString(), updated_at: "",
  };
}

const newest = (from: number, to: number): Head[] => Array.from({ length: from - to }, (_, place) => head(from - 1 - place));

test("runs stand newest first, those of one instant by id", () => {
  const rows = newest(20, 0);
  assert.deepEqual([...rows].reverse().sort(compare), rows);
});

test("the newest page brings new runs above those that are known", () => {
  const made = merged(newest(10, 0), { runs: newest(13, 8), cursor: "c" }, 0);
  assert.deepEqual(made, newest(13, 0));
});

test("a run that no longer matches goes, those behind the page stay", () => {
  const fresh = newest(10, 5).filter(({ id }) => id !== "run_00007");
  assert.deepEqual(merged(newest(10, 0), { runs: fresh, cursor: "c" }, 0)?.map(({ id }) => id), newest(10, 0).map(({ id }) => id).filter((id) => id !== "run_00007"));
});

test("a page that does not reach what is known begins the list anew", () => {
  assert.equal(merged(newest(10, 0), { runs: newest(40, 30), cursor: "c" }, 0), null);
  assert.deepEqual(merged(newest(10, 0), { runs: newest(40, 38), cursor: null }, 0), newest(40, 38));
  assert.deepEqual(merged([], { runs: newest(3, 0), cursor: "c" }, 0), newest(3, 0));
});

test("pages read in any order of changes give what one reading gives", () => {
  const dice = new Dice(3);
  const random = (): number => dice.fraction();
  for (let world = 0; world < 300; world += 1) {
    let all = newest(60, 0);
    let next = 60;
    const page = (behind: Head | undefined, limit: number): { runs: Head[]; cursor: string | null } => {
      const rest = behind === undefined ? all : all.filter((row) => compare(behind, row) < 0);
      return { runs: rest.slice(0, limit), cursor: rest.length > limit ? "c" : null };
    };
    let rows: readonly Head[] = page(undefined, 10).runs;
    for (let step = 0; step < 12; step += 1) {
      const lot = random();
      if (lot < 0.4) { all = [head(next), ...all].sort(compare); next += 1; }
      else if (lot < 0.6) all = all.filter(() => random() > 0.05);
      else if (lot < 0.8) rows = extended(rows, page(rows.at(-1), 10));
      else { const first = page(undefined, 10); rows = merged(rows, first, 0) ?? first.runs; }
    }
    const ids = rows.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, "no run twice");
    assert.deepEqual([...rows].sort(compare), rows, "in their order");
    for (let tries = 0; tries < 10; tries += 1) { const first = page(undefined, 1_000); rows = merged(rows, first, 0) ?? first.runs; }
    assert.deepEqual(rows, all);
  }
});

test("the rows in view are drawn, and a few around them", () => {
  for (const [top, height, count] of [[0, 600, 100_000], [1_600_000, 600, 100_000], [3_199_400, 600, 100_000], [0, 600, 3], [50, 600, 0]] as const) {
    const { from, to } = rowsIn(top, height, 32, count);
    assert.ok(from >= 0 && to <= count && to - from <= 600 / 32 + 26);
    for (let row = Math.floor(top / 32); row < Math.min(count, Math.ceil((top + height) / 32)); row += 1) assert.ok(row >= from && row < to, `${row}`);
  }
  assert.equal(revealing(5, 0, 320, 32), null);
  assert.equal(revealing(10, 0, 320, 32), 32);
  assert.equal(revealing(2, 320, 320, 32), 64);
});

test("new runs are held back while the pointer is over the list, and counted", () => {
  const [all, seen] = [newest(13, 0), head(9)];
  assert.deepEqual(held(all, seen, true), { rows: newest(10, 0), fresh: 3 });
  assert.deepEqual(held(all, seen, false), { rows: all, fresh: 3 });
  assert.deepEqual(held(all, null, true), { rows: all, fresh: 0 });
  assert.deepEqual(held(all.filter(({ id }) => id !== seen.id), seen, true), { rows: newest(9, 0), fresh: 3 }, "the newest that was seen is gone");
});
