/** Reads the fields with which every answer about a run begins. `waiting` has the words of what it waits for; `summary` is status and `waiting` as text. */
import type { RunHeadOut } from "../wire/contract.ts";

export type NamedRun = Pick<RunHeadOut, "id" | "workflow" | "version" | "number" | "status" | "waiting" | "summary">;
