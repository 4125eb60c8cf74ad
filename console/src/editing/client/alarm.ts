import type { Clock } from "./ports.ts";

/** Something that happens once, later; setting it again moves it. */
export class Alarm {
  private stop: (() => void) | null = null;

  constructor(private readonly clock: Clock, private readonly run: () => void) {}

  get isSet(): boolean {
    return this.stop !== null;
  }

  set(ms: number): void {
    this.clear();
    this.stop = this.clock.after(Math.max(0, ms), () => {
      this.stop = null;
      this.run();
    });
  }

  clear(): void {
    this.stop?.();
    this.stop = null;
  }
}
