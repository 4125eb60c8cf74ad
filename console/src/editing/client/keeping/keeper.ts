/** Writes what a tab must not lose, one write at a time: what changed meanwhile goes with the next. */
import type { Ports } from "../ports.ts";

export class Keeper {
  private dirty = false;
  private running: Promise<void> | null = null;

  /** `changes` gives what is not stored yet; `failed` is called once, after which nothing is written any more. */
  constructor(
    private rows: Ports["rows"],
    private readonly changes: () => Map<string, string | null>,
    private readonly failed: () => void,
  ) {}

  /** Whether the work outlives the tab. */
  get keeps(): boolean {
    return this.rows !== null;
  }

  /** Resolves when all that was so at the call is stored, or cannot be. */
  save(): Promise<void> {
    if (this.rows === null) return Promise.resolve();
    this.dirty = true;
    this.running ??= this.run();
    return this.running;
  }

  private async run(): Promise<void> {
    while (this.dirty && this.rows !== null) {
      this.dirty = false;
      try {
        await this.rows.write(this.changes());
      } catch {
        this.rows = null;
        this.failed();
      }
    }
    this.running = null;
  }
}
