/**
 * The queue of a session and its timers: when an intent goes, when it goes again, and what its answers mean.
 *
 *     busy, rate        it goes again when the answer says; not counted as a try
 *     forked, stale     first everything up to the head is read; what is in flight and not among it goes on under a new client
 *     too_large         fewer gestures at once
 *     replaced          nothing goes any more
 *     forbidden         nothing goes until the next welcome
 *
 * An answer whose `n` and `tag` are not in flight is ignored. What is sent is stored first: a tab that died in between sends it again
 * with its tag, and it is committed once.
 */
import type { Item } from "../gestures.ts";
import { GAP_MS } from "../limits.ts";
import type { Replica } from "../replica.ts";
import { Alarm } from "./alarm.ts";
import { Pace } from "./pace.ts";
import type { Ports } from "./ports.ts";
import type { Status, Why } from "./status.ts";
import { heard, hello, op, pull, type Heard } from "./talk.ts";
import { Tries, type Next } from "./tries.ts";

const PULL_AGAIN_MS = 5_000;
const QUIET_MS = 60_000; // without an item: a fan-out may have been lost
const FORBIDDEN = 4403;
const SIGNED_OUT = 4401;
const REPLACED = 4409;
const TOO_LARGE = 4413;
const TOO_MANY = 4429;

/** What a sender asks of its session. */
export interface Host {
  readonly replica: () => Replica;
  readonly epoch: () => string;
  readonly keep: () => Promise<void>;
  readonly changed: () => void;
  readonly hear: (item: Item) => void;
  readonly stop: (why: Why) => void;
  readonly go: () => void;
  /** The log does not have the items that are missing here. */
  readonly gone: () => void;
  readonly rename: () => Promise<void>;
  readonly tooLarge: () => void;
  readonly idle: () => Promise<void>;
}

export class Sender {
  private isOpen = false;
  private isConnected = false;
  private isStopped = false;
  private isResting = false; // until the next welcome
  private isSeeking = true; // for the work of tabs that are gone
  private mending: string | null = null; // the tag that was answered with `forked` or `stale`
  private next: Next = { wait: 0, send: false };
  private readonly pace = new Pace();
  private readonly tries: Tries;
  private readonly name: string;
  private readonly due: Alarm;
  private readonly unanswered: Alarm;
  private readonly later: Alarm;
  private readonly gap: Alarm;
  private readonly pullAgain: Alarm;
  private readonly quiet: Alarm;

  constructor(private readonly ports: Ports, private readonly host: Host) {
    const { clock, chance } = ports;
    this.tries = new Tries(() => chance.fraction());
    this.name = chance.word();
    this.due = new Alarm(clock, () => { this.pump(); });
    this.unanswered = new Alarm(clock, () => { this.tryAgain(); });
    this.later = new Alarm(clock, () => { this.again(); });
    this.gap = new Alarm(clock, () => { this.pull(); });
    this.pullAgain = new Alarm(clock, () => { this.pull(); });
    this.quiet = new Alarm(clock, () => { this.pull(); });
  }

  get status(): Status {
    const { sent, unsent, pending } = this.host.replica();
    if (this.tries.isOffline) return { is: "offline", edits: pending.length };
    if (this.tries.attempt > 0) return { is: "retrying", attempt: this.tries.attempt, of: this.tries.of };
    return sent !== null || unsent.length > 0 ? { is: "saving" } : { is: "saved" };
  }

  // -- of the session ------------------------------------------------------------------------------------------------------

  opened(): void {
    this.isOpen = true;
    this.isStopped = false;
    this.isResting = false;
    this.isSeeking = true;
    this.mending = null;
    this.tries.end();
    this.quiet.set(QUIET_MS);
    if (this.isConnected) this.greet();
    if (this.host.replica().sent !== null) this.again();
    else this.pump();
  }

  /** Sends what is due, or sets the time at which it will be. */
  pump(): void {
    if (!this.isOpen || this.isStopped || this.isResting) return;
    const replica = this.host.replica();
    if (replica.sent !== null) return;
    const now = this.ports.clock.now();
    const { count, wait } = this.pace.due(replica.unsent, now);
    this.due.clear();
    if (count > 0) {
      replica.message(() => this.ports.chance.word(), count);
      this.pace.sent(now);
      this.again();
      this.host.changed();
    } else if (wait !== null) {
      this.due.set(wait);
    } else if (this.isSeeking) {
      this.isSeeking = false;
      void this.host.idle();
    }
  }

  typed(first: boolean): void {
    this.pace.typed(this.ports.clock.now(), first);
  }

  flush(): void {
    this.pace.flush();
    this.pump();
  }

  fewer(count: number): void {
    this.pace.fewer(count);
  }

  beside(blocks: ReadonlySet<string>): void {
    this.pace.peers = blocks;
    this.pump();
  }

  tryNow(): void {
    if (this.host.replica().sent === null) this.flush();
    else void this.transmit();
  }

  /** Sends nothing any more until it is opened again. */
  stop(): void {
    this.isStopped = true;
    this.tries.end();
    for (const alarm of [this.due, this.unanswered, this.later, this.gap, this.pullAgain]) alarm.clear();
  }

  close(): void {
    this.stop();
    this.isOpen = false;
    this.quiet.clear();
  }

