/** Reads what a draft is compared with: its base, the newest version, the file; and whether it can be saved. */
import { EMPTY, isList, isObject, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";

/**
 * `base` and `origin`, what the draft was opened from, in words: an empty text where there is none; `newest` is null where nothing is published. `mayEdit`,
 * `mayPublish` and `mayRun` are this person's rights, as far as the server tells them.
 */
export interface Comparison {
  readonly base: string;
  readonly origin: string;
  readonly version: number | null;
  readonly newest: number | null;
  readonly file: string | null;
  readonly fileDiffers: boolean;
  readonly canSave: boolean;
  readonly conflicts: number;
  readonly mayEdit: boolean;
  readonly mayPublish: boolean; // and save
  readonly mayRun: boolean;
  readonly by: string; // who opened it
  readonly at: string;
}

export const UNKNOWN: Comparison = { base: "", origin: "", version: null, newest: null, file: null, fileDiffers: false, canSave: false, conflicts: 0, mayEdit: true, mayPublish: true, mayRun: true, by: "", at: "" };

/** Reads it from the state of a draft. */
export function comparisonRead(draft: JsonObject): Comparison {
  const base = draft.get("base");
  const version = isObject(base) ? numberAt(base, "version") : typeof base === "number" ? base : null;
  const [file, save] = [isObject(base) ? textAt(base, "file") : "", draft.get("save")];
  const saving = isObject(save) ? save : EMPTY;
  const roles = draft.get("roles");
  const may = (role: string): boolean => !isList(roles) || roles.includes(role);
  return {
    base: [file, version === null ? "" : `v${version}`].filter(Boolean).join(", "), origin: originOf(draft.get("origin")), version, newest: newestOf(draft), file: textAt(saving, "file") || file || null,
    fileDiffers: saving.get("differs") === true, canSave: saving.get("possible") === true, conflicts: numberAt(draft, "conflicts") ?? 0, mayEdit: may("edit"), mayPublish: may("admin"), mayRun: may("run"), by: textAt(draft, "created_by"), at: textAt(draft, "created_at"),
  };
}

/** Why this person cannot publish; empty where they can. Saving is publishing, too: the server that watches the file publishes what is saved. */
export function whyNot({ mayPublish }: Comparison): string {
  return mayPublish ? "" : "Only admins publish";
}

function numberAt(value: JsonObject, name: string): number | null {
  const found = value.get(name);
  return typeof found === "number" ? found : null;
}

/** What the draft was opened from, in words. */
function originOf(origin: Json | undefined): string {
  if (!isObject(origin)) return "";
  const version = numberAt(origin, "version");
  return textAt(origin, "file") || (version === null ? "" : `v${version}`);
}

/** Where nothing is published the server says 0. */
function newestOf(draft: JsonObject): number | null {
  const newest = numberAt(draft, "newest");
  return newest === 0 ? null : newest;
}
