/** What a browser and a network are to a session, with a clock that stands until it is moved. */
import type { Clock, Locks, Ports, Rows, Tab } from "../../src/editing/client/ports.ts";
import type { Dice } from "../dice.ts";
import { word } from "./edits.ts";

export async function rest(): Promise<void> {
  await new Promise((done) => setImmediate(done)); // after all promises that can go on
}

export class HandClock {
  private time = 1_000_000;
  private count = 0;
  private readonly timers = new Map<number, { at: number; run: () => void }>();

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): () => void {
    this.count += 1;
    const number = this.count;
    this.timers.set(number, { at: this.time + ms, run });
    return () => this.timers.delete(number);
  }

  /** Lets time pass, and everything happen in it in its order. */
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    await rest();
    for (let next = this.first(end); next !== null; next = this.first(end)) {
      const timer = this.timers.get(next);
      this.timers.delete(next);
      this.time = Math.max(this.time, timer?.at ?? 0);
      timer?.run();
      await rest();
    }
    this.time = end;
  }

  private first(end: number): number | null {
    let found: number | null = null;
    let at = end;
    for (const [number, timer] of this.timers) {
      if (timer.at < at || (timer.at === at && found === null)) [found, at] = [number, timer.at];
    }
    return found;
  }
}

/** The storage and the locks that the tabs of one browser share. */
export class Browser {
  readonly rows = new Map<string, string>();
  readonly held = new Set<string>();
  private uses = 0;

  /** `delay`: of each use of the storage and the locks, in milliseconds; where it throws, that use fails, from use `from` on. */
  constructor(private readonly clock: HandClock, private readonly delay: () => number = () => 0, private readonly from = 0) {}

  /** What one tab sees of it. After `die` nothing that it does has any effect, and its locks are free. */
  tab(remembered: string | null): { rows: Rows; locks: Locks; tab: Tab; remembered: () => string | null; die: () => void } {
    let alive = true;
    let client = remembered;
    const own = new Set<string>();
    const wait = async (): Promise<void> => {
      this.uses += 1;
      const ms = this.uses > this.from ? this.delay() : 0;
      if (ms > 0) await new Promise<void>((done) => this.clock.after(ms, done));
    };
    return {
      rows: {
        read: async (prefix) => {
          await wait();
          return [...this.rows].filter(([key]) => key.startsWith(prefix)).sort(([left], [right]) => (left < right ? -1 : 1));
        },
        write: async (changes) => {
          await wait();
          if (!alive) return new Promise(() => undefined);
          for (const [key, text] of changes) {
            if (text === null) this.rows.delete(key);
            else this.rows.set(key, text);
          }
          return undefined;
        },
      },
      locks: {
        hold: async (name) => {
          await wait();
          if (!alive || this.held.has(name)) return null;
          this.held.add(name);
          own.add(name);
          return () => {
            if (own.delete(name)) this.held.delete(name);
          };
        },
      },
      tab: { recall: () => client, remember: (name) => { client = alive ? name : client; } },
      remembered: () => client,
      die: () => {
        alive = false;
        for (const name of own) this.held.delete(name);
        own.clear();
      },
    };
  }
}

export function portsOf(clock: Clock, dice: Dice, machine: Pick<Ports, "rows" | "locks" | "tab">, wire: Ports["wire"]): Ports {
  const { rows, locks, tab } = machine;
  return { clock, chance: { word: () => word(dice), fraction: () => dice.fraction() }, rows, locks, tab, wire };
}
