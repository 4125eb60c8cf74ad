/** Asks for items of the log: where some are missing, where the server has more, and where nothing came for long. */
import type { LogEntry } from "../log/operations.ts";
import { GAP_MS } from "../limits.ts";
import type { Replica } from "../replica/replica.ts";
import { Alarm } from "./alarm.ts";
import type { Clock } from "./ports.ts";
import { pull } from "./talk.ts";

const AGAIN_MS = 5_000;
const QUIET_MS = 60_000; // without an item: a fan-out may have been lost

export class Puller {
  private readonly gap: Alarm;
  private readonly again: Alarm;
  private readonly quiet: Alarm;

  constructor(clock: Clock, private readonly replica: () => Replica, private readonly send: (text: string) => void) {
    this.gap = new Alarm(clock, () => { this.pull(); });
    this.again = new Alarm(clock, () => { this.pull(); });
    this.quiet = new Alarm(clock, () => { this.pull(); });
  }

  pull(): void {
    this.listen();
    this.again.set(AGAIN_MS);
    this.send(pull(this.replica().seq));
  }

  /** Items came: those that are missing between them are asked for when they do not come by themselves. */
  listen(): void {
    this.quiet.set(QUIET_MS);
    if (!this.replica().arriving.hasGap) this.gap.clear();
    else if (!this.gap.isSet) this.gap.set(GAP_MS);
  }

  /** Whether the items of an answer do not follow those that are here: the log has lost some. */
  lacks(items: readonly LogEntry[], head: number): boolean {
    const { seq } = this.replica();
    return (items[0]?.seq ?? head) > seq + 1 || (items.length === 0 && head > seq);
  }

  /** Whether this is the head of the log; otherwise it asks for more. */
  reached(head: number): boolean {
    if (this.replica().seq < head) {
      this.pull();
      return false;
    }
    this.again.clear();
    return true;
  }

  stop(): void {
    for (const alarm of [this.gap, this.again, this.quiet]) alarm.clear();
  }
}
