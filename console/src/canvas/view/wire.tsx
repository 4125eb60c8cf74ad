/** An edge: a curve from exit to block, by the layout's bends while both ends are where the layout put them. */
import { BaseEdge, getBezierPath, Position, ViewportPortal, type Edge, type EdgeProps } from "@xyflow/react";
import { memo, type ReactElement } from "react";
import type { Way } from "../layout/placing.ts";
import { ERROR } from "../model/graph.ts";

export interface WireData extends Record<string, unknown> {
  readonly way: Way | null;
  readonly label: string;
  readonly handle: string;
}

export type WireEdge = Edge<WireData, "wire">;

const NEAR = 3; // px by which an end may be off its place

export const WireLine = memo(function WireLine(props: EdgeProps<WireEdge>): ReactElement {
  const { sourceX, sourceY, targetX, targetY, data, selected } = props;
  const [path, labelX, labelY] = pathOf(sourceX, sourceY, targetX, targetY, data?.way ?? null);
  const kind = data?.handle === ERROR ? "wire error" : "wire";
  return (
    <>
      <BaseEdge id={props.id} path={path} className={selected === true ? `${kind} selected` : kind} interactionWidth={16} />
      {data !== undefined && data.label !== "" ? <text className="wire-label" x={labelX} y={labelY - 6} textAnchor="middle">{data.label}</text> : null}
    </>
  );
});

/** One drawing for all edges at blocks that others move: `moving.ts` draws them here in each frame, below all that stands still. */
export const MovingWires = memo(function MovingWires(): ReactElement {
  return (
    <ViewportPortal>
      <svg className="moving-wires" aria-hidden="true"><path className="react-flow__edge-path wire" /><path className="react-flow__edge-path wire error" /></svg>
    </ViewportPortal>
  );
});

/** The curve between two ports, and where its label stands. */
export function pathOf(sourceX: number, sourceY: number, targetX: number, targetY: number, way: Way | null): readonly [path: string, x: number, y: number] {
  if (way !== null && near(way.across, targetX - sourceX) && near(way.down, targetY - sourceY)) return bent(sourceX, sourceY, targetX, targetY, way.bends);
  const [path, x, y] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition: Position.Right, targetPosition: Position.Left });
  return [path, x, y];
}

function near(planned: number, found: number): boolean {
  return Math.abs(planned - found) < NEAR;
}

/** Curves between layers, straight lines through the layers that it crosses. */
function bent(x: number, y: number, endX: number, endY: number, bends: readonly number[]): readonly [string, number, number] {
  let path = `M${x},${y}`;
  let [fromX, fromY] = [x, y];
  for (let place = 0; place < bends.length; place += 4) {
    const [leftX, leftY, rightX] = [x + (bends[place] ?? 0), y + (bends[place + 1] ?? 0), x + (bends[place + 2] ?? 0)];
    path += curve(fromX, fromY, leftX, leftY) + `L${rightX},${leftY}`;
    [fromX, fromY] = [rightX, leftY];
  }
  return [path + curve(fromX, fromY, endX, endY), fromX, fromY];
}

function curve(x: number, y: number, endX: number, endY: number): string {
  const middle = (x + endX) / 2;
  return `C${middle},${y} ${middle},${endY} ${endX},${endY}`;
}
