/**
 * When what waits is sent: structure at once; typing after a pause of 400 ms, 3 s at most; typing in a block that a peer has open at
 * once, then every 25 ms. One request is in flight, so that a round trip that is longer is waited for anyway.
 */
import type { Pending } from "../../replica/pending.ts";
import { COALESCE_MS, TYPING_MAX_MS, TYPING_PAUSE_MS } from "../../limits.ts";
import { tailOf } from "../../state.ts";

const MAX_GAP_MS = 2_000;

export class Pace {
  private typedSince = 0;
  private typedLast = 0;
  private sentAt = -Infinity;
  private all = false;
  private gap = 0; // the least time between two requests
  private most = Infinity; // how many operations the next request takes
  /** The blocks that others have open. */
  peers: ReadonlySet<string> = new Set();

  /** A person typed; `first`: nothing typed waited before. */
  typed(now: number, first: boolean): void {
    if (first) this.typedSince = now;
    this.typedLast = now;
  }

  /** What waits is due: the field was left, or its text is needed. */
  flush(): void {
    this.all = true;
  }

  sent(now: number): void {
    this.sentAt = now;
    this.all = false;
    this.most = Infinity;
  }

  /** The server allows so many requests in a second; 0: no limit. */
  allow(perSecond: number): void {
    this.gap = perSecond > 0 ? 1_000 / perSecond : 0;
  }

  /** The server said that it is too many. */
  slower(): void {
    this.gap = Math.min(MAX_GAP_MS, Math.max(2 * this.gap, 2 * COALESCE_MS));
  }

  /** The next request takes fewer operations. */
  fewer(count: number): void {
    this.most = Math.max(1, count);
    this.all = true;
  }

  /** How many of the operations that wait are due now, and in how many milliseconds the next ones are (null: none wait). */
  due(unsent: readonly Pending[], now: number): { count: number; wait: number | null } {
    if (unsent.length === 0) return { count: 0, wait: null };
    const allowed = this.sentAt + this.gap;
    const structure = unsent.findLastIndex((part) => !part.typed) + 1;
    const rest = unsent.length > structure ? this.typingAt(unsent) : Infinity;
    const at = Math.max(allowed, structure > 0 || this.all ? now : rest);
    if (at > now) return { count: 0, wait: at - now };
    return { count: Math.min(this.most, this.all || rest <= now ? unsent.length : structure), wait: null };
  }

  private typingAt(unsent: readonly Pending[]): number {
    const beside = unsent.some((part) => part.typed && part.operation.writes.some((write) => this.peers.has(tailOf(write[1]))));
    return beside ? this.sentAt + COALESCE_MS : Math.min(this.typedLast + TYPING_PAUSE_MS, this.typedSince + TYPING_MAX_MS);
  }
}
