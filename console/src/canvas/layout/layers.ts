/**
 * The layers of a body: the layer of a cell is the longest path to it, its place in the layer is found by barycentres, and an edge that
 * crosses a layer gets a cell of its own there (Sugiyama, Tagawa, Toda 1981), as in `stepless graph`. Here edges also have the places on
 * their nodes at which they leave and enter, and neighbours are exchanged where that leaves fewer crossings.
 */

const GAP = 20; // between the cells of a layer
const THIN = 12; // the height of an edge in a layer that it crosses
const ROUNDS = 8;
const MOST_COMPARED = 100_000;

/**
 * `cross` is the middle of a cell in its layer, `wish` the middle that its neighbours suggest. `beforeAt` is for each cell in `before`
 * where its tie leaves it, from its middle; `afterAt` for each in `after` where the tie enters it. `lift` and `fall` are the sums over
 * the ties before and after of how much higher than the middle of the neighbour this cell would have to stand for a straight line.
 */
export interface Cell {
  readonly height: number;
  readonly width: number;
  readonly before: Cell[];
  readonly after: Cell[];
  beforeAt: number[]; // without an entry where the tie leaves from the middle, as most do
  afterAt: number[];
  lift: number;
  fall: number;
  cross: number;
  wish: number;
}

const MIDDLES: number[] = []; // of all cells whose ties are at the middles: a large graph has a hundred thousand

export function cell(width: number, height: number): Cell {
  return { height, width, before: [], after: [], beforeAt: MIDDLES, afterAt: MIDDLES, lift: 0, fall: 0, cross: 0, wish: 0 };
}

export function thin(): Cell {
  return cell(0, THIN);
}

/** `leaves` and `enters` are where the tie begins and ends, from the middles of the cells. */
export function tie(former: Cell, latter: Cell, leaves: number, enters: number): void {
  if (enters !== 0) former.afterAt = noted(former.afterAt, former.after.length, enters);
  if (leaves !== 0) latter.beforeAt = noted(latter.beforeAt, latter.before.length, leaves);
  former.after.push(latter);
  former.fall += enters - leaves;
  latter.before.push(former);
  latter.lift += leaves - enters;
}

function noted(list: number[], place: number, at: number): number[] {
  const own = list === MIDDLES ? [] : list;
  while (own.length < place) own.push(0);
  own.push(at);
  return own;
}

/** The longest path to each of `count` nodes. Nodes on a cycle stay where the paths into it end. */
export function depths(count: number, edges: readonly (readonly [source: number, target: number])[]): number[] {
  const depth = new Array<number>(count).fill(0);
  const owed = new Array<number>(count).fill(0);
  const out: number[][] = Array.from({ length: count }, () => []);
  for (const [source, target] of edges) {
    out[source]?.push(target);
    owed[target] = (owed[target] ?? 0) + 1;
  }
  const ready = owed.flatMap((left, node) => (left === 0 ? [node] : []));
  for (let next = 0; next < ready.length; next += 1) {
    const node = ready[next] ?? 0;
    for (const target of out[node] ?? []) {
      depth[target] = Math.max(depth[target] ?? 0, (depth[node] ?? 0) + 1);
      owed[target] = (owed[target] ?? 0) - 1;
      if (owed[target] === 0) ready.push(target);
    }
  }
  return depth;
}

/** Orders the cells of each layer and sets their middles. */
export function arrange(layers: Cell[][]): void {
  const backwards = layers.toReversed();
  layers.forEach(spread);
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    for (const layer of turn % 2 === 1 ? backwards : layers) {
      for (const one of layer) one.wish = turn % 2 === 1 ? mean(one.after, one.fall, one.cross) : mean(one.before, one.lift, one.cross);
      layer.sort((left, right) => left.wish - right.wish);
      spread(layer);
      let shift = 0;
      for (const one of layer) shift += one.wish - one.cross;
      shift /= layer.length;
      for (const one of layer) one.cross += shift;
    }
  }
  uncross(layers);
  for (let turn = 0; turn < ROUNDS; turn += 1) (turn % 2 === 1 ? backwards : layers).forEach(settle);
}

