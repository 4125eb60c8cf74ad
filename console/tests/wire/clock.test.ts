import assert from "node:assert/strict";
import { test } from "node:test";
import { heard, serverNow } from "../../src/wire/clock.ts";

const DAY = 86_400_000;

function apart(): number {
  return serverNow() - Date.now();
}

function answered(aheadMs: number, lasted = 100): void {
  const had = Date.now();
  heard(new Date(Math.floor((had - lasted / 2 + aheadMs) / 1_000) * 1_000).toUTCString(), had - lasted, had);
}

test("the time of the server is learnt from its answers, and a wrong clock of this machine does not matter", () => {
  for (const ahead of [DAY, -DAY, 90_000]) {
    answered(ahead, 101);
    assert.ok(Math.abs(apart() - ahead) <= 600, `${apart()} for ${ahead}`);
    assert.ok(Number.isInteger(serverNow()));
  }
  answered(90_700);
  assert.ok(Math.abs(apart() - 90_000) <= 600, "it does not tremble with each answer");
  answered(0);
  assert.equal(apart(), 0);
});

test("what an answer cannot tell changes nothing", () => {
  answered(1_200);
  assert.equal(apart(), 0, "its seconds are whole");
  answered(9_000, 30_000);
  assert.equal(apart(), 0, "it may have been made at any time since it was asked for");
  heard(null, Date.now(), Date.now());
  heard("soon", Date.now(), Date.now());
  assert.equal(apart(), 0);
});
