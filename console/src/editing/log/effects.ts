/**
 * Defines the effects in the log of a draft and the writes of a client. Each is the list that travels as JSON:
 *
 *     put key entity                       the whole entity
 *     del key
 *     set key path value before            makes objects on the way; a key that it makes stands before the key `before`, or last
 *     unset key path
 *     splice key path start removed text   in a text; `start` and `removed` count code points
 *     rename key id expanded               a write only: the server answers it with a `set` and a `splice` for each reference
 *
 * All are absolute: a toggle is `set enabled false`. `before` and `expanded` are there only where they are not null and not false.
 */
import { same, type Json, type JsonObject, type Path } from "../values/values.ts";

export type Entity = JsonObject;

export type PutEffect = readonly ["put", string, Entity];
export type DelEffect = readonly ["del", string];
export type SetEffect = readonly ["set", string, Path, Json] | readonly ["set", string, Path, Json, string | null];
export type UnsetEffect = readonly ["unset", string, Path];
export type SpliceEffect = readonly ["splice", string, Path, number, number, string];
/**
 * `expanded`: the references are rewritten by splices that the operation has too, derived from this write; otherwise the server
 * rewrites every one that it finds.
 */
export type RenameWrite = readonly ["rename", string, string] | readonly ["rename", string, string, boolean];

export type Effect = PutEffect | DelEffect | SetEffect | UnsetEffect | SpliceEffect;
export type Write = Effect | RenameWrite;

/** The path of a write in its entity; it is empty where a write is of the whole. */
export function pathOf(write: Write): Path {
  return write[0] === "set" || write[0] === "unset" || write[0] === "splice" ? write[2] : [];
}

/** A write as JSON. */
export function written(write: Write): readonly Json[] {
  if (write[0] === "set" && write[4] === null) return write.slice(0, 4);
  if (write[0] === "rename" && write[3] === false) return write.slice(0, 3);
  return write;
}

export function sameWrite(left: Write, right: Write): boolean {
  return left === right || same(written(left), written(right));
}
