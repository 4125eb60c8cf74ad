/** Performs the actions of the desk. Actions that change the draft do nothing while it can only be read. */
import { add, connect, insert, type Addition } from "./actions/adding.ts";
import { remove, tidy, toggle } from "./actions/changing.ts";
import { duplicate } from "./actions/duplicating.ts";
import { CHANGES, type Action } from "./actions/keymap.ts";
import type { Desk } from "./desk.ts";
import { ERROR, SOURCE, type Block } from "./model/graph.ts";
import { HEIGHT, WIDTH } from "./model/sizes.ts";
import { frameAt } from "./layout/placing.ts";
import { neighbour, walked, type Direction } from "./model/walking.ts";
import { addNote, changeNote, deletions, duplicates, freeCorner, NOTE_HEIGHT, NOTE_WIDTH } from "./notes/notes.ts";
import { operation } from "../editing/log/operations.ts";
import type { Point } from "../wire/draft/people.ts";

const ZOOM = 1.25;
const GRID = 4; // px
const STEP = 20; // px by which an arrow moves a note

/** Does the action; whether it was one to do here. The keys of copy, cut and paste are left to the events of the clipboard. */
export function run(desk: Desk, action: Action): boolean {
  if (CHANGES.has(action) && !desk.snapshot().draft.canEdit) return action !== "copy" && action !== "cut" && action !== "paste";
  switch (action) {
    case "next":
    case "previous":
      return step(desk, action === "next" ? 1 : -1);
    case "forward":
    case "back":
    case "up":
    case "down":
      return along(desk, action);
    case "copy":
    case "cut":
    case "paste":
      return false;
    default:
      return change(desk, action) || see(desk, action);
  }
}

function change(desk: Desk, action: Action): boolean {
  const { graph, selected, edges } = desk.snapshot();
  switch (action) {
    case "add":
      desk.change({ question: { is: "add", after: leaving(desk), at: null } });
      return true;
    case "note":
      noteAt(desk, null);
      return true;
    case "connect":
      if (desk.current !== null) desk.change({ question: { is: "connect", from: desk.current, handle: null } });
      return true;
    case "rename":
      if (desk.current !== null) desk.change({ renaming: desk.current, open: true });
      return true;
    case "disable":
      desk.edit(toggle(desk.view, selected, graph.blocks));
      return true;
    case "delete":
      removeSelected(desk, selected, edges);
      return true;
    case "duplicate":
      duplicateSelected(desk);
      return true;
    case "tidy":
      desk.edit(tidy(graph, selected.size > 0 ? selected : graph.blocks.keys()));
      return true;
    case "undo":
      desk.undo();
      return true;
    case "redo":
      desk.redo();
      return true;
    default:
      return false;
  }
}

/** Single nodes are run to and from only at the top level: a turn of a container is no place to stop at. */
function test(desk: Desk, action: Action): boolean {
  const block = desk.snapshot().graph.blocks.get(desk.current ?? "");
  const name = block?.parent === null ? block.id : null;
  switch (action) {
    case "test":
      desk.change({ question: { is: "test", stop: "", from: "" } });
      return true;
    case "testTo":
      if (name !== null) desk.change({ question: { is: "test", stop: name, from: "" } });
      return true;
    case "testFrom":
      if (name !== null) desk.change({ question: { is: "test", stop: "", from: name } });
      return true;
    case "pin":
      if (desk.current !== null) desk.change({ question: { is: "pin", tail: desk.current } });
      return true;
    default:
      return false;
  }
}

function see(desk: Desk, action: Action): boolean {
  const { graph, notes, selected, edges, chosen, following } = desk.snapshot();
  switch (action) {
    case "open":
      if (desk.current === null && desk.note === null) return false;
      desk.change({ open: true, writing: desk.note });
      return true;
    case "selectAll":
      desk.select(graph.blocks.keys(), false, notes.keys());
      return true;
    case "clear":
      if (following !== null) desk.change({ following: null });
      else if (selected.size > 0 || edges.size > 0 || chosen.size > 0) desk.select([]);
      return true;
    case "save":
      desk.draft.flush();
      return true;
    case "search":
    case "commands":
    case "keys":
    case "about":
      desk.change({ question: { is: action } });
      return true;
    default:
      return test(desk, action) || look(desk, action);
  }
}

