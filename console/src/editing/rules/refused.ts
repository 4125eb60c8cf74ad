import type { RefusalCode } from "../tables.ts";

/** The whole operation is refused. `key` is the entity that decides. */
export class Refused extends Error {
  constructor(readonly code: RefusalCode, readonly key: string) {
    super(`${code}: ${key}`);
  }
}