/**
 * Exchanges neighbours in their layer while that leaves fewer crossings; mean places cannot tell which of two exits of one node is the
 * upper one. Only so often that no more than MOST_COMPARED ties are compared: where nothing can be made out anyway, it takes no time.
 */
function uncross(layers: readonly Cell[][]): void {
  let cost = 1;
  for (const layer of layers) for (const one of layer) cost += 1 + one.before.length * one.before.length + one.after.length * one.after.length;
  const most = Math.min(ROUNDS, Math.floor(MOST_COMPARED / cost));
  for (let turn = 0, changed = true; changed && turn < most; turn += 1) {
    changed = false;
    for (const layer of layers) for (let place = 1; place < layer.length; place += 1) changed = exchanged(layer, place) || changed;
  }
}

/** Exchanges a cell with the one above it, if that leaves fewer crossings. */
function exchanged(layer: Cell[], place: number): boolean {
  const [upper, lower] = [layer[place - 1], layer[place]];
  if (upper === undefined || lower === undefined) return false;
  if (gained(upper.before, upper.beforeAt, lower.before, lower.beforeAt) + gained(upper.after, upper.afterAt, lower.after, lower.afterAt) <= 0) return false;
  const [top, bottom] = [upper.cross - upper.height / 2, lower.cross + lower.height / 2];
  lower.cross = top + lower.height / 2;
  upper.cross = bottom - upper.height / 2;
  layer[place - 1] = lower;
  layer[place] = upper;
  return true;
}

/** How many crossings fewer there are on one side if the lower of two cells stands above the other. */
function gained(above: readonly Cell[], aboveAt: readonly number[], below: readonly Cell[], belowAt: readonly number[]): number {
  let sum = 0;
  for (let one = 0; one < above.length; one += 1) {
    const high = (above[one]?.cross ?? 0) + (aboveAt[one] ?? 0);
    for (let other = 0; other < below.length; other += 1) sum += Math.sign(high - (below[other]?.cross ?? 0) - (belowAt[other] ?? 0));
  }
  return sum;
}

function spread(layer: readonly Cell[]): void {
  let place = 0;
  for (const one of layer) {
    one.cross = place + one.height / 2;
    place += one.height + GAP;
  }
}

function mean(cells: readonly Cell[], offsets: number, otherwise: number): number {
  if (cells.length === 0) return otherwise;
  return (offsets + crossOf(cells)) / cells.length;
}

function crossOf(cells: readonly Cell[]): number {
  let sum = 0;
  for (let place = 0; place < cells.length; place += 1) sum += cells[place]?.cross ?? 0;
  return sum;
}

/** Moves cells closer to their neighbours, without overlaps: half way between the least shifts downwards and upwards. */
function settle(layer: readonly Cell[]): void {
  const down: number[] = [];
  let former: Cell | null = null;
  for (const one of layer) {
    const near = one.before.length + one.after.length;
    one.wish = near === 0 ? one.cross : (one.lift + one.fall + crossOf(one.before) + crossOf(one.after)) / near;
    const last = down.at(-1);
    down.push(former === null || last === undefined ? one.wish : Math.max(one.wish, last + apart(former, one)));
    former = one;
  }
  let high = Infinity;
  let latter: Cell | null = null;
  for (let place = layer.length - 1; place >= 0; place -= 1) {
    const one = layer[place];
    if (one === undefined) continue;
    high = latter === null ? one.wish : Math.min(one.wish, high - apart(one, latter));
    one.cross = ((down[place] ?? one.wish) + high) / 2;
    latter = one;
  }
}

function apart(former: Cell, latter: Cell): number {
  return (former.height + latter.height) / 2 + GAP;
}
