/** What stands in for the blocks of a large draft while it is far away, and the map in the corner. */
import { useReactFlow, useStore } from "@xyflow/react";
import { useEffect, useLayoutEffect, useMemo, useState, type PointerEvent, type ReactElement } from "react";
import { useShownTheme } from "../../ui/switching.ts";
import type { Look } from "../desk.ts";
import { coloursOf, draw, endsOf, prepared, type Colours, type Marked } from "./drawing.ts";

const MAP_WIDTH = 176;
const MAP_HEIGHT = 112;
const MAP_PAD = 8;

function useMarked({ selected, findings }: Look): Marked {
  return useMemo(() => {
    const wrong = new Map([...findings].map(([tail, found]) => [tail, found.some((one) => one.severity === "error") ? "error" as const : "warning" as const]));
    return { selected, wrong };
  }, [selected, findings]);
}

/** The colours at a drawing once it is mounted, read again when the theme changes: at each frame the page would have to be styled anew. */
function useColours(): readonly [mounted: (canvas: HTMLCanvasElement | null) => void, canvas: HTMLCanvasElement | null, colours: Colours | null] {
  const [canvas, mounted] = useState<HTMLCanvasElement | null>(null);
  const theme = useShownTheme();
  return [mounted, canvas, useMemo(() => (canvas === null ? null : { theme, ...coloursOf(canvas) }), [canvas, theme])];
}

export function Far({ look }: { readonly look: Look }): ReactElement {
  const [x, y, scale] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const [mounted, canvas, colours] = useColours();
  const marked = useMarked(look);
  const { graph, placed } = look;
  const ends = useMemo(() => endsOf(graph, placed), [graph, placed]);
  useLayoutEffect(() => {
    if (canvas === null || colours === null) return;
    const picture = prepared(canvas, width, height);
    if (picture !== null) draw(picture, graph, placed, colours, marked, { x, y, scale, width, height }, ends);
  }, [canvas, colours, graph, placed, marked, ends, x, y, scale, width, height]);
  return <canvas ref={mounted} className="far" aria-hidden="true" />;
}

export function Minimap({ look }: { readonly look: Look }): ReactElement | null {
  const [x, y, zoom] = useStore((state) => state.transform);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const [mounted, canvas, colours] = useColours();
  const marked = useMarked(look);
  const flow = useReactFlow();
  const { graph, placed } = look;
  const { bounds } = placed;
  const scale = Math.min((MAP_WIDTH - 2 * MAP_PAD) / Math.max(bounds.width, 1), (MAP_HEIGHT - 2 * MAP_PAD) / Math.max(bounds.height, 1), 0.2);
  const [left, top] = [(MAP_WIDTH - bounds.width * scale) / 2 - bounds.x * scale, (MAP_HEIGHT - bounds.height * scale) / 2 - bounds.y * scale];
  const isWhole = bounds.x * zoom + x >= 0 && bounds.y * zoom + y >= 0 && (bounds.x + bounds.width) * zoom + x <= width && (bounds.y + bounds.height) * zoom + y <= height;
  useEffect(() => {
    if (canvas === null || colours === null) return;
    const picture = prepared(canvas, MAP_WIDTH, MAP_HEIGHT);
    if (picture !== null) draw(picture, graph, placed, colours, marked, { x: left, y: top, scale, width: MAP_WIDTH, height: MAP_HEIGHT }, null);
  }, [canvas, colours, placed, marked, left, top, scale]); // of the graph it shows what stands where, and that changes with it
  if (look.graph.blocks.size === 0 || isWhole) return null;
  const goTo = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.buttons !== 1) return;
    const box = event.currentTarget.getBoundingClientRect();
    void flow.setCenter((event.clientX - box.left - left) / scale, (event.clientY - box.top - top) / scale, { zoom });
  };
  return (
    <div className="map" onPointerDown={goTo} onPointerMove={goTo} aria-hidden="true">
      <canvas ref={mounted} />
      <svg width={MAP_WIDTH} height={MAP_HEIGHT}>
        <rect x={left - (x / zoom) * scale} y={top - (y / zoom) * scale} width={(width / zoom) * scale} height={(height / zoom) * scale} rx={2} />
      </svg>
    </div>
  );
}
