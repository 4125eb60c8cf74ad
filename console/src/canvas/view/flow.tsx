/** The canvas: what is dragged, connected, dropped and clicked becomes operations at the desk. */
import "@xyflow/react/dist/base.css";
import "./canvas.css";
import {
  Background, ReactFlow, SelectionMode, useReactFlow, useStore, type Connection, type EdgeChange, type FinalConnectionState,
  type NodeChange, type OnReconnect,
} from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type DragEvent, type MouseEvent, type ReactElement } from "react";
import type { Spot } from "../../wire/draft/drags.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import { reconnect } from "../actions/adding.ts";
import { operation } from "../../editing/log/operations.ts";
import { connects, connectTo } from "../commands.ts";
import type { Desk, Look } from "../desk.ts";
import { SOURCE } from "../model/graph.ts";
import { NoteCard, NoteDesk, type NoteNode } from "../notes/card.tsx";
import { openMenu } from "../menu/opening.ts";
import { NoteNodes, noteOfNode } from "../notes/nodes.ts";
import { around } from "../notes/notes.ts";
import { useArea } from "./area.ts";
import { dropKind, markWire, pointerOf, wireFor, wireUnder, writesOfDrop } from "./dropping.ts";
import { doubled } from "./doubling.ts";
import { BlockCard, FrameCard, type BlockNode } from "./block.tsx";
import { cover, isHeld } from "./cheap.ts";
import { Far, Minimap } from "./far.tsx";
import { beginning, isFarAway, UNDER_TOOLS, whole } from "./fitting.ts";
import { Following, useFollowing } from "./following.tsx";
import { Nodes, type Drags } from "./nodes.ts";
import { useMoving } from "./moving.ts";
import { Cursors, usePeople } from "./others.tsx";
import { MovingWires, WireLine, type WireEdge } from "./wire.tsx";
import { KIND_TYPE } from "../choosing/palette.tsx";

const NODE_TYPES = { block: BlockCard, frame: FrameCard, note: NoteCard };

type AnyNode = BlockNode | NoteNode;

const EDGE_TYPES = { wire: WireLine };
const GRID: [number, number] = [4, 4];
const ZOOMS = [0.02, 2] as const;
const MANY_SELECTED = 100; // more are not mounted beyond what is shown
const STILL: Drags = new Map();
const MULTIPLE = ["Meta", "Control"];

