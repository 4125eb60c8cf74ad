/**
 * Defines the messages between a client and the log: operations, requests, log entries and their outcomes.
 *
 * An operation is what a person does at once; a refusal takes it whole. A request is a list of operations that a client sends together;
 * the server commits it as one item. An outcome says what became of an operation that was not committed as it was asked.
 */
import type { Effect, Write } from "./effects.ts";
import type { Json, Path } from "../values/values.ts";

/** The operation is refused with `changed_since` unless this value stands there now. Null also means that nothing does. */
export type Guard = readonly [key: string, path: Path, value: Json];

/**
 * Writes that hold together. `derived` has, for each write that the client derived from another one of the operation, the index of
 * that one: the references that follow from a rename.
 */
export interface Operation {
  readonly writes: readonly Write[];
  readonly guards: readonly Guard[];
  readonly derived: readonly (readonly [derived: number, cause: number])[];
}

export function operation(writes: readonly Write[], guards: readonly Guard[] = [], derived: Operation["derived"] = []): Operation {
  return { writes, guards, derived };
}

/**
 * What was refused or dropped of an operation, by its index in the request. `refused`: the whole operation was. `key` is the entity that
 * decided, `by` the person who changed it since the client saw it, where that is known. `writes` are those that were not done, as
 * the client sent them.
 */
export interface Outcome {
  readonly operation: number;
  readonly code: string;
  readonly key: string;
  readonly by: string | null;
  readonly refused: boolean;
  readonly writes: readonly Write[];
}

/** `n` counts the requests of a client within an epoch, from 1; `tag` is random for each. `base` is the last item it had seen. */
export interface DraftRequest {
  readonly client: string;
  readonly n: number;
  readonly tag: string;
  readonly base: number;
  readonly operations: readonly Operation[];
  /** The id under which the client sent it first, where it was renamed since: a request is recognized by that id and its tag. */
  readonly first?: string | undefined;
}

/**
 * One entry of the log. `seq` counts from 1 without gaps; `at` is the server's time in milliseconds, which rises with `seq`. `by` is
 * the person, as the key or the token names them. `closes` is not null in the last item of an epoch only: the next head.
 */
export interface LogEntry {
  readonly seq: number;
  readonly client: string;
  readonly n: number;
  readonly tag: string;
  readonly by: string;
  readonly at: number;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
  readonly closes: Json;
  /** As in the request. */
  readonly first?: string | undefined;
}
