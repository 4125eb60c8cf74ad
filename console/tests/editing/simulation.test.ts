import assert from "node:assert/strict";
import { test } from "node:test";

import { QUICK } from "../tiers.ts";
import { World } from "./world.ts";

const SEEDS = Number(process.env["SEEDS"] ?? (QUICK ? 4 : 10));
const FROM = Number(process.env["FROM"] ?? 0);
const STEPS = 150;

test(`sessions agree with the log after ${STEPS} steps with faults, for each of ${SEEDS} seeds`, async () => {
  let items = 0;
  for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
    const world = new World(seed);
    try {
      await world.episode(STEPS);
    } catch (error) {
      assert.fail(`seed ${seed} (SEEDS=1 FROM=${seed} replays it): ${error instanceof Error ? (error.stack ?? "") : "no error"}`);
    }
    items += world.log.head;
  }
  assert.ok(items > 5 * SEEDS, `only ${items} items`);
});

test("worlds that once lost or doubled something end well", async () => {
  const seeds = [
    700_421, // two who removed the same text, and both took it back: one of them before it was sent
    700_737, // the work of a tab that was gone, found by one that was busy at that moment
  ];
  for (const seed of seeds) await new World(seed).episode(STEPS);
});

/** Runs worlds with a fault until one of them finds it. */
async function found(plant: (world: World) => void): Promise<number | null> {
  for (let seed = 0; seed < 40; seed += 1) {
    const world = new World(seed);
    plant(world);
    try {
      await world.episode(STEPS);
    } catch {
      return seed;
    }
  }
  return null;
}

const PLANTED: [name: string, plant: (world: World) => void][] = [
  ["tabs that share a client", (world) => { world.everyLock = true; }],
  ["a server that knows no repeats", (world) => { world.knowsRepeats = false; }],
  ["work that a reload does not find again", (world) => { world.forgets = true; }],
];

for (const [name, plant] of PLANTED) {
  test(`the simulation finds ${name}`, async () => { assert.notEqual(await found(plant), null); });
}
