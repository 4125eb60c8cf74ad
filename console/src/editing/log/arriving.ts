/** Items of a log as they arrive: brought into their sequence, and the last ones remembered. */
import type { LogEntry } from "./operations.ts";
import { MAX_RECENT_ITEMS } from "../limits.ts";

export class Arriving {
  private readonly early = new Map<number, LogEntry>();
  private recent: LogEntry[] = []; // without a gap

  /** Whether an item waits for those before it. */
  get hasGap(): boolean {
    return this.early.size > 0;
  }

  /** What follows `seq` by now, in sequence: none while an item before is missing, and none for an item that is known. */
  *next(item: LogEntry, seq: number): Iterable<LogEntry> {
    if (item.seq > seq) this.early.set(item.seq, item);
    for (let found = this.early.get(seq + 1); found !== undefined; found = this.early.get(found.seq + 1)) {
      this.early.delete(found.seq);
      this.recent = [...this.recent.slice(1 - MAX_RECENT_ITEMS), found];
      yield found;
    }
  }

  /** The items above `base` up to `seq`; null where some of them are not there yet, or are forgotten. */
  since(base: number, seq: number): LogEntry[] | null {
    const found = this.recent.filter((item) => item.seq > base);
    return base > seq || found.length !== seq - base ? null : found;
  }

  /** The log was read up to its end. */
  clear(): void {
    this.early.clear();
  }
}
