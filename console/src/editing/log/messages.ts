/**
 * Reads and writes operations, requests, log entries and outcomes as JSON. On the wire they are gestures, intents and items.
 *
 *     intent    {client, n, tag, base, gestures: [{writes, guards?, derived?}], first?: client}
 *     write     a list that begins with its word: see `effects`
 *     guard     [key, path, value]
 *     derived   [[index of a write, index of the write that it follows from], …]
 *     item      {seq, client, n, tag, by, at, effects, outcomes?, closes?, first?}
 *     outcome   {gesture, code, key, by?, refused?, writes}
 *
 * A reader throws a SyntaxError that names what is wrong. Fields and words that only a later server knows are ignored.
 */
import { written, type Effect, type Entity, type Write } from "./effects.ts";
import { operation, type Operation, type Guard, type DraftRequest, type LogEntry, type Outcome } from "./operations.ts";
import { isList, isObject, object, type Json, type JsonObject, type Path } from "../values/values.ts";

export function requestWritten(request: DraftRequest): JsonObject {
  return object([
    ["client", request.client], ["n", request.n], ["tag", request.tag], ["base", request.base],
    ["gestures", request.operations.map(operationWritten)], ...(request.first === undefined ? [] : [["first", request.first] as const]),
  ]);
}

export function requestRead(value: Json): DraftRequest {
  const fields = need(isObject, value, "an intent");
  return {
    client: text(fields, "client"), n: count(fields, "n"), tag: text(fields, "tag"), base: count(fields, "base"),
    operations: list(fields, "gestures").map(operationRead),
    ...(fields.has("first") ? { first: text(fields, "first") } : {}),
  };
}

export function operationWritten(one: Operation): JsonObject {
  const made: [string, Json][] = [["writes", one.writes.map(written)]];
  if (one.guards.length > 0) made.push(["guards", one.guards]);
  if (one.derived.length > 0) made.push(["derived", one.derived]);
  return object(made);
}

export function operationRead(value: Json): Operation {
  const fields = need(isObject, value, "a gesture");
  return operation(
    list(fields, "writes").flatMap(writeRead),
    (fields.has("guards") ? list(fields, "guards") : []).map(guardRead),
    (fields.has("derived") ? list(fields, "derived") : []).map(pairRead),
  );
}

export function entryWritten(item: LogEntry): JsonObject {
  const made: [string, Json][] = [
    ["seq", item.seq], ["client", item.client], ["n", item.n], ["tag", item.tag], ["by", item.by], ["at", item.at],
    ["effects", item.effects.map(written)],
  ];
  if (item.outcomes.length > 0) made.push(["outcomes", item.outcomes.map(outcomeWritten)]);
  if (item.closes !== null) made.push(["closes", item.closes]);
  if (item.first !== undefined) made.push(["first", item.first]);
  return object(made);
}

export function entryRead(value: Json): LogEntry {
  const fields = need(isObject, value, "an item");
  return {
    seq: count(fields, "seq"), client: text(fields, "client"), n: count(fields, "n"), tag: text(fields, "tag"),
    by: text(fields, "by"), at: count(fields, "at"), effects: effectsRead(list(fields, "effects")),
    outcomes: (fields.has("outcomes") ? list(fields, "outcomes") : []).map(outcomeRead), closes: fields.get("closes") ?? null,
    ...(fields.has("first") ? { first: text(fields, "first") } : {}),
  };
}

export function outcomeWritten(outcome: Outcome): JsonObject {
  const made: [string, Json][] = [["gesture", outcome.operation], ["code", outcome.code], ["key", outcome.key]];
  if (outcome.by !== null) made.push(["by", outcome.by]);
  if (outcome.refused) made.push(["refused", true]);
  made.push(["writes", outcome.writes.map(written)]);
  return object(made);
}

export function outcomeRead(value: Json): Outcome {
  const fields = need(isObject, value, "an outcome");
  return {
    operation: count(fields, "gesture"), code: text(fields, "code"), key: text(fields, "key"),
    by: fields.has("by") ? text(fields, "by") : null, refused: fields.get("refused") === true,
    writes: list(fields, "writes").flatMap(writeRead),
  };
}

export function effectsRead(values: readonly Json[]): Effect[] {
  return values.flatMap(writeRead).filter((write): write is Effect => write[0] !== "rename");
}

/** The write, in a list; an empty list for a word that is not known here. */
export function writeRead(value: Json): Write[] {
  const parts = need(isList, value, "a write");
  const word = parts[0];
  const key = need(isText, parts[1], "the key of a write");
  switch (word) {
    case "put":
      return [["put", key, entityRead(parts[2])]];
    case "del":
      return [["del", key]];
    case "set":
      return [settingRead(key, parts)];
    case "unset":
      return [["unset", key, pathRead(parts[2])]];
    case "splice": {
      const [start, removed] = [need(isCount, parts[3], "an offset"), need(isCount, parts[4], "a length")];
      return [["splice", key, pathRead(parts[2]), start, removed, need(isText, parts[5], "a text")]];
    }
    case "rename": {
      const id = need(isText, parts[2], "an id");
      return [parts[3] === true ? ["rename", key, id, true] : ["rename", key, id]];
    }
    default:
      return [];
  }
}

function settingRead(key: string, parts: readonly Json[]): Write {
  const value = parts[3];
  if (value === undefined) throw new SyntaxError("expected a value to set");
  const before = parts[4] ?? null;
  return before === null ? ["set", key, pathRead(parts[2]), value] : ["set", key, pathRead(parts[2]), value, need(isText, before, "a key")];
}

export function entityRead(value: Json | undefined): Entity {
  return need(isObject, value, "an entity");
}

function guardRead(value: Json): Guard {
  const parts = need(isList, value, "a guard");
  return [need(isText, parts[0], "the key of a guard"), pathRead(parts[1]), parts[2] ?? null];
}

function pairRead(value: Json): readonly [number, number] {
  const parts = need(isList, value, "a pair of indexes");
  return [need(isCount, parts[0], "an index"), need(isCount, parts[1], "an index")];
}

function pathRead(value: Json | undefined): Path {
  return need(isList, value, "a path").map((step) => need(isText, step, "a step of a path"));
}

// -- parts -------------------------------------------------------------------------------------------------------------

const isText = (value: Json | undefined): value is string => typeof value === "string";
const isCount = (value: Json | undefined): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function need<T extends Json>(is: (value: Json | undefined) => value is T, value: Json | undefined, what: string): T {
  if (!is(value)) throw new SyntaxError(`expected ${what}`);
  return value;
}

export function text(fields: JsonObject, name: string): string {
  return need(isText, fields.get(name), `a text as ${name}`);
}

export function count(fields: JsonObject, name: string): number {
  return need(isCount, fields.get(name), `a whole number as ${name}`);
}

export function list(fields: JsonObject, name: string): readonly Json[] {
  return need(isList, fields.get(name), `a list as ${name}`);
}
