/** Numbers that look random and are the same for the same seed (mulberry32). */
export class Dice {
  constructor(private seed: number) {}

  fraction(): number {
    this.seed = (this.seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.seed ^ (this.seed >>> 15), 1 | this.seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  one<T>(values: readonly T[]): T {
    const found = values[this.below(values.length)];
    if (found === undefined) throw new RangeError("nothing to choose from");
    return found;
  }
}
