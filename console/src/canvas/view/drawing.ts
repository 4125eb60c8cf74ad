/** The graph as plain rectangles and lines on a drawing: the map in the corner, and the whole canvas when it is far away. */
import type { Severity } from "../../wire/draft/open_draft.ts";
import type { Placed } from "../layout/placing.ts";
import type { Graph } from "../model/graph.ts";
import { entryOf, portsOf } from "../model/sizes.ts";

const STRAIGHT = 12; // px within which a curve looks like a line

export interface Colours {
  readonly ground: string;
  readonly block: string;
  readonly line: string;
  readonly accent: string;
  readonly failed: string;
  readonly waiting: string;
}

/** The colours of the theme, as they are now. */
export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name);
  return {
    ground: colour("--ground"), block: colour("--block"), line: colour("--line-strong"), accent: colour("--accent"), failed: colour("--failed"),
    waiting: colour("--waiting"),
  };
}

export interface Marked {
  readonly selected: ReadonlySet<string>;
  readonly wrong: ReadonlyMap<string, Severity | null>;
}

/** Leads from the canvas to the picture. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}

/** Where edges begin and end on the canvas: x, y, x, y of each in turn. */
export function endsOf(graph: Graph, placed: Placed): Float64Array {
  const ends = new Float64Array(4 * graph.wires.size);
  let place = 0;
  for (const wire of graph.wires.values()) {
    const [from, to] = [placed.spots.get(wire.source), placed.spots.get(wire.target)];
    const [source, target] = [graph.blocks.get(wire.source), graph.blocks.get(wire.target)];
    if (from === undefined || to === undefined || source === undefined || target === undefined) continue;
    const port = portsOf(source).find((one) => one.exit === wire.handle)?.y ?? entryOf(source);
    ends.set([from.left + from.width, from.top + port, to.left, to.top + entryOf(target)], place);
    place += 4;
  }
  return ends.subarray(0, place);
}

/** Draws what lies in the picture. `ends`: of the edges that are drawn too. */
export function draw(
  picture: CanvasRenderingContext2D, graph: Graph, placed: Placed, colours: Colours, marked: Marked, view: View, ends: Float64Array | null,
): void {
  if (ends !== null) drawWires(picture, ends, colours, view);
  const { x, y, scale, width, height } = view;
  let filled = "";
  for (const [tail, spot] of placed.spots) {
    const box = [spot.left * scale + x, spot.top * scale + y, Math.max(spot.width * scale, 2), Math.max(spot.height * scale, 1.5)] as const;
    if (box[0] > width || box[1] > height || box[0] + box[2] < 0 || box[1] + box[3] < 0) continue;
    const wrong = marked.wrong.get(tail);
    const colour = marked.selected.has(tail) ? colours.accent : wrong === "error" ? colours.failed : wrong === "warning" ? colours.waiting : colours.block;
    if (graph.blocks.get(tail)?.container === true) {
      picture.strokeStyle = colour;
      picture.strokeRect(...box);
    } else {
      if (filled !== colour) picture.fillStyle = filled = colour; // each is read as CSS
      picture.fillRect(...box);
    }
  }
}

function drawWires(picture: CanvasRenderingContext2D, ends: Float64Array, colours: Colours, { x, y, scale, width, height }: View): void {
  picture.strokeStyle = colours.line;
  picture.lineWidth = 1;
  picture.beginPath();
  for (let place = 0; place < ends.length; place += 4) {
    const [startX, startY] = [(ends[place] ?? 0) * scale + x, (ends[place + 1] ?? 0) * scale + y];
    const [endX, endY] = [(ends[place + 2] ?? 0) * scale + x, (ends[place + 3] ?? 0) * scale + y];
    if (Math.max(startX, endX) < 0 || Math.min(startX, endX) > width || Math.max(startY, endY) < 0 || Math.min(startY, endY) > height) continue;
    if (Math.abs(endX - startX) < STRAIGHT && Math.abs(endY - startY) < STRAIGHT) {
      picture.moveTo(startX, startY);
      picture.lineTo(endX, endY);
      continue;
    }
    const middle = (startX + endX) / 2;
    picture.moveTo(startX, startY);
    picture.bezierCurveTo(middle, startY, middle, endY, endX, endY);
  }
  picture.stroke();
}

/** Makes the drawing as sharp as the screen; its context, cleared. */
export function prepared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const picture = canvas.getContext("2d");
  picture?.setTransform(ratio, 0, 0, ratio, 0, 0);
  picture?.clearRect(0, 0, width, height);
  return picture;
}