function look({ viewer }: Desk, action: Action): boolean {
  switch (action) {
    case "fit":
      viewer?.fit();
      return true;
    case "reset":
      viewer?.reset();
      return true;
    case "zoomIn":
    case "zoomOut":
      viewer?.zoom(action === "zoomIn" ? ZOOM : 1 / ZOOM);
      return true;
    default:
      return false;
  }
}

/** To the next or former node in topological order, then to the notes; at the end Tab leaves the canvas. */
function step(desk: Desk, by: 1 | -1): boolean {
  const { graph, notes } = desk.snapshot();
  const nodes = walked(graph).map((row) => row.tail);
  const all = [...nodes, ...notes.keys()];
  const { current, note } = desk;
  const stands = note === null ? nodes.indexOf(current ?? "") : nodes.length + [...notes.keys()].indexOf(note);
  const place = (stands < 0 && by === -1 ? all.length : stands) + by;
  const next = all[place];
  if (next === undefined) return false;
  if (place < nodes.length) desk.select([next], true);
  else desk.select([], true, [next]);
  return true;
}

const ARROWS: Readonly<Record<Direction, readonly [x: number, y: number]>> = { forward: [1, 0], back: [-1, 0], up: [0, -1], down: [0, 1] };

function along(desk: Desk, direction: Direction): boolean {
  const { graph, notes, draft } = desk.snapshot();
  const { current } = desk;
  const note = notes.get(desk.note ?? "");
  if (note !== undefined) {
    const [x, y] = ARROWS[direction];
    if (draft.canEdit) desk.edit(changeNote(notes, note.tail, { x: note.x + STEP * x, y: note.y + STEP * y }));
    return true;
  }
  const next = current === null ? walked(graph)[0]?.tail : neighbour(graph, current, direction);
  if (next !== undefined && next !== null) desk.select([next], true);
  return true;
}

function removeSelected(desk: Desk, blocks: ReadonlySet<string>, wires: ReadonlySet<string>): void {
  const { graph, notes, chosen } = desk.snapshot();
  const [first] = blocks;
  const before = first === undefined ? null : neighbour(graph, first, "back");
  const writes = [...(remove(graph, blocks, wires)?.writes ?? []), ...deletions(notes, chosen)];
  if (writes.length === 0 || !desk.edit(operation(writes))) return;
  if (before !== null && desk.snapshot().graph.blocks.has(before)) desk.select([before]);
}

function duplicateSelected(desk: Desk): void {
  const { graph, selected, placed, notes, chosen } = desk.snapshot();
  const blocks = duplicate(desk.view, graph, selected, placed.spots, desk.fresh);
  const more = duplicates(notes, chosen, desk.fresh);
  const writes = [...(blocks?.operation.writes ?? []), ...more.writes];
  if (writes.length > 0 && desk.edit(operation(writes))) desk.select(blocks?.tails ?? [], false, more.tails);
}

/** Adds a note with its middle at a point, without one at a free place near the middle of what is seen, and has its text typed. */
export function noteAt(desk: Desk, at: Point | null): void {
  const { x, y } = at ?? desk.viewer?.centre() ?? { x: NOTE_WIDTH / 2, y: 0 };
  const { placed, notes } = desk.snapshot();
  const [left, top] = [Math.round((x - NOTE_WIDTH / 2) / GRID) * GRID, Math.round((y - NOTE_HEIGHT / 2) / GRID) * GRID];
  const boxes = [...placed.spots.values(), ...[...notes.values()].map((note) => ({ ...note, left: note.x, top: note.y }))];
  const made = addNote(...(at === null ? freeCorner(left, top, boxes) : [left, top] as const), desk.fresh);
  if (!desk.edit(made.operation)) return;
  desk.select([], false, [made.tail]);
  desk.change({ writing: made.tail, open: desk.viewer === null });
}