  // -- the connection ------------------------------------------------------------------------------------------------------

  connected(): void {
    this.isConnected = true;
    if (this.isOpen) this.greet();
  }

  disconnected(): void {
    this.isConnected = false;
  }

  private greet(): void {
    const { client, seq } = this.host.replica();
    this.ports.wire.send(hello(client, this.name, seq, this.host.epoch()));
  }

  private pull(): void {
    if (!this.isOpen || this.isStopped) return;
    this.quiet.set(QUIET_MS);
    this.pullAgain.set(PULL_AGAIN_MS);
    this.ports.wire.send(pull(this.host.replica().seq));
  }

  /** Sends what is in flight as if for the first time. */
  private again(): void {
    const { sent } = this.host.replica();
    if (sent === null) return;
    this.await(this.tries.begin(sent.parts.every((part) => part.typed)));
    void this.transmit();
  }

  private tryAgain(): void {
    if (this.next.send) {
      void this.transmit();
      this.await(this.tries.sent());
    } else {
      this.await(this.tries.unanswered());
    }
    this.host.changed();
  }

  private await(next: Next): void {
    this.next = next;
    this.unanswered.set(next.wait);
  }

  private async transmit(): Promise<void> {
    const tag = this.host.replica().sent?.tag;
    await this.host.keep();
    const replica = this.host.replica();
    if (tag === undefined || replica.sent?.tag !== tag || !this.isOpen || this.isStopped || this.isResting) return;
    const intent = replica.message(() => tag);
    if (intent !== null) this.ports.wire.send(op(intent));
  }

  // -- what the server says --------------------------------------------------------------------------------------------------

  hear(said: string): void {
    const message = heard(said);
    if (message === null || !this.isOpen || this.isStopped) return;
    switch (message.type) {
      case "item":
        this.take([message.item]);
        break;
      case "items":
        this.caughtUp(message.items, message.head);
        break;
      case "welcome":
        this.welcomed(message);
        break;
      case "answer":
        this.answered(message);
        break;
      case "closing":
        this.closing(message.code);
    }
  }

  private take(items: readonly Item[]): void {
    const tag = this.host.replica().sent?.tag;
    for (const item of items) if (!this.isStopped) this.host.hear(item);
    const replica = this.host.replica();
    this.quiet.set(QUIET_MS);
    if (!replica.hasGap) this.gap.clear();
    else if (!this.gap.isSet) this.gap.set(GAP_MS);
    if (tag === undefined || replica.sent?.tag === tag) {
      this.pump(); // what waits may have been cancelled
      return;
    }
    this.tries.end();
    this.mending = null;
    this.unanswered.clear();
    this.later.clear();
    this.host.changed();
    this.pump();
  }

  private caughtUp(items: readonly Item[], head: number): void {
    const from = this.host.replica().seq;
    if ((items[0]?.seq ?? head) > from + 1 || (items.length === 0 && head > from)) {
      this.host.gone();
      return;
    }
    this.take(items);
    const { seq, sent } = this.host.replica();
    if (seq < head) {
      this.pull();
      return;
    }
    this.pullAgain.clear();
    if (sent !== null && sent.tag === this.mending) void this.mend();
  }

  private async mend(): Promise<void> {
    this.mending = null;
    await this.host.rename();
    this.greet();
    this.again();
  }

  private welcomed(message: Extract<Heard, { type: "welcome" }>): void {
    if (message.epoch !== this.host.epoch()) {
      this.host.stop("replaced");
      return;
    }
    this.isResting = false;
    this.host.go();
    this.pace.allow(message.opsPerSecond);
    if (message.head > this.host.replica().seq) this.pull();
    if (this.host.replica().sent !== null) this.again();
    else this.pump();
    this.host.changed();
  }

  private answered(answer: Extract<Heard, { type: "answer" }>): void {
    const { sent } = this.host.replica();
    if (sent === null || sent.n !== answer.n || sent.tag !== answer.tag) return;
    switch (answer.code) {
      case "forked":
      case "stale":
        this.mending = sent.tag;
        this.pull();
        return;
      case "too_large":
        this.unanswered.clear();
        this.tries.end();
        this.host.tooLarge();
        break;
      case "replaced":
        this.host.stop("replaced");
        return;
      case "forbidden":
        this.rest("role");
        return;
      case "rate":
        this.pace.slower();
        this.wait(answer.retryAfterMs);
        return;
      default: // busy, and what a later server may say
        this.wait(answer.retryAfterMs);
    }
    this.host.changed();
    this.pump();
  }

  private wait(ms: number): void {
    this.unanswered.clear();
    this.later.set(Math.max(ms, GAP_MS));
  }

  private rest(why: Why): void {
    this.isResting = true;
    this.unanswered.clear();
    this.tries.end();
    this.host.stop(why);
  }

  private closing(code: number): void {
    if (code === FORBIDDEN) this.rest("role");
    else if (code === SIGNED_OUT) this.rest("signed_out");
    else if (code === REPLACED) this.host.stop("replaced");
    else if (code === TOO_MANY) this.pace.slower();
    else if (code === TOO_LARGE && this.host.replica().sent !== null) this.host.tooLarge();
  }
}