export function Flow({ desk, look, openDraft }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft }): ReactElement {
  const flow = useReactFlow<AnyNode, WireEdge>();
  const box = useRef<HTMLDivElement>(null);
  const people = usePeople(openDraft);
  const [own, setOwn] = useState<Drags>(STILL); // what this person drags: notes where they are, blocks where they began
  const carried = useRef<Drags>(STILL); // these blocks, where they are
  const nodes = useRef<Nodes>(null);
  nodes.current ??= new Nodes();
  const made = nodes.current;
  const dragged = useRef<readonly Spot[]>([]);
  const taking = useRef<string | null>(null); // the edge that takes the block that is dragged
  const connecting = useStore((state) => (state.connection.inProgress ? state.connection.fromNode.id : null));
  const isFar = useStore((state) => isFarAway(state.transform[2], look.graph.blocks.size));
  const covered = useArea();
  const area = isFar ? null : covered;
  const { arrived, play } = useMoving(openDraft, desk, box, carried, area);
  const held = useMemo(() => [...own.keys(), ...arrived, ...(connecting === null ? [] : [connecting])], [own, arrived, connecting]);
  const shownNodes = useMemo(() => made.of(look, own, people, area, held), [made, look, own, people, area, held]);
  const noted = useRef<NoteNodes>(null);
  noted.current ??= new NoteNodes();
  const notes = noted.current.of(look, own, area);
  const allNodes = useMemo((): AnyNode[] => (notes.length === 0 ? shownNodes : [...notes, ...shownNodes]), [notes, shownNodes]);
  const shownEdges = useMemo(() => made.edges(look, area), [made, look, area]);
  const canEdit = look.draft.canEdit;

  useViewer(desk, box);
  useFollowing(desk, openDraft, look.following);

  const onNodesChange = useCallback((changes: NodeChange<AnyNode>[]) => {
    const chosen = new Set(desk.snapshot().selected);
    const notes = new Set(desk.snapshot().chosen);
    let selects = false;
    let moved: Map<string, { x: number; y: number }> | null = null;
    for (const change of changes) {
      if (change.type === "select") {
        selects = true;
        const note = noteOfNode(change.id);
        const [of, tail] = note === null ? [chosen, change.id] as const : [notes, note] as const;
        if (change.selected) of.add(tail);
        else of.delete(tail);
      } else if (change.type === "position" && change.position !== undefined && change.dragging === true) {
        moved ??= new Map();
        moved.set(change.id, change.position);
      }
    }
    if (selects) desk.select(chosen, false, notes);
    if (moved === null) return;
    const next = moved;
    const { spots } = desk.snapshot().placed;
    carried.current = new Map([...carried.current, ...[...next].filter(([id]) => noteOfNode(id) === null)]);
    setOwn((held) => begun(held, next, spots));
    play("next frame");
    dragged.current = startsOf(next.keys(), dragged.current, spots);
    const [first] = dragged.current;
    const to = next.get(first?.[0] ?? "");
    if (first !== undefined && to !== undefined) openDraft.line.dragged({ from: dragged.current, x: to.x - first[1], y: to.y - first[2] });
  }, [desk, openDraft, play]);

  const onEdgesChange = useCallback((changes: EdgeChange<WireEdge>[]) => {
    const chosen = new Set(desk.snapshot().edges);
    for (const change of changes) {
      if (change.type !== "select") continue;
      if (change.selected) chosen.add(change.id);
      else chosen.delete(change.id);
    }
    desk.change({ edges: chosen });
  }, [desk]);

  const dropped = useCallback((event: unknown, _: unknown, all: AnyNode[]) => {
    const writes = writesOfDrop(desk, event, all);
    if (writes.length > 0) desk.edit(operation(writes));
    carried.current = STILL;
    play("at once");
    markWire(box.current, null);
    cover(box.current, false);
    taking.current = null;
    setOwn(STILL);
    dragged.current = [];
    openDraft.line.dragged(null);
  }, [desk, openDraft, play]);

  const onNodeDrag = useCallback((event: unknown, _: unknown, all: AnyNode[]) => {
    const [only] = all;
    cover(box.current, true);
    if (only === undefined || all.length > 1) return;
    const wire = wireFor(desk, only.id, pointerOf(event));
    if (wire !== taking.current) markWire(box.current, wire);
    taking.current = wire;
  }, [desk]);

  const onDragOver = useCallback((event: DragEvent) => {
    event.preventDefault();
    markWire(box.current, wireUnder(event));
  }, []);

  const onConnect = useCallback((made: Connection) => { connectTo(desk, made.source, made.sourceHandle, made.target); }, [desk]);

  const onConnectEnd = useCallback((event: globalThis.MouseEvent | TouchEvent, state: FinalConnectionState) => {
    const from = state.fromNode?.id;
    if (state.toNode !== null || from === undefined || state.fromHandle?.type !== "source" || !("clientX" in event)) return;
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    desk.change({ question: { is: "add", after: [from, state.fromHandle.id ?? SOURCE], at: [x, y - 28] } });
  }, [desk, flow]);

  const onReconnect: OnReconnect<WireEdge> = useCallback((edge, made) => {
    if (connects(desk, made.source, made.target)) desk.edit(reconnect(desk.view, edge.id, made.source, made.sourceHandle ?? SOURCE, made.target, desk.fresh));
  }, [desk]);

  const onDrop = useCallback((event: DragEvent) => {
    const kind = event.dataTransfer.getData(KIND_TYPE);
    if (kind === "") return;
    event.preventDefault();
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    markWire(box.current, null);
    dropKind(desk, kind, x, y, wireUnder(event));
    box.current?.focus();
  }, [desk, flow]);

  const onPaneClick = useCallback((event: MouseEvent) => {
    if (isFar) {
      const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const hit = [...desk.snapshot().placed.spots].findLast(([, spot]) => x >= spot.left && x <= spot.left + spot.width && y >= spot.top && y <= spot.top + spot.height);
      desk.select(hit === undefined ? [] : [hit[0]]);
    } else if (desk.snapshot().selected.size > 0 || desk.snapshot().chosen.size > 0) {
      desk.select([]);
    }
  }, [desk, flow, isFar]);

  // React Flow draws every block again, and asks every block again what it needs, for a function that is another one than before
  const onSelectionDropped = useCallback((event: unknown, all: AnyNode[]) => { dropped(event, null, all); }, [dropped]);
  const isValid = useCallback((edge: { readonly source: string; readonly target: string }) => connects(desk, edge.source, edge.target), [desk]);
  const onNodeClick = useCallback((event: MouseEvent, node: AnyNode) => {
    if (event.target instanceof HTMLTextAreaElement) return; // a note that is being written keeps the focus
    box.current?.focus({ preventScroll: true });
    if (!event.metaKey && !event.ctrlKey && !event.shiftKey) selectOnly(desk, node.id); // React Flow keeps several that are selected
  }, [desk]);
  const onMoveStart = useCallback((event: unknown) => { // null where the page moves the view itself
    if (event !== null && desk.snapshot().following !== null) desk.change({ following: null });
  }, [desk]);
  const onMove = useCallback((event: unknown) => { if (isHeld(event)) cover(box.current, true); }, []);
  const onMoveEnd = useCallback(() => { cover(box.current, false); }, []);
  const onNodeDoubleClick = useCallback((_: unknown, node: AnyNode) => {
    const note = noteOfNode(node.id);
    if (note === null) desk.change({ open: true });
    else desk.change({ writing: note });
  }, [desk]);

  const onDoubleClick = useCallback((event: MouseEvent) => { if (isFar) doubled(flow, event, ZOOMS); }, [flow, isFar]);

  const label = `Canvas, ${look.graph.blocks.size} ${look.graph.blocks.size === 1 ? "node" : "nodes"}`;
  return (
    <div ref={box} className={isFar ? "flow is-far" : "flow"} tabIndex={0} role="application" aria-label={label} aria-describedby="canvas-keys" data-keys="canvas"
      onPointerMove={(event) => { openDraft.line.at({ cursor: flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }) }); }}
      onPointerLeave={() => { openDraft.line.at({ cursor: null }); }} onContextMenu={(event) => { openMenu(desk, event, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })); }}>
      <span id="canvas-keys" className="hidden">Tab moves through the nodes, Enter opens one, A adds, C connects, question mark lists all keys.</span>
      <NoteDesk value={desk}>
      <ReactFlow<AnyNode, WireEdge>
        nodes={allNodes} edges={shownEdges} nodeTypes={NODE_TYPES} edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange} onEdgesChange={onEdgesChange} onNodeDrag={onNodeDrag} onNodeDragStop={dropped} onSelectionDragStop={onSelectionDropped}
        onConnect={onConnect} onConnectEnd={onConnectEnd} onReconnect={onReconnect} isValidConnection={isValid}
        onNodeClick={onNodeClick} onNodeDoubleClick={onNodeDoubleClick}
        onPaneClick={onPaneClick} onMoveStart={onMoveStart} onMove={onMove} onMoveEnd={onMoveEnd} onDrop={onDrop} onDragOver={onDragOver}
        nodesDraggable={canEdit} nodesConnectable={canEdit} edgesReconnectable={canEdit} onlyRenderVisibleElements={look.selected.size > MANY_SELECTED}
        nodesFocusable={false} edgesFocusable={false} disableKeyboardA11y deleteKeyCode={null} selectionMode={SelectionMode.Partial}
        minZoom={ZOOMS[0]} maxZoom={ZOOMS[1]} snapToGrid snapGrid={GRID} elevateNodesOnSelect={false} zoomOnDoubleClick={false} onDoubleClick={onDoubleClick} connectionRadius={28}
        multiSelectionKeyCode={MULTIPLE} attributionPosition="bottom-left">
        {isFar ? null : <Background gap={20} size={1} />}
        {isFar ? <Far look={look} /> : null}
        <MovingWires />
        <Cursors openDraft={openDraft} />
      </ReactFlow>
      </NoteDesk>
      <Minimap look={look} />
      <Following desk={desk} look={look} people={people} />
    </div>
  );
}

