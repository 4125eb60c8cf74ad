/** A double click zooms in at the pointer, with Shift out. React Flow's own would take the way between both views, 250 ms of it. */
import type { ReactFlowInstance } from "@xyflow/react";
import type { MouseEvent } from "react";

const BY = 2;

export function doubled(flow: Pick<ReactFlowInstance, "getViewport" | "screenToFlowPosition" | "setViewport">, event: MouseEvent, [least, most]: readonly [number, number]): void {
  const point = { x: event.clientX, y: event.clientY };
  const at = flow.screenToFlowPosition(point);
  const { x, y, zoom } = flow.getViewport();
  const next = Math.min(most, Math.max(least, event.shiftKey ? zoom / BY : zoom * BY));
  void flow.setViewport({ x: x + at.x * (zoom - next), y: y + at.y * (zoom - next), zoom: next });
}
