/**
 * When a request that nothing answers is sent again.
 *
 *     structure, or both    unanswered after 5 s: again after 1, 2, 4 s
 *     text alone            unanswered after 15 s: again after 1, 2, 3, 3, 3 s
 *     after the last        offline; by itself every 15 s
 *
 * The last try is given as long as the pause before it. Pauses have a jitter of a fifth, so that the tabs of a team do not return all
 * at once.
 */
const STRUCTURE = { unanswered: 5_000, pauses: [1_000, 2_000, 4_000] } as const;
const TEXT = { unanswered: 15_000, pauses: [1_000, 2_000, 3_000, 3_000, 3_000] } as const;
const OFFLINE_MS = 15_000;
const JITTER = 0.2;

/** What happens next: `wait` milliseconds, then whether to send. */
export interface Next {
  readonly wait: number;
  readonly send: boolean;
}

export class Tries {
  private plan: typeof STRUCTURE | typeof TEXT = STRUCTURE;
  private count = 0; // of tries that were sent
  private late = false;
  isOffline = false;

  constructor(private readonly fraction: () => number) {}

  /** The number of the try that is shown; 0 while an answer may still come in time. */
  get attempt(): number {
    return this.late ? Math.max(1, this.count) : 0;
  }

  get of(): number {
    return this.plan.pauses.length;
  }

  /** A request is sent for the first time, or over a new connection. */
  begin(textAlone: boolean): Next {
    this.plan = textAlone ? TEXT : STRUCTURE;
    this.end();
    return { wait: this.plan.unanswered, send: false };
  }

  /** It was answered. */
  end(): void {
    this.count = 0;
    this.late = false;
    this.isOffline = false;
  }

  /** Time has passed without an answer. */
  unanswered(): Next {
    this.late = true;
    if (this.count === 0) return { wait: this.pause(0), send: true };
    this.isOffline = true;
    return { wait: this.jittered(OFFLINE_MS), send: true };
  }

  /** A try was sent. */
  sent(): Next {
    if (this.isOffline) return { wait: this.jittered(OFFLINE_MS), send: true };
    this.count += 1;
    return this.count < this.of ? { wait: this.pause(this.count), send: true } : { wait: this.pause(this.of - 1), send: false };
  }

  private pause(place: number): number {
    return this.jittered(this.plan.pauses[place] ?? OFFLINE_MS);
  }

  private jittered(ms: number): number {
    return ms * (1 + JITTER * this.fraction());
  }
}