/** Lets the desk move the view: fit by the layout's bounds, since React Flow knows only what is mounted. */
function useViewer(desk: Desk, box: { readonly current: HTMLDivElement | null }): void {
  const flow = useReactFlow();
  useEffect(() => {
    const size = (): { width: number; height: number } => ({ width: box.current?.clientWidth ?? 0, height: box.current?.clientHeight ?? 0 });
    const show = (part: typeof beginning): void => {
      const { placed, notes } = desk.snapshot();
      const bounds = around(placed.bounds, notes.values());
      const { width, height } = size();
      if (bounds.width > 0 && width > 0) void flow.setViewport(part(bounds, width, height, placed.spots));
    };
    const open = (): void => { show(beginning); };
    desk.viewer = {
      open,
      fit: () => { show(whole); },
      reset: () => { void flow.zoomTo(1); },
      zoom: (by) => { void flow.zoomTo(flow.getZoom() * by); },
      reveal(tail) {
        const note = desk.snapshot().notes.get(noteOfNode(tail) ?? "");
        const spot = note === undefined ? desk.snapshot().placed.spots.get(tail) : { ...note, left: note.x, top: note.y };
        if (spot === undefined) return;
        const { x, y, zoom } = flow.getViewport();
        const { width, height } = size();
        const [left, top] = [spot.left * zoom + x, spot.top * zoom + y];
        const inside = left >= 0 && top >= UNDER_TOOLS && left + Math.min(spot.width * zoom, width) <= width && top + Math.min(spot.height * zoom, height) <= height;
        const near = Math.max(zoom, 0.5);
        if (!inside || near !== zoom) void flow.setCenter(spot.left + Math.min(spot.width, width) / 2, spot.top + Math.min(spot.height, height) / 2, { zoom: near });
      },
      centre() {
        const { x, y, zoom } = flow.getViewport();
        const { width, height } = size();
        return { x: (width / 2 - x) / zoom, y: (height / 2 - y) / zoom };
      },
    };
    open();
    return () => { desk.viewer = null; };
  }, [desk, flow, box]);
}

