/** What stands in for the blocks of a large draft while it is far away, and the map in the corner. */
import { useReactFlow, useStore } from "@xyflow/react";
import { useEffect, useRef, type PointerEvent, type ReactElement } from "react";
import { useShownTheme } from "../../ui/switching.ts";
import type { Look } from "../desk.ts";
import { coloursOf, draw, prepared, type Marked } from "./drawing.ts";

const MAP_WIDTH = 176;
const MAP_HEIGHT = 112;
const MAP_PAD = 8;

function markedOf(look: Look): Marked {
  const wrong = new Map([...look.findings].map(([tail, found]) => [tail, found.some((one) => one.severity === "error") ? "error" as const : "warning" as const]));
  return { selected: look.selected, wrong };
}

export function Far({ look }: { readonly look: Look }): ReactElement {
  const [x, y, scale] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const theme = useShownTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current === null) return;
    const picture = prepared(canvas.current, width, height);
    if (picture !== null) draw(picture, look.graph, look.placed, coloursOf(canvas.current), markedOf(look), { x, y, scale, width, height }, true);
  }, [look, x, y, scale, width, height, theme]);
  return <canvas ref={canvas} className="far" aria-hidden="true" />;
}

export function Minimap({ look }: { readonly look: Look }): ReactElement | null {
  const [x, y, zoom] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const theme = useShownTheme();
  const flow = useReactFlow();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { bounds } = look.placed;
  const scale = Math.min((MAP_WIDTH - 2 * MAP_PAD) / Math.max(bounds.width, 1), (MAP_HEIGHT - 2 * MAP_PAD) / Math.max(bounds.height, 1), 0.2);
  const [left, top] = [(MAP_WIDTH - bounds.width * scale) / 2 - bounds.x * scale, (MAP_HEIGHT - bounds.height * scale) / 2 - bounds.y * scale];
  const isWhole = bounds.x * zoom + x >= 0 && bounds.y * zoom + y >= 0 && (bounds.x + bounds.width) * zoom + x <= width && (bounds.y + bounds.height) * zoom + y <= height;
  useEffect(() => {
    if (canvas.current === null) return;
    const picture = prepared(canvas.current, MAP_WIDTH, MAP_HEIGHT);
    if (picture !== null) {
      draw(picture, look.graph, look.placed, coloursOf(canvas.current), markedOf(look), { x: left, y: top, scale, width: MAP_WIDTH, height: MAP_HEIGHT }, false);
    }
  }, [look, left, top, scale, theme, isWhole]);
  if (look.graph.blocks.size === 0 || isWhole) return null;
  const goTo = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.buttons !== 1) return;
    const box = event.currentTarget.getBoundingClientRect();
    void flow.setCenter((event.clientX - box.left - left) / scale, (event.clientY - box.top - top) / scale, { zoom });
  };
  return (
    <div className="map" onPointerDown={goTo} onPointerMove={goTo} aria-hidden="true">
      <canvas ref={canvas} />
      <svg width={MAP_WIDTH} height={MAP_HEIGHT}>
        <rect x={left - (x / zoom) * scale} y={top - (y / zoom) * scale} width={(width / zoom) * scale} height={(height / zoom) * scale} rx={2} />
      </svg>
    </div>
  );
}
