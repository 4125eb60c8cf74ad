/**
 * Holds the rules of this folder against what Python's decided: reads lines of tests/drafts/golden.py from the file that is named, and
 * prints how many of each kind were compared. Stops at the first difference.
 */
import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

import { transform } from "../../src/editing/transform.ts";
import { written, type Entity, type Write } from "../../src/editing/log/effects.ts";
import { apply } from "../../src/editing/fold.ts";
import type { LogEntry } from "../../src/editing/log/operations.ts";
import { readObject, writeJson } from "../../src/editing/values/json.ts";
import {
  entityRead, operationRead, operationWritten, requestRead, requestWritten, entryRead, entryWritten, list, outcomeWritten, writeRead,
} from "../../src/editing/log/messages.ts";
import { expand } from "../../src/editing/rules/expanding.ts";
import { inverse } from "../../src/editing/rules/inverse.ts";
import { resolve } from "../../src/editing/rules/resolve.ts";
import { fits } from "../../src/editing/rules/shapes.ts";
import { faults } from "../../src/editing/rules/invariants.ts";
import { Entities, snapshot, type State } from "../../src/editing/state.ts";
import { isList, isObject, type Json, type JsonObject } from "../../src/editing/values/values.ts";

const counts = { logs: 0, items: 0, effects: 0, inverses: 0, expansions: 0, pairs: 0, bounds: 0, shapes: 0 };

function same(made: Json, wanted: Json | undefined, where: string): void {
  assert.equal(writeJson(made), writeJson(wanted ?? null), where);
}

function entities(value: Json | undefined): Entities {
  assert.ok(isObject(value));
  return new Entities([...value].map(([key, entity]): [string, Entity] => [key, entityRead(entity)]));
}

const textOf = (state: State): Json => new Map<string, Json>(snapshot(state));
const writes = (values: Json | undefined): Write[] => (isList(values) ? values.flatMap(writeRead) : assert.fail("no writes"));

function log(line: JsonObject, where: string): void {
  const state = entities(line.get("start"));
  const items: LogEntry[] = [];
  for (const entry of list(line, "entries")) {
    assert.ok(isObject(entry));
    const request = requestRead(entry.get("intent") ?? null);
    const item = entryRead(entry.get("item") ?? null);
    const here = `${where}, item ${item.seq}`;
    same(requestWritten(request), entry.get("intent"), here);
    same(entryWritten(item), entry.get("item"), here);
    const since = items.slice(request.base);
    const made = resolve(state, request.operations, since);
    same(made.effects.map(written), item.effects.map(written), `${here}: effects`);
    same(made.outcomes.map(outcomeWritten), item.outcomes.map(outcomeWritten), `${here}: outcomes`);
    same(operationWritten(inverse(state, item.effects)), entry.get("inverse"), `${here}: inverse`);
    const before = writeJson(textOf(state));
    const back = inverse(state, item.effects);
    apply(state, item.effects);
    assert.deepEqual(faults(state), [], here);
    const undone = new Entities(snapshot(state));
    apply(undone, back.writes.filter((write) => write[0] !== "rename"));
    assert.equal(writeJson(textOf(undone)), before, `${here}: undone`);
    items.push(item);
    counts.items += 1;
    counts.effects += item.effects.length;
    counts.inverses += 1;
  }
  same(textOf(state), line.get("end"), `${where}: the end`);
  counts.logs += 1;
}

function expansions(line: JsonObject, where: string): void {
  const state = entities(line.get("state"));
  for (const [place, one] of list(line, "gestures").entries()) {
    assert.ok(isObject(one));
    const made = expand(state, operationRead(one.get("asked") ?? null));
    const here = `${where}, operation ${place}`;
    same(made.operation === null ? null : operationWritten(made.operation), one.get("gesture"), here);
    same(made.effects.map(written), one.get("effects"), `${here}: effects`);
    same(made.outcomes.map(outcomeWritten), one.get("outcomes"), `${here}: outcomes`);
    counts.expansions += 1;
  }
}

function pairs(line: JsonObject, where: string): void {
  for (const [place, pair] of list(line, "pairs").entries()) {
    assert.ok(isList(pair));
    const [mine, theirs, first, moved, others] = pair;
    const made = transform(writes(mine), writes(theirs), first === true);
    same(made[0].map(written), moved, `${where}, pair ${place}: mine`);
    same(made[1].map(written), others, `${where}, pair ${place}: theirs`);
    counts.pairs += 1;
  }
}

function bounds(line: JsonObject, where: string): void {
  const most = line.get("bounds");
  assert.ok(isObject(most));
  const bound = (name: string): number => Number(most.get(name));
  const within = { effects: bound("effects"), characters: bound("characters"), pairs: bound("pairs"), parts: bound("parts") };
  const since = list(line, "since").map((change) => {
    assert.ok(isObject(change));
    const by = change.get("by");
    assert.ok(typeof by === "string");
    return { by, effects: writes(change.get("effects")).filter((write) => write[0] !== "rename") };
  });
  const wanted = list(line, "decided");
  for (const [place, asked] of list(line, "asked").entries()) {
    assert.ok(isList(asked));
    const made = resolve(entities(line.get("state")), asked.map(operationRead), since, within);
    const decided = wanted[place];
    assert.ok(isObject(decided ?? null));
    same(new Map<string, Json>([
      ["effects", made.effects.map(written)], ["outcomes", made.outcomes.map(outcomeWritten)],
    ]), decided, `${where}, ${place}`);
    counts.bounds += 1;
  }
}

function shapes(line: JsonObject, where: string): void {
  for (const one of list(line, "writes")) {
    assert.ok(isList(one));
    const [write] = writes([one[0] ?? null]);
    assert.ok(write !== undefined);
    assert.equal(fits(write), one[1], `${where}: ${writeJson(one[0] ?? null)}`);
    counts.shapes += 1;
  }
}

const KINDS = new Map([["log", log], ["expand", expansions], ["pairs", pairs], ["bounds", bounds], ["shapes", shapes]]);

for await (const text of createInterface({ input: createReadStream(process.argv[2] ?? "/dev/stdin") })) {
  const line = readObject(text);
  const kind = line.get("case");
  const run = KINDS.get(typeof kind === "string" ? kind : "");
  assert.ok(run !== undefined, "a case of a kind that is not known");
  run(line, `${writeJson(kind ?? null)} ${writeJson(line.get("seed") ?? null)}`);
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
