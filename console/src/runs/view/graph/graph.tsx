/** The graph of a run: fit from the layout's bounds, zoom, map, counts by status on every node and container. */
import "@xyflow/react/dist/base.css";
import "../../../canvas/view/canvas.css";
import "../view.css";

import { Position, ReactFlow, ReactFlowProvider, useReactFlow, useStore, type Edge } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactElement } from "react";
import type { Layout } from "../../../canvas/layout/layout.ts";
import { Layouts } from "../../../canvas/layout/layouts.ts";
import { asked, placed, UNPLACED, wayOf, type Placed } from "../../../canvas/layout/placing.ts";
import type { Graph } from "../../../canvas/model/graph.ts";
import { entryOf, portsOf } from "../../../canvas/model/sizes.ts";
import { cover, isHeld } from "../../../canvas/view/cheap.ts";
import { doubled } from "../../../canvas/view/doubling.ts";
import { beginning, isFarAway, whole } from "../../../canvas/view/fitting.ts";
import { WireLine, type WireEdge } from "../../../canvas/view/wire.tsx";
import { counted } from "../../../ui/words/formats.ts";
import { Icon } from "../../../ui/icons.tsx";
import { Bones } from "../../../ui/loading/notices.tsx";
import { RunCard, RunFrame, type CardNode } from "./card.tsx";
import { failedWithin, isTaken, nameOf, said } from "../../../runstate/counts.ts";
import { Far, Minimap } from "./far.tsx";
import { stepped } from "./walking.ts";
import type { NodeSummary } from "../../../runstate/types.ts";

const NODE_TYPES = { block: RunCard, frame: RunFrame };
const EDGE_TYPES = { wire: WireLine };
const ZOOMS = [0.02, 2] as const;
const LEAST_ZOOM = 0.35; // at which a chosen node is shown
const NO_NODES: CardNode[] = [];
const NO_EDGES: Edge[] = [];

interface GraphProps {
  readonly graph: Graph;
  readonly nodes: ReadonlyMap<string, NodeSummary>;
  readonly chosen: string;
  readonly onChoose: (path: string, instance?: string) => void;
  /** No run is shown: nothing is missing where there is no summary. */
  readonly isPlain?: boolean;
}

export function RunGraph(props: GraphProps): ReactElement {
  return <ReactFlowProvider><Flow {...props} /></ReactFlowProvider>;
}

function Flow({ graph, nodes, chosen, onChoose, isPlain = false }: GraphProps): ReactElement {
  const flow = useReactFlow();
  const box = useRef<HTMLDivElement>(null);
  const { layout, spots } = useLayout(graph);
  const [fitted, setFitted] = useState<Graph | null>(null); // before it is, React Flow would mount every node to measure what is in view
  const isFar = useStore((state) => isFarAway(state.transform[2], graph.blocks.size));
  const bare = isFar || fitted !== graph;
  const { current, walkedTo, step } = useWalk(graph, chosen, onChoose);
  const cards = useCards(graph, spots, nodes, current, onChoose);
  const edges = useMemo(() => layout === null ? NO_EDGES : edgesOf(graph, layout, nodes), [graph, layout, nodes]);
  const picture = useMemo(() => ({ graph, placed: spots, nodes, chosen: current }), [graph, spots, nodes, current]);
  const show = useCallback((part: typeof beginning) => {
    const [width, height] = [box.current?.clientWidth ?? 0, box.current?.clientHeight ?? 0];
    if (spots.bounds.width === 0 || width === 0) return;
    void flow.setViewport(part(spots.bounds, width, height, spots.spots));
    setFitted(graph);
  }, [flow, spots, graph]);
  const fit = (): void => { show(whole); };
  useEffect(() => { show(beginning); }, [show]);
  useEffect(() => {
    const spot = spots.spots.get(current);
    if (spot === undefined || box.current === null) return;
    const { x, y, zoom } = flow.getViewport();
    const [left, top] = [spot.left * zoom + x, spot.top * zoom + y];
    const inside = left >= 0 && top >= 0 && left + Math.min(spot.width * zoom, 200) <= box.current.clientWidth && top + 40 * zoom <= box.current.clientHeight;
    if (!inside || zoom < LEAST_ZOOM) void flow.setCenter(spot.left + Math.min(spot.width, 600) / 2, spot.top + Math.min(spot.height, 300) / 2, { zoom: Math.max(zoom, 0.6) });
  }, [flow, spots, current]);
  const onMove = useCallback((event: unknown) => { if (isHeld(event)) cover(box.current, true); }, []);
  const onMoveEnd = useCallback(() => { cover(box.current, false); }, []);
  const onPane = (event: MouseEvent): void => {
    if (!isFar) {
      onChoose("");
      return;
    }
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    onChoose([...spots.spots].findLast(([, spot]) => x >= spot.left && x <= spot.left + spot.width && y >= spot.top && y <= spot.top + spot.height)?.[0] ?? "");
  };
  return (
    <div ref={box} className={`flow${isFar ? " is-far" : ""}${isPlain ? " plain" : " ran-graph"}`} role="application" tabIndex={0} onKeyDown={(event) => { step(event, fit); }}
      aria-label={`Graph of ${counted(graph.blocks.size, "node")}`} aria-describedby="graph-keys">
      <span id="graph-keys" className="hidden">Arrow keys move through the nodes, Enter opens one, 1 fits all, + and - zoom.</span>
      <p className="hidden" role="status">{walkedTo === "" ? "" : `${nameOf(walkedTo)}, ${nodes.has(walkedTo) ? said(nodes.get(walkedTo)?.counts ?? {}) : graph.blocks.get(walkedTo)?.type ?? ""}`}</p>
      <ReactFlow nodes={bare ? NO_NODES : cards} edges={bare ? NO_EDGES : edges} nodeTypes={NODE_TYPES} edgeTypes={EDGE_TYPES}
        nodesDraggable={false} nodesConnectable={false} elementsSelectable={false} onlyRenderVisibleElements nodesFocusable={false} edgesFocusable={false} disableKeyboardA11y
        minZoom={ZOOMS[0]} maxZoom={ZOOMS[1]} zoomOnDoubleClick={false} onDoubleClick={(event) => { doubled(flow, event, ZOOMS); }} onMove={onMove} onMoveEnd={onMoveEnd}
        onNodeClick={(_, node) => { onChoose(node.id); }} onPaneClick={onPane} attributionPosition="bottom-left">
        {isFar ? <Far picture={picture} /> : null}
      </ReactFlow>
      <div className="tools" role="toolbar" aria-label="Graph">
        <button className="tool" type="button" title="Fit all" aria-label="Fit all" onClick={fit}><Icon mark="fit" /></button>
        <i aria-hidden="true" />
        <button className="tool" type="button" title="Zoom out" aria-label="Zoom out" onClick={() => { void flow.zoomOut(); }}><Icon mark="minus" /></button>
        <button className="tool" type="button" title="Zoom in" aria-label="Zoom in" onClick={() => { void flow.zoomIn(); }}><Icon mark="plus" /></button>
      </div>
      <Minimap picture={picture} />
      {layout === null ? <Bones lines={6} label="The graph is being laid out" /> : null}
    </div>
  );
}

