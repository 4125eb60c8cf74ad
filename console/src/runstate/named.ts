/** What every answer about a run begins with. `waiting` has the words of what it waits for; `summary` is status and `waiting` as text. */
export interface NamedRun {
  readonly id: string;
  readonly workflow: string;
  readonly version: number | null;
  readonly number: number | null;
  readonly status: string;
  readonly waiting: readonly string[];
  readonly summary: string;
}