/** The exit that leads on from the block that is selected: the first one without an edge. */
export function leaving(desk: Desk): readonly [tail: string, handle: string] | null {
  const { current } = desk;
  const block = current === null ? undefined : desk.snapshot().graph.blocks.get(current);
  if (current === null || block === undefined) return null;
  const exit = freeExit(desk, block);
  return exit === null ? null : [current, exit];
}

function freeExit(desk: Desk, block: Block): string | null {
  const used = new Set([...desk.snapshot().graph.wires.values()].filter((wire) => wire.source === block.tail).map((wire) => wire.handle));
  const own = block.exits.filter((exit) => exit !== ERROR);
  return own.find((exit) => !used.has(exit)) ?? own[0] ?? null;
}

export type Where = Partial<Pick<Addition, "place" | "after" | "parent">> & { readonly wire?: string };

/**
 * Adds a node of a kind and selects it. After a node it is in that node's body; without a place in an empty container that is selected,
 * it goes inside.
 */
export function addKind(desk: Desk, kind: string, where: Where = {}): string | null {
  const spec: Addition["kind"] = desk.kinds.get(kind) ?? { name: kind, container: false };
  const { graph } = desk.snapshot();
  const at = where.after?.[0] ?? null;
  const parent = where.parent ?? (at === null ? null : (graph.blocks.get(at)?.parent ?? null));
  const asked: Addition = {
    kind: spec, parent, ...(where.place === undefined ? {} : { place: where.place }), ...(where.after === undefined ? {} : { after: where.after }),
  };
  const made = where.wire === undefined ? add(desk.view, asked, desk.fresh) : insert(desk.view, where.wire, asked, desk.fresh);
  if (!desk.edit(made.operation)) return null;
  desk.select([made.tail], true);
  return made.tail;
}

/** Adds a node of a kind with its middle at a point of the canvas, in the innermost frame there. */
export function addAt(desk: Desk, kind: string, [x, y]: readonly [x: number, y: number]): string | null {
  const { graph, placed } = desk.snapshot();
  const parent = frameAt(graph, placed.spots, x, y, []);
  const frame = placed.spots.get(parent ?? "");
  const snapped = (length: number): number => Math.round(length / GRID) * GRID;
  const place = [snapped(x - WIDTH / 2 - (frame?.left ?? 0)), snapped(y - HEIGHT / 2 - (frame?.top ?? 0))] as const;
  return addKind(desk, kind, parent === null ? { place } : { place, parent });
}

/** As a click on the palette does: after what is selected, inside of a container that is empty, else on its own. */
export function addBeside(desk: Desk, kind: string): string | null {
  const { graph, edges } = desk.snapshot();
  const { current } = desk;
  const [wire] = edges;
  if (edges.size === 1 && wire !== undefined) {
    const parent = graph.blocks.get(graph.wires.get(wire)?.target ?? "")?.parent ?? null;
    return addKind(desk, kind, parent === null ? { wire } : { wire, parent });
  }
  const block = current === null ? undefined : graph.blocks.get(current);
  if (block?.container === true && (graph.children.get(block.tail) ?? []).length === 0) return addKind(desk, kind, { parent: block.tail });
  const after = desk.kinds.get(kind)?.entry === true ? null : leaving(desk); // nothing leads to an entry
  return addKind(desk, kind, after === null ? {} : { after });
}

/** Whether an edge from one block to another can stand: in one body, not to itself. */
export function connects(desk: Desk, source: string | null, target: string | null): boolean {
  const { blocks } = desk.snapshot().graph;
  const [one, other] = [blocks.get(source ?? ""), blocks.get(target ?? "")];
  return one !== undefined && other !== undefined && one !== other && one.parent === other.parent;
}

export function connectTo(desk: Desk, source: string, handle: string | null, target: string): boolean {
  return connects(desk, source, target) && desk.edit(connect(desk.view, source, handle ?? SOURCE, target, desk.fresh));
}
