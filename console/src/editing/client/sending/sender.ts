/**
 * The queue of a session and its timers: when a request goes, when it goes again, and what its answers mean.
 *
 *     busy, rate        it goes again when the answer says; not counted as a try
 *     forked, stale     first everything up to the head is read; what is in flight and not among it goes on under a new client
 *     too_large         fewer operations at once; a single one is given up, with a notice
 *     malformed         the same
 *     replaced          nothing goes any more
 *     forbidden         nothing goes until the next welcome
 *
 * An answer whose `n` and `tag` are not in flight is ignored. What is sent is stored first: a tab that died in between sends it again
 * with its tag, and it is committed once.
 */
import type { LogEntry } from "../../log/operations.ts";
import type { Pending } from "../../replica/pending.ts";
import { Alarm } from "../alarm.ts";
import { Connection } from "../connection.ts";
import type { Host } from "./host.ts";
import { Pace } from "./pace.ts";
import type { Ports } from "../ports.ts";
import type { Status, Why } from "../status.ts";
import { Puller } from "../puller.ts";
import { Retrying } from "./retrying.ts";
import { heard, op, type Closing, type Heard } from "../talk.ts";

const textAlone = (parts: readonly Pending[]): boolean => parts.every((part) => part.typed);

export class Sender {
  isSeeking = true; // when it is idle, for the work of tabs that are gone
  private isOpen = false;
  private isStopped = false;
  private isResting = false; // until the next welcome
  private recovering: string | null = null; // the tag that was answered with `forked` or `stale`
  private readonly pace = new Pace();
  private readonly retrying: Retrying;
  private readonly due: Alarm;
  private readonly connection: Connection;
  private readonly puller: Puller;

  constructor(private readonly ports: Ports, private readonly host: Host) {
    const { clock } = ports;
    this.retrying = new Retrying(ports, () => void this.transmit(), () => { this.again(); }, host.changed);
    this.due = new Alarm(clock, () => { this.pump(); });
    this.connection = new Connection(ports, host);
    this.puller = new Puller(clock, () => host.replica(), (text) => { ports.wire.send(text); });
  }

  get status(): Status {
    const { sent, unsent, pending } = this.host.replica();
    return this.retrying.status(pending.length) ?? { is: sent !== null || unsent.length > 0 ? "saving" : "saved" };
  }

  // -- of the session ------------------------------------------------------------------------------------------------------

  opened(): void {
    this.isOpen = true;
    this.isStopped = false;
    this.isResting = false;
    this.isSeeking = true;
    this.recovering = null;
    this.retrying.end();
    this.puller.listen();
    this.connection.stop();
    this.connection.greet();
    this.resume();
  }

