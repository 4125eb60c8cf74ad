/** Where something is dropped on the canvas: on an edge, in a frame, on the ground. */
import type { Write } from "../../editing/log/effects.ts";
import { between, fitsBetween, isLoose } from "../actions/adding.ts";
import { move, reparent, type Move } from "../actions/changing.ts";
import { addKind, addAt } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { frameAt, type Spot } from "../layout/placing.ts";
import { WIDTH } from "../model/sizes.ts";
import { noteOfNode } from "../notes/nodes.ts";
import { noteWrites } from "../notes/notes.ts";

const EDGE = ".react-flow__edge";

interface Pointer {
  readonly clientX: number;
  readonly clientY: number;
}

/** The tail of the edge under the pointer, also where something lies over it. */
export function wireUnder({ clientX, clientY }: Pointer): string | null {
  const under = document.elementsFromPoint(clientX, clientY);
  return under.map((element) => element.closest(EDGE)?.getAttribute("data-id")).find((id) => id !== null && id !== undefined) ?? null;
}

/** The edge under the pointer into which this block can go; null where there is none. The page is asked what lies there only for a
 * block that can go into an edge: a drag asks with each move, and each answer costs a layout of the page. */
export function wireFor(desk: Desk, tail: string, pointer: Pointer | null): string | null {
  const { graph } = desk.snapshot();
  if (pointer === null || !isLoose(graph, tail)) return null;
  const wire = wireUnder(pointer);
  return wire !== null && fitsBetween(graph, wire, tail) ? wire : null;
}

/** The point of a mouse or of the finger that was lifted. */
export function pointerOf(event: unknown): Pointer | null {
  if (typeof TouchEvent !== "undefined" && event instanceof TouchEvent) return event.changedTouches[0] ?? null;
  return event instanceof MouseEvent ? event : null;
}

/** Shows which edge takes what is dragged; null: none. In the page itself, as it changes with each move of the pointer. */
export function markWire(root: Element | null, wire: string | null): void {
  for (const element of root?.querySelectorAll(`${EDGE}.takes`) ?? []) if (element.getAttribute("data-id") !== wire) element.classList.remove("takes");
  if (wire !== null) root?.querySelector(`${EDGE}[data-id="${CSS.escape(wire)}"]`)?.classList.add("takes");
}

interface Dropped {
  readonly id: string;
  readonly position: Corner;
  readonly width?: number;
  readonly height?: number;
}

interface Corner {
  readonly x: number;
  readonly y: number;
}

/** What the end of a drag writes: a block alone goes into the edge under it; else all go into the frame under the first, or move. */
export function writesOfDrop(desk: Desk, event: unknown, all: readonly Dropped[]): Write[] {
  const { notes, placed } = desk.snapshot();
  const seen = (id: string): Corner | undefined => cornerOf(placed.spots.get(id), all.find((node) => node.id === id)?.position);
  const blocks = all.filter((node) => noteOfNode(node.id) === null);
  const moved = all.flatMap((node) => noteWrites(notes, noteOfNode(node.id) ?? "", node.position));
  const [first] = blocks;
  const at = first === undefined ? undefined : seen(first.id);
  if (first === undefined || at === undefined) return moved;
  const wire = all.length === 1 ? wireFor(desk, first.id, pointerOf(event)) : null;
  return [...moved, ...wire === null ? ofBlocks(desk, first, at, blocks, seen) : ofBetween(desk, first.id, at, wire)];
}

function ofBetween(desk: Desk, tail: string, at: Corner, wire: string): readonly Write[] {
  const { graph, placed } = desk.snapshot();
  const frame = placed.spots.get(graph.blocks.get(graph.wires.get(wire)?.target ?? "")?.parent ?? "");
  return between(desk.view, graph, wire, tail, [at.x - (frame?.left ?? 0), at.y - (frame?.top ?? 0)], desk.fresh)?.writes ?? [];
}

/** The corner on the canvas of a block that was dragged from its spot, to a position from the corner of the frame around it. */
function cornerOf(spot: Spot | undefined, position: Corner | undefined): Corner | undefined {
  return spot === undefined || position === undefined ? undefined : { x: spot.left + position.x - spot.x, y: spot.top + position.y - spot.y };
}

const HEAD = 56; // px of a container at whose middle it is held

function ofBlocks(desk: Desk, first: Dropped, at: Corner, blocks: readonly Dropped[], seen: (id: string) => Corner | undefined): readonly Write[] {
  const { graph, placed } = desk.snapshot();
  const frame = frameAt(graph, placed.spots, at.x + (first.width ?? WIDTH) / 2, at.y + Math.min(first.height ?? 0, HEAD) / 2, blocks.map((node) => node.id));
  if (frame === (graph.blocks.get(first.id)?.parent ?? null)) return move(desk.view, blocks.map(({ id, position }): Move => [id, position.x, position.y]))?.writes ?? [];
  const corner = placed.spots.get(frame ?? "");
  const moves = blocks.map(({ id, position }): Move => {
    const { x, y } = seen(id) ?? position;
    return [id, x - (corner?.left ?? 0), y - (corner?.top ?? 0)];
  });
  return reparent(desk.view, moves, frame)?.writes ?? [];
}

/** A kind that was dropped: between the ends of an edge, in a frame, or where it fell. */
export function dropKind(desk: Desk, kind: string, x: number, y: number, wire: string | null): void {
  const { graph } = desk.snapshot();
  const under = wire === null ? undefined : graph.wires.get(wire);
  if (wire === null || under === undefined) {
    addAt(desk, kind, [x, y]);
    return;
  }
  const parent = graph.blocks.get(under.target)?.parent ?? null;
  addKind(desk, kind, parent === null ? { wire } : { wire, parent });
}
