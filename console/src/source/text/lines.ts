/** Computes the diff of two texts, line by line: the smallest lists of lines that go and come, where that is found soon. */

/** Offsets are UTF-16, of the former text. */
export interface Change {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

const MAX_EDITS = 600; // lines that differ; above that everything between the first and the last one is replaced

export function changesBetween(before: string, after: string): Change[] {
  if (before === after) return [];
  const [left, right] = [linesOf(before), linesOf(after)];
  return hunksBetween(left, right).map(([from, to, first, last]) => narrowed(lengthOf(left.slice(0, from)), left.slice(from, to).join(""), right.slice(first, last).join("")));
}

/** Lines `from` up to `to` of the former list go, `first` up to `last` of the new one come. In order; what is between them stays. */
export type Hunk = readonly [from: number, to: number, first: number, last: number];

export function hunksBetween(left: readonly string[], right: readonly string[]): Hunk[] {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  if (start + end === left.length && left.length === right.length) return [];
  return hunks(left.slice(start, left.length - end), right.slice(start, right.length - end))
    .map(([from, to, first, last]) => [start + from, start + to, start + first, start + last]);
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

/** Within what is replaced, only the middle that differs: so a cursor in a line stays at its letter. */
function narrowed(from: number, before: string, after: string): Change {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  if (isPairCut(before, start)) start -= 1;
  if (isPairCut(before, before.length - end)) end -= 1;
  return { from: from + start, to: from + before.length - end, insert: after.slice(start, after.length - end) };
}

/** Whether a place is between the two halves of one character. */
function isPairCut(text: string, place: number): boolean {
  return place > 0 && place < text.length && /[\ud800-\udbff]/.test(text.charAt(place - 1)) && /[\udc00-\udfff]/.test(text.charAt(place));
}

/** By the algorithm of Myers: the lines that stay are as many as can be. */
function hunks(left: readonly string[], right: readonly string[]): Hunk[] {
  const trace: Map<number, number>[] = [];
  let reached = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(left.length + right.length, MAX_EDITS); edits += 1) {
    trace.push(reached);
    reached = new Map(reached);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOn(reached, diagonal, edits);
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      reached.set(diagonal, x);
      if (x >= left.length && x - diagonal >= right.length) return joined(walked(trace, left.length, right.length));
    }
  }
  return [[0, left.length, 0, right.length]];
}

function startOn(reached: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  const [below, above] = [reached.get(diagonal - 1) ?? -1, reached.get(diagonal + 1) ?? -1];
  return diagonal === -edits || (diagonal !== edits && below < above) ? above : below + 1;
}

/** The single steps, the last one first. */
function walked(trace: readonly Map<number, number>[], width: number, height: number): Hunk[] {
  const steps: Hunk[] = [];
  let [x, y] = [width, height];
  for (let edits = trace.length - 1; edits > 0; edits -= 1) {
    const reached = trace[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const [below, above] = [reached.get(diagonal - 1) ?? -1, reached.get(diagonal + 1) ?? -1];
    const isInsert = diagonal === -edits || (diagonal !== edits && below < above);
    const former = isInsert ? diagonal + 1 : diagonal - 1;
    const from = reached.get(former) ?? 0;
    steps.push(isInsert ? [from, from, from - former, from - former + 1] : [from, from + 1, from - former, from - former]);
    [x, y] = [from, from - former];
  }
  return steps.reverse();
}

function joined(steps: readonly Hunk[]): Hunk[] {
  const made: Hunk[] = [];
  for (const step of steps) {
    const last = made.at(-1);
    if (last !== undefined && last[1] === step[0] && last[3] === step[2]) made[made.length - 1] = [last[0], step[1], last[2], step[3]];
    else made.push(step);
  }
  return made;
}
