import { Alarm } from "./alarm.ts";
import type { Host } from "./sending/host.ts";
import type { Ports } from "./ports.ts";
import { hello } from "./talk.ts";

const AGAIN_MS = 5_000;

/** Whether the server can be reached, and the greeting that it answers with `welcome`. */
export class Connection {
  private isUp = false;
  /** The head of the log was reached since the greeting. */
  isReady = false;
  private readonly name: string;
  private readonly greeting: Alarm;

  constructor(private readonly ports: Ports, private readonly host: Host) {
    this.name = ports.chance.word();
    this.greeting = new Alarm(ports.clock, () => { this.greet(); });
  }

  /** `isOpen`: there is a draft to greet with. */
  up(isOpen: boolean): void {
    this.isUp = true;
    if (isOpen) this.greet();
  }

  down(): void {
    this.isUp = false;
    this.isReady = false;
    this.greeting.clear();
  }

  /** Says which client this is and where it stands; again until it is welcome. */
  greet(): void {
    if (!this.isUp) return;
    const { client, seq } = this.host.replica();
    this.greeting.set(AGAIN_MS);
    this.ports.wire.send(hello(client, this.name, seq, this.host.epoch()));
  }

  welcome(): void {
    this.greeting.clear();
  }

  ready(): void {
    this.isReady = this.isUp;
  }

  /** The draft is another one, or there is none: what was said of this one counts no more. */
  stop(): void {
    this.isReady = false;
    this.greeting.clear();
  }
}
