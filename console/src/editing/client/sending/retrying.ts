import { Alarm } from "../alarm.ts";
import type { Ports } from "../ports.ts";
import type { Status } from "../status.ts";
import { Tries, type Next } from "./tries.ts";

const LEAST_WAIT_MS = 250;

/** Sends what is in flight again until something answers: see `Tries`. */
export class Retrying {
  private next: Next = { wait: 0, send: false };
  private readonly tries: Tries;
  private readonly unanswered: Alarm;
  private readonly later: Alarm;

  /** `send` sends it again, `restart` sends it as if for the first time, `changed` hears of another status. */
  constructor({ clock, chance }: Ports, private readonly send: () => void, restart: () => void, private readonly changed: () => void) {
    this.tries = new Tries(() => chance.fraction());
    this.unanswered = new Alarm(clock, () => { this.tryAgain(); });
    this.later = new Alarm(clock, restart);
  }

  /** What there is to say of it; null as long as an answer may come in time. */
  status(edits: number): Status | null {
    if (this.tries.isOffline) return { is: "offline", edits };
    return this.tries.attempt > 0 ? { is: "retrying", attempt: this.tries.attempt, of: this.tries.of } : null;
  }

  get isRunning(): boolean {
    return this.unanswered.isSet || this.later.isSet;
  }

  begin(textAlone: boolean): void {
    this.later.clear();
    this.await(this.tries.begin(textAlone));
  }

  /** The server asks to wait. That is an answer, and no try. */
  wait(ms: number): void {
    this.end();
    this.later.set(Math.max(ms, LEAST_WAIT_MS));
  }

  end(): void {
    this.tries.end();
    this.unanswered.clear();
    this.later.clear();
  }

  private tryAgain(): void {
    const { send } = this.next;
    if (send) this.send();
    this.await(send ? this.tries.sent() : this.tries.unanswered());
    this.changed();
  }

  private await(next: Next): void {
    this.next = next;
    this.unanswered.set(next.wait);
  }
}
