/** Draws a substitute for the blocks of a large draft while it is far away, and the map in the corner. */
import { useStore } from "@xyflow/react";
import { useEffect, useLayoutEffect, useMemo, useState, type ReactElement } from "react";
import { useShownTheme } from "../../ui/theme/switching.ts";
import type { Look } from "../desk.ts";
import { worstOf } from "../model/findings.ts";
import { CornerMap, MAP_HEIGHT, MAP_WIDTH, useCorner } from "./corner.tsx";
import { coloursOf, draw, endsOf, prepared, type Colours, type Marked } from "./drawing.ts";

function useMarked({ selected, findings }: Look): Marked {
  return useMemo(() => {
    const wrong = new Map([...findings].map(([tail, found]) => [tail, worstOf(found)] as const));
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
  const [mounted, canvas, colours] = useColours();
  const marked = useMarked(look);
  const { graph, placed } = look;
  const corner = useCorner(placed.bounds);
  const { left, top, scale } = corner;
  useEffect(() => {
    if (canvas === null || colours === null) return;
    const picture = prepared(canvas, MAP_WIDTH, MAP_HEIGHT);
    if (picture !== null) draw(picture, graph, placed, colours, marked, { x: left, y: top, scale, width: MAP_WIDTH, height: MAP_HEIGHT }, null);
  }, [canvas, colours, placed, marked, left, top, scale]); // of the graph it shows what stands where, and that changes with it
  return look.graph.blocks.size === 0 || corner.isWhole ? null : <CornerMap corner={corner}><canvas ref={mounted} /></CornerMap>;
}
