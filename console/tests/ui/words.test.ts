/** Instants and sentences as people read them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sentence } from "../../src/wire/sentences.ts";
import { ago } from "../../src/ui/words/times.tsx";

const HOUR = 3_600_000;

test("an instant is said in the units of durations", () => {
  const said = [-59_000, -60_000, -21.9 * HOUR, 20 * HOUR, -24 * HOUR, 30 * HOUR, -72 * HOUR, -40 * 24 * HOUR, 800 * 24 * HOUR].map((ms) => ago(ms, 0));
  assert.deepEqual(said, ["just now", "1 min ago", "21 h ago", "in 20 h", "yesterday", "tomorrow", "3 d ago", "1 mo ago", "in 2 y"]);
});

test("a text of the server is a sentence, and keeps what begins with a name", () => {
  assert.deepEqual(["the code is not valid any more", "there is no run r_1.", "`nodes` is empty", "node_1: wrong?", " ", "r1 failed"].map(sentence),
    ["The code is not valid any more.", "There is no run r_1.", "`nodes` is empty.", "node_1: wrong?", "", "r1 failed."]);
});
