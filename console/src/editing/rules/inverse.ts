/**
 * Undo: the operation that takes effects back, computed from the state before them.
 *
 * Its guards say what must still be so. An entity that was added is taken away only as it was added; a value is put back only while
 * it is the one that was set. A text needs no guard: its splices are transformed with whatever was typed since.
 */
import type { Effect, Entity } from "../log/effects.ts";
import { after } from "../fold.ts";
import { operation, type Operation, type Guard } from "../log/operations.ts";
import { Layer, prefixOf, valueAt, type State } from "../state.ts";
import { REPLACED } from "../tables.ts";
import { at, isObject, keyAfter, points, slicePoints, type Path } from "../values/values.ts";

type Watched = Map<string, readonly [key: string, path: Path]>;

/**
 * What restores `state` after the effects: each entity as it was, with its keys in their order. Effects that change nothing have no
 * part in it.
 */
export function inverse(state: State, effects: Iterable<Effect>): Operation {
  const layer = new Layer(state);
  const back: Effect[] = [];
  const watched: Watched = new Map();
  for (const effect of effects) {
    const [word, key] = effect;
    const held = layer.get(key);
    const made = after(held, effect);
    if (made === held) continue;
    back.push(undone(held, effect));
    if (word === "set" || word === "unset") watched.set(JSON.stringify([key, ...effect[2]]), [key, effect[2]]);
    else if (word === "put" && held === undefined && !REPLACED.includes(prefixOf(key))) watched.set(JSON.stringify([key]), [key, []]);
    layer.put(key, made);
  }
  return operation(back.reverse(), guards(layer, watched));
}

function undone(held: Entity | undefined, effect: Effect): Effect {
  const key = effect[1];
  if (held === undefined) return ["del", key];
  if (effect[0] === "put" || effect[0] === "del") return ["put", key, held];
  const path = effect[2];
  const former = at(held, path);
  if (effect[0] === "splice") {
    const text = typeof former === "string" ? former : "";
    const start = Math.min(effect[3], points(text));
    return ["splice", key, path, start, points(effect[5]), slicePoints(text, start, start + effect[4])];
  }
  if (former === undefined) return ["unset", key, firstMade(held, path)];
  if (effect[0] === "set") return ["set", key, path, former];
  const above = at(held, path.slice(0, -1));
  const before = isObject(above) ? keyAfter(above, path.at(-1) ?? "") : null;
  return before === null ? ["set", key, path, former] : ["set", key, path, former, before];
}

/** The path to the first key that a set made on its way. */
function firstMade(held: Entity, path: Path): Path {
  for (let length = 1; length < path.length; length += 1) {
    if (at(held, path.slice(0, length)) === undefined) return path.slice(0, length);
  }
  return path;
}

/** The values after the effects that the undo replaces. What the effects themselves took away again needs none. */
function guards(made: State, watched: Watched): Guard[] {
  const whole = new Set([...watched.values()].flatMap(([key, path]) => (path.length === 0 ? [key] : [])));
  return [...watched.values()]
    .filter(([key, path]) => made.has(key) && (path.length === 0 || !whole.has(key)))
    .map(([key, path]): Guard => [key, path, valueAt(made, key, path)]);
}
