/**
 * What the log of a draft holds and what a client asks for. The server decides effects from writes, and every replica folds effects.
 */
import type { Json, JsonObject, Path } from "./values.ts";

export type Entity = JsonObject;

export type PutEffect = readonly ["put", string, Entity];
export type DelEffect = readonly ["del", string];
/** The last one says before which key a new key stands; without it, or with null, it stands last. */
export type SetEffect = readonly ["set", string, Path, Json] | readonly ["set", string, Path, Json, string | null];
export type UnsetEffect = readonly ["unset", string, Path];
/** Key, path, offset and removed length in code points, and the text that is put there. */
export type SpliceEffect = readonly ["splice", string, Path, number, number, string];
export type RenameWrite = readonly ["rename", string, string];

export type Effect = PutEffect | DelEffect | SetEffect | UnsetEffect | SpliceEffect;
export type Write = Effect | RenameWrite;

/** The entity's value at the path must be so when the server decides; null also means that nothing is there. */
export type Guard = readonly [string, Path, Json];
