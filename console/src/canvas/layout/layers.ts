/**
 * The layers of a body: the layer of a cell is the longest path to it, its place in the layer is found by barycentres, and an edge that
 * crosses a layer gets a cell of its own there (Sugiyama, Tagawa, Toda 1981). The same rule as `stepless graph` draws by.
 */

const GAP = 20; // between the cells of a layer
const THIN = 12; // the height of an edge in a layer that it crosses
const ROUNDS = 8;

/** `cross` is the middle of a cell in its layer, `wish` the middle that its neighbours suggest. */
export interface Cell {
  readonly height: number;
  readonly width: number;
  readonly before: Cell[];
  readonly after: Cell[];
  cross: number;
  wish: number;
}

export function cell(width: number, height: number): Cell {
  return { height, width, before: [], after: [], cross: 0, wish: 0 };
}

export function thin(): Cell {
  return cell(0, THIN);
}

export function tie(former: Cell, latter: Cell): void {
  former.after.push(latter);
  latter.before.push(former);
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
      for (const one of layer) one.wish = mean(turn % 2 === 1 ? one.after : one.before, one.cross);
      layer.sort((left, right) => left.wish - right.wish);
      spread(layer);
      let shift = 0;
      for (const one of layer) shift += one.wish - one.cross;
      shift /= layer.length;
      for (const one of layer) one.cross += shift;
    }
  }
  for (let turn = 0; turn < ROUNDS; turn += 1) (turn % 2 === 1 ? backwards : layers).forEach(settle);
}

function spread(layer: readonly Cell[]): void {
  let place = 0;
  for (const one of layer) {
    one.cross = place + one.height / 2;
    place += one.height + GAP;
  }
}

function mean(cells: readonly Cell[], otherwise: number): number {
  if (cells.length === 0) return otherwise;
  let sum = 0;
  for (const one of cells) sum += one.cross;
  return sum / cells.length;
}

/** Moves cells closer to their neighbours, without overlaps: half way between the least shifts downwards and upwards. */
function settle(layer: readonly Cell[]): void {
  const down: number[] = [];
  let former: Cell | null = null;
  for (const one of layer) {
    const near = one.before.length + one.after.length;
    let sum = 0;
    for (const other of one.before) sum += other.cross;
    for (const other of one.after) sum += other.cross;
    one.wish = near === 0 ? one.cross : sum / near;
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
