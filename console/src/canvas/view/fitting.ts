/** Which part of a graph is shown: all of it, or its beginning where all of it could not be read. */
import { getViewportForBounds, type Viewport } from "@xyflow/react";
import type { Bounds, Spot } from "../layout/placing.ts";

const FAR_ZOOM = 0.35;
const FAR_BLOCKS = 150; // below, blocks stay blocks however far away
const READABLE_ZOOM = 0.65; // names of 13 px are 8 px high
const MARGIN = 32;
export const UNDER_TOOLS = 56; // where the tools of the canvas end, in pixels from its top

/** Whether a graph is drawn as plain rectangles. */
export function isFarAway(zoom: number, blocks: number): boolean {
  return zoom < FAR_ZOOM && blocks > FAR_BLOCKS;
}

export function whole(bounds: Bounds, width: number, height: number): Viewport {
  return getViewportForBounds(bounds, width, height, 0.02, 1, 0.08);
}

/** What is shown at first: the whole, unless its names would be too small; then its first block stands at the left. A graph that is far away stays whole: its rectangles are a map. */
export function beginning(bounds: Bounds, width: number, height: number, spots: ReadonlyMap<string, Spot>): Viewport {
  const all = whole(bounds, width, height);
  if (all.zoom >= READABLE_ZOOM || isFarAway(all.zoom, spots.size)) return all;
  let first: Spot | null = null;
  for (const spot of spots.values()) if (first === null || spot.left < first.left || (spot.left === first.left && spot.top < first.top)) first = spot;
  const zoom = READABLE_ZOOM;
  const space = height - UNDER_TOOLS - MARGIN;
  const top = bounds.height * zoom <= space ? bounds.y + bounds.height / 2 : (first?.top ?? bounds.y) + (first?.height ?? 0) / 2;
  return { x: MARGIN - (first?.left ?? bounds.x) * zoom, y: UNDER_TOOLS + space / 2 - top * zoom, zoom };
}
