/**
 * Stands for `d3-transition` and `d3-interpolate` in the page that is built: what React Flow's zoom takes of them. A view that is asked
 * for is there at once, here as everywhere in the console, so nothing is between two views and nothing has to be stopped.
 */
import { selection, type BaseType, type Selection } from "d3-selection";

type Any = Selection<BaseType, unknown, null, undefined>;

Object.assign(selection.prototype as Any, { interrupt(this: Any) { return this; } });

export function interrupt(): void {
  // nothing moves by itself
}

export function interpolate<T>(_from: T, to: T): () => T {
  return () => to;
}

export { interpolate as interpolateZoom };