  /**
   * Sends what is due, or sets the time at which it will be. Without a connection it stays where it can still be cancelled: others may
   * have deleted what it needs.
   */
  pump(): void {
    if (!this.isOpen || this.isStopped || this.isResting) return;
    const replica = this.host.replica();
    if (replica.sent !== null) return;
    const now = this.ports.clock.now();
    const { count, wait } = this.pace.due(replica.unsent, now);
    this.due.clear();
    if (replica.unsent.length === 0) this.retrying.end();
    if (count > 0 && !this.connection.isReady) {
      if (!this.retrying.isRunning) this.retrying.begin(textAlone(replica.unsent));
    } else if (count > 0) {
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

  beside(blocks: ReadonlySet<string>): void {
    this.pace.peers = blocks;
    this.pump();
  }

  tryNow(): void {
    if (!this.connection.isReady) this.connection.greet();
    if (this.host.replica().sent === null) this.flush();
    else void this.transmit();
  }

  /** Sends nothing any more until it is opened again. */
  stop(): void {
    this.isStopped = true;
    this.retrying.end();
    this.due.clear();
    this.connection.stop();
    this.puller.stop();
  }

  close(): void {
    this.stop();
    this.isOpen = false;
  }

  // -- the connection ------------------------------------------------------------------------------------------------------

  connected(): void {
    this.connection.up(this.isOpen && !this.isStopped);
  }

  disconnected(): void {
    this.connection.down();
  }

  private resume(): void {
    if (this.host.replica().sent !== null) this.again();
    else this.pump();
  }

  /** Sends what is in flight as if for the first time. */
  private again(): void {
    const { sent } = this.host.replica();
    if (sent === null) return;
    this.retrying.begin(textAlone(sent.parts));
    void this.transmit();
  }

  private async transmit(): Promise<void> {
    const tag = this.host.replica().sent?.tag;
    await this.host.keep();
    const replica = this.host.replica();
    if (tag === undefined || replica.sent?.tag !== tag || !this.isOpen || this.isStopped || this.isResting) return;
    const request = replica.message(() => tag);
    if (request !== null) this.ports.wire.send(op(request));
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
      case "rates":
        this.pace.allow(message.opsPerSecond);
        break;
      case "answer":
        this.answered(message);
        break;
      case "closing":
        this.closing(message.code);
    }
  }

  private take(items: readonly LogEntry[]): void {
    const tag = this.host.replica().sent?.tag;
    for (const item of items) if (!this.isStopped) this.host.hear(item);
    const replica = this.host.replica();
    if (this.isStopped) return;
    this.puller.listen();
    if (tag === undefined || replica.sent?.tag === tag) {
      this.pump(); // what waits may have been cancelled
      return;
    }
    this.retrying.end();
    this.recovering = null;
    this.host.changed();
    this.pump();
  }

  private caughtUp(items: readonly LogEntry[], head: number): void {
    if (this.puller.lacks(items, head)) {
      this.host.gone();
      return;
    }
    this.take(items);
    if (this.isStopped || !this.puller.reached(head)) return;
    if (this.recovering !== null && this.host.replica().sent?.tag === this.recovering) void this.recover();
    else if (!this.connection.isReady) this.ready();
  }

  private async recover(): Promise<void> {
    this.recovering = null;
    await this.host.rename();
    this.connection.greet();
    this.again();
  }

  private welcomed(message: Extract<Heard, { type: "welcome" }>): void {
    if (message.epoch !== this.host.epoch()) {
      this.host.stop("replaced");
      return;
    }
    this.isResting = false;
    if (message.canEdit) this.host.go();
    else this.rest("role");
    this.pace.allow(message.opsPerSecond);
    this.connection.welcome();
    if (this.puller.reached(message.head)) this.ready();
    this.host.changed();
  }

  private ready(): void {
    this.connection.ready();
    this.retrying.end();
    this.resume();
    this.host.changed();
  }

  private answered(answer: Extract<Heard, { type: "answer" }>): void {
    const { sent } = this.host.replica();
    if (sent === null || sent.n !== answer.n || sent.tag !== answer.tag) return;
    switch (answer.code) {
      case "forked":
      case "stale":
        this.recovering = sent.tag;
        this.puller.pull();
        return;
      case "too_large":
      case "malformed":
        this.divide(answer.code);
        return;
      case "replaced":
        this.host.stop("replaced");
        return;
      case "forbidden":
        this.rest("role");
        return;
      case "rate":
        this.pace.slower();
        this.retrying.wait(answer.retryAfterMs);
        return;
      default: // busy, and what a later server may say
        this.retrying.wait(answer.retryAfterMs);
    }
  }

  /** Sends fewer operations at once. */
  private divide(code: string): void {
    if (this.host.replica().sent === null) return;
    this.retrying.end();
    const count = this.host.notTaken(code);
    if (count !== null) this.pace.fewer(count);
    this.host.changed();
    this.pump();
  }

  private rest(why: Why): void {
    this.isResting = true;
    this.retrying.end();
    this.host.stop(why);
  }

  private closing(code: Closing): void {
    if (code === "role" || code === "signed_out") this.rest(code);
    else if (code === "replaced") this.host.stop(code);
    else if (code === "rate") this.pace.slower();
    else if (code === "too_large") this.divide(code);
    // after any other one the connection ends, and the next one says more
  }
}