/** Where the keys have walked to, from the node that is chosen; empty until they walk. */
function useWalk(graph: Graph, chosen: string, onChoose: (path: string) => void): { readonly current: string; readonly walkedTo: string; readonly step: (event: KeyboardEvent, fit: () => void) => void } {
  const flow = useReactFlow();
  const [walkedTo, walkTo] = useState("");
  useEffect(() => { walkTo(""); }, [chosen, graph]);
  const current = walkedTo === "" ? chosen : walkedTo;
  const step = (event: KeyboardEvent, fit: () => void): void => {
    if (event.target !== event.currentTarget || event.metaKey || event.ctrlKey || event.altKey) return;
    const next = stepped(graph, current, event.key);
    if (next !== null) walkTo(next);
    else if (event.key === "Enter" && current !== "") onChoose(current);
    else if (event.key === "1") fit();
    else if (event.key === "+") void flow.zoomIn();
    else if (event.key === "-") void flow.zoomOut();
    else return;
    event.preventDefault();
  };
  return { current, walkedTo, step };
}

function useLayout(graph: Graph): { readonly layout: Layout | null; readonly spots: Placed } {
  const [layout, setLayout] = useState<Layout | null>(null);
  useEffect(() => {
    const layouts = new Layouts(setLayout);
    layouts.ask(asked(graph));
    return () => { layouts.close(); };
  }, [graph]);
  const spots = useMemo(() => layout === null ? UNPLACED : placed(graph, layout, UNPLACED), [graph, layout]);
  return { layout, spots };
}

/** A card whose summary has not changed is the same object as before: only what changed is drawn again. */
function useCards(graph: Graph, spots: Placed, nodes: ReadonlyMap<string, NodeSummary>, chosen: string, choose: (path: string, instance?: string) => void): CardNode[] {
  const former = useRef(new Map<string, { readonly from: readonly unknown[]; readonly node: CardNode }>());
  return useMemo(() => {
    const next = new Map<string, { readonly from: readonly unknown[]; readonly node: CardNode }>();
    for (const path of [...graph.blocks.keys()]) {
      const [block, spot] = [graph.blocks.get(path), spots.spots.get(path)];
      if (block === undefined || spot === undefined) continue;
      const summary = nodes.get(path);
      const failures = block.container ? failedWithin(nodes.values(), path) : [];
      const from = [block, spot, summary, failures[0], path === chosen, choose];
      const held = former.current.get(path);
      next.set(path, held?.from.every((one, place) => one === from[place]) === true ? held : { from, node: {
        id: path, type: block.container ? "frame" : "block", position: { x: spot.x, y: spot.y }, width: spot.width, height: spot.height, selected: path === chosen,
        data: { block, summary, failures, choose }, ...(block.parent === null ? {} : { parentId: block.parent }),
        handles: [
          { type: "target", position: Position.Left, x: 0, y: entryOf(block), width: 1, height: 1 },
          ...portsOf(block).map(({ exit, y }) => ({ type: "source" as const, id: exit, position: Position.Right, x: spot.width, y, width: 1, height: 1 })),
        ],
      } });
    }
    former.current = next;
    return [...next.values()].map(({ node }) => node);
  }, [graph, spots, nodes, chosen, choose]);
}

function edgesOf(graph: Graph, layout: Layout, nodes: ReadonlyMap<string, NodeSummary>): WireEdge[] {
  return [...graph.wires.values()].map((wire) => ({
    id: wire.tail, type: "wire" as const, source: wire.source, target: wire.target, sourceHandle: wire.handle, className: isTaken(wire, nodes) ? "" : "untaken",
    data: { way: wayOf(graph, layout, wire), label: "", handle: wire.handle }, zIndex: (graph.blocks.get(wire.source)?.parent ?? null) === null ? 0 : 1,
  }));
}
