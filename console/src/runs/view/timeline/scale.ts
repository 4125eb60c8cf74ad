/**
 * The time of a waterfall: from milliseconds to a share of the width. Stretches in which nothing works are folded to a narrow mark, so
 * that an answer after two days does not turn the work before and after it into dots.
 */
import type { Span } from "../../../runstate/types.ts";

export interface Fold {
  readonly from: number;
  readonly to: number;
  readonly at: number; // where it begins, as a share of the width
  readonly wide: number;
}

export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly folds: readonly Fold[];
  readonly at: (ms: number) => number;
  readonly back: (share: number) => number;
}

const LEAST_IDLE_MS = 5_000;
const LEAST_SHARE = 0.12; // of the range that an idle stretch must take to be folded
const FOLD = 0.03;
const SHORT_MS = 1_000; // where hardly anything else is left, half of the width is of what is folded: else a run that waits would look empty
const FOLDS_OF_SHORT = 0.5;
const MAX_FOLDS = 12;

export function scaled(busy: readonly Span[], from: number, to: number): Scale {
  const end = Math.max(to, from + 1);
  const idle = longest(gapsOf(busy, from, end), end - from);
  const folded = idle.reduce((sum, [begin, until]) => sum + until - begin, 0);
  const rest = end - from - folded;
  const wide = rest < SHORT_MS ? FOLDS_OF_SHORT / Math.max(idle.length, 1) : FOLD;
  const unit = (1 - idle.length * wide) / Math.max(rest, 1);
  const folds: Fold[] = [];
  let gone = 0;
  idle.forEach(([begin, until], place) => {
    folds.push({ from: begin, to: until, at: (begin - from - gone) * unit + place * wide, wide });
    gone += until - begin;
  });
  const at = (ms: number): number => {
    const here = Math.min(Math.max(ms, from), end);
    let [skipped, before] = [0, 0];
    for (const fold of folds) {
      if (here < fold.from) break;
      if (here < fold.to) return fold.at + ((here - fold.from) / (fold.to - fold.from)) * fold.wide;
      skipped += fold.to - fold.from;
      before += fold.wide;
    }
    return Math.min(1, (here - from - skipped) * unit + before);
  };
  const back = (share: number): number => {
    let [skipped, before] = [0, 0];
    for (const fold of folds) {
      if (share < fold.at) break;
      if (share < fold.at + fold.wide) return fold.from + ((share - fold.at) / fold.wide) * (fold.to - fold.from);
      skipped += fold.to - fold.from;
      before += fold.wide;
    }
    return Math.min(end, from + skipped + (share - before) / unit);
  };
  return { from, to: end, folds, at, back };
}

export type Step = "in" | "out" | "earlier" | "later";

const LEAST_RANGE_MS = 4;

/** The range of a time of `whole` milliseconds after a step: half of it around a point, twice as much, or half a range to a side; null: all of it. */
export function moved([from, to]: Span, whole: number, step: Step, around: number | null): Span | null {
  const length = step === "in" ? Math.max(LEAST_RANGE_MS, Math.ceil((to - from) / 2)) : step === "out" ? (to - from) * 2 : to - from;
  if (length >= whole) return null;
  const middle = (step === "in" ? around : null) ?? (from + to) / 2;
  const shift = step === "earlier" ? -length / 2 : step === "later" ? length / 2 : 0;
  const begin = Math.min(Math.max(0, Math.floor(middle - length / 2 + shift)), whole - length);
  return [begin, begin + length];
}

function gapsOf(busy: readonly Span[], from: number, to: number): Span[] {
  const gaps: Span[] = [];
  let last = from;
  for (const [begin, end] of busy) {
    if (end < from) continue;
    if (begin > to) break;
    if (begin > last) gaps.push([last, Math.min(begin, to)]);
    last = Math.max(last, end);
  }
  if (last < to) gaps.push([last, to]);
  return gaps;
}

/** The gaps that are worth a fold, in order. */
function longest(gaps: readonly Span[], range: number): readonly Span[] {
  const least = Math.max(LEAST_IDLE_MS, range * LEAST_SHARE);
  const found = gaps.filter(([begin, end]) => end - begin >= least).sort(([a, b], [c, d]) => d - c - (b - a)).slice(0, MAX_FOLDS);
  return found.sort(([left], [right]) => left - right);
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000,
  21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000,
] as const;
const TICKS = 6; // at most, where nothing is folded
const LEAST_APART = 0.09; // of the width: a text is next to its mark

/** Round times to write above the rows: multiples of one step, none inside a fold, none too near to the one before or to the end. */
export function ticksOf({ from, to, folds, at }: Scale): readonly number[] {
  const shown = to - from - folds.reduce((sum, fold) => sum + fold.to - fold.from, 0);
  const step = STEPS.find((one) => shown / one <= TICKS) ?? Math.ceil(shown / TICKS);
  const ticks: number[] = [];
  let begin = from;
  for (const end of [...folds.map((fold) => fold.from), to]) {
    for (let ms = Math.ceil(begin / step) * step; ms <= end; ms += step) {
      const [share, last] = [at(ms), ticks.at(-1)];
      if (share <= 1 - LEAST_APART && (last === undefined || share - at(last) >= LEAST_APART)) ticks.push(ms);
    }
    begin = folds.find((fold) => fold.from === end)?.to ?? to;
  }
  return ticks;
}
