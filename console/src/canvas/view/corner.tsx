/** The map in the corner: where it draws the graph, and the frame that shows the part in view and is dragged. */
import { useReactFlow, useStore } from "@xyflow/react";
import type { PointerEvent, ReactElement, ReactNode } from "react";
import type { Placed } from "../layout/placing.ts";

export const MAP_WIDTH = 176;
export const MAP_HEIGHT = 112;
const PAD = 8;
const MAX_SCALE = 0.2;

/** The graph stands at `left` and `top` of the map, at `scale`. `isWhole`: all of it is in view, so that a map says nothing. */
export interface Corner {
  readonly left: number;
  readonly top: number;
  readonly scale: number;
  readonly isWhole: boolean;
  readonly view: readonly [x: number, y: number, width: number, height: number]; // on the map
  readonly zoom: number;
}

export function useCorner(bounds: Placed["bounds"]): Corner {
  const [x, y, zoom] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const scale = Math.min((MAP_WIDTH - 2 * PAD) / Math.max(bounds.width, 1), (MAP_HEIGHT - 2 * PAD) / Math.max(bounds.height, 1), MAX_SCALE);
  const [left, top] = [(MAP_WIDTH - bounds.width * scale) / 2 - bounds.x * scale, (MAP_HEIGHT - bounds.height * scale) / 2 - bounds.y * scale];
  const isWhole = bounds.x * zoom + x >= 0 && bounds.y * zoom + y >= 0 && (bounds.x + bounds.width) * zoom + x <= width && (bounds.y + bounds.height) * zoom + y <= height;
  return { left, top, scale, isWhole, zoom, view: [left - (x / zoom) * scale, top - (y / zoom) * scale, (width / zoom) * scale, (height / zoom) * scale] };
}

/** `children` is the canvas with the drawing. */
export function CornerMap({ corner: { left, top, scale, zoom, view }, children }: { readonly corner: Corner; readonly children: ReactNode }): ReactElement {
  const flow = useReactFlow();
  const goTo = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.buttons !== 1) return;
    const box = event.currentTarget.getBoundingClientRect();
    void flow.setCenter((event.clientX - box.left - left) / scale, (event.clientY - box.top - top) / scale, { zoom });
  };
  const [x, y, width, height] = view;
  return (
    <div className="map" onPointerDown={goTo} onPointerMove={goTo} aria-hidden="true">
      {children}
      <svg width={MAP_WIDTH} height={MAP_HEIGHT}><rect x={x} y={y} width={width} height={height} rx={2} /></svg>
    </div>
  );
}
