/** A draft that was compiled from source: what it was made by, its nodes as lines of it, and how it is left. */
import type { Write } from "../../editing/log/effects.ts";
import { operation, type Operation } from "../../editing/log/operations.ts";
import { prefixOf, type State } from "../../editing/state.ts";
import { EMPTY } from "../../editing/values/values.ts";
import { isSameMade, liftedRead, linesRead, madeRead, type Made } from "../../source/made.ts";
import { Source } from "../../source/source.ts";
import type { Graph } from "./graph.ts";

const MADE_BY = "made_by";

/** `held` stays the same object as long as it is the same. */
export function madeOf(view: State, held: Made | null): Made | null {
  const value = view.get("doc")?.get(MADE_BY);
  const made = madeRead(value);
  if (held === null || made === null) return made;
  return isSameMade(made, held) ? held : made;
}

export function sourceOf(made: Made, graph: Graph, view: State): Source {
  const led = new Set([...graph.wires.values()].map((wire) => wire.target));
  return new Source(made, [...graph.blocks.values()].map((block) => (
    { tail: block.tail, type: block.type, entry: block.parent === null && !led.has(block.tail), at: linesRead(view.get(`block/${block.tail}`) ?? EMPTY), lifted: liftedRead(view.get(`block/${block.tail}`) ?? EMPTY) }
  )));
}

/** One operation, which is undone like any: without it nothing says which line became which node. */
export function untied(view: State): Operation {
  const writes: Write[] = [["unset", "doc", [MADE_BY]]];
  for (const key of view.keys()) if (prefixOf(key) === "block" && view.get(key)?.has("at") === true) writes.push(["unset", key, ["at"]]);
  return operation(writes);
}
