/** The graph of a run as plain rectangles in the colours of their status: from far away, and as the map in the corner. */
import { useStore } from "@xyflow/react";
import { useEffect, useRef, type ReactElement } from "react";
import { CornerMap, MAP_HEIGHT, MAP_WIDTH, useCorner } from "../../../canvas/view/corner.tsx";
import { prepared } from "../../../canvas/view/drawing.ts";
import type { Placed } from "../../../canvas/layout/placing.ts";
import type { Graph } from "../../../canvas/model/graph.ts";
import { toneOf, type Tone } from "../../../ui/status.tsx";
import { useShownTheme } from "../../../ui/theme/switching.ts";
import { loudest } from "../../../runstate/counts.ts";
import type { NodeSummary } from "../../../runstate/types.ts";

export interface Picture {
  readonly graph: Graph;
  readonly placed: Placed;
  readonly nodes: ReadonlyMap<string, NodeSummary>;
  readonly chosen: string;
}

interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}

const TONES: readonly Tone[] = ["running", "waiting", "held", "failed", "completed", "quiet"];

function paint(context: CanvasRenderingContext2D, element: Element, { graph, placed, nodes, chosen }: Picture, { x, y, scale, width, height }: View, wires: boolean): void {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name);
  const tones = new Map(TONES.map((tone) => [tone, colour(tone === "quiet" ? "--skipped" : `--${tone}`)]));
  const [idle, accent] = [colour("--block"), colour("--accent")];
  if (wires) {
    context.strokeStyle = colour("--line-strong");
    paintWires(context, graph, placed, { x, y, scale, width, height });
  }
  for (const [path, spot] of placed.spots) {
    const box = [spot.left * scale + x, spot.top * scale + y, Math.max(spot.width * scale, 2), Math.max(spot.height * scale, 1.500)] as const;
    if (box[0] > width || box[1] > height || box[0] + box[2] < 0 || box[1] + box[3] < 0) continue;
    const counts = nodes.get(path)?.counts;
    const shown = path === chosen ? accent : counts === undefined ? idle : tones.get(toneOf(loudest(counts))) ?? idle;
    if (graph.blocks.get(path)?.container === true) {
      context.strokeStyle = shown;
      context.strokeRect(...box);
    } else {
      context.fillStyle = shown;
      context.fillRect(...box);
    }
  }
}

function paintWires(context: CanvasRenderingContext2D, graph: Graph, placed: Placed, { x, y, scale, width, height }: View): void {
  context.beginPath();
  for (const { source, target } of graph.wires.values()) {
    const [from, to] = [placed.spots.get(source), placed.spots.get(target)];
    if (from === undefined || to === undefined) continue;
    const [left, top] = [(from.left + from.width) * scale + x, (from.top + Math.min(from.height, 56) / 2) * scale + y];
    const [right, bottom] = [to.left * scale + x, (to.top + Math.min(to.height, 56) / 2) * scale + y];
    if (Math.max(left, right) < 0 || Math.min(left, right) > width || Math.max(top, bottom) < 0 || Math.min(top, bottom) > height) continue;
    context.moveTo(left, top);
    context.bezierCurveTo((left + right) / 2, top, (left + right) / 2, bottom, right, bottom);
  }
  context.stroke();
}

export function Far({ picture }: { readonly picture: Picture }): ReactElement {
  const [x, y, scale] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const theme = useShownTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current === null ? null : prepared(canvas.current, width, height);
    if (canvas.current !== null && context !== null) paint(context, canvas.current, picture, { x, y, scale, width, height }, true);
  }, [picture, x, y, scale, width, height, theme]);
  return <canvas ref={canvas} className="far" aria-hidden="true" />;
}

export function Minimap({ picture }: { readonly picture: Picture }): ReactElement | null {
  const theme = useShownTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const corner = useCorner(picture.placed.bounds);
  const { left, top, scale, isWhole } = corner;
  useEffect(() => {
    const context = canvas.current === null ? null : prepared(canvas.current, MAP_WIDTH, MAP_HEIGHT);
    if (canvas.current !== null && context !== null) paint(context, canvas.current, picture, { x: left, y: top, scale, width: MAP_WIDTH, height: MAP_HEIGHT }, false);
  }, [picture, left, top, scale, theme, isWhole]);
  return picture.graph.blocks.size === 0 || isWhole ? null : <CornerMap corner={corner}><canvas ref={canvas} /></CornerMap>;
}