function selectOnly(desk: Desk, id: string): void {
  const { selected, chosen } = desk.snapshot();
  const note = noteOfNode(id);
  if (selected.size + chosen.size > 1) desk.select(note === null ? [id] : [], false, note === null ? [] : [note]);
}

/** What is dragged, with what has moved: the same map as long as no note moves and no block joins them. */
function begun(held: Drags, moved: Drags, spots: ReadonlyMap<string, { readonly x: number; readonly y: number }>): Drags {
  const fresh = [...moved].filter(([id]) => noteOfNode(id) !== null || !held.has(id));
  return fresh.length === 0 ? held : new Map([...held, ...fresh.map(([id, at]) => [id, spots.get(id) ?? at] as const)]);
}

/** Where the blocks of a drag stood when it began: the same list as long as it is the same blocks. */
function startsOf(tails: Iterable<string>, held: readonly Spot[], spots: ReadonlyMap<string, { readonly x: number; readonly y: number }>): readonly Spot[] {
  const moving = [...tails];
  if (moving.length === held.length && moving.every((tail, place) => held[place]?.[0] === tail)) return held;
  return moving.flatMap((tail): Spot[] => {
    const spot = spots.get(tail);
    return spot === undefined ? [] : [[tail, spot.x, spot.y]];
  });
}
