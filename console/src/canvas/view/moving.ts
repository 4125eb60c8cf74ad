/**
 * Blocks that this person or others drag, and the edges at them, moved in the page itself: once a frame, and only those that are mounted.
 * React and React Flow hear of it when the blocks are dropped: at 50 blocks in flight they would need more than a frame for each frame, and
 * at one block most of a frame.
 */
import { useCallback, useEffect, useRef, useState } from "react";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import type { Desk, Look } from "../desk.ts";
import { wayOf } from "../layout/placing.ts";
import { descendants, ERROR, wiresAt, type Wire } from "../model/graph.ts";
import { entryOf, portsOf } from "../model/sizes.ts";
import { lies, type Area } from "./area.ts";
import type { Drags } from "./nodes.ts";
import { pathOf } from "./wire.tsx";

interface Shift {
  readonly x: number;
  readonly y: number;
}

const NONE: readonly string[] = [];
const STILL: Shift = { x: 0, y: 0 };

class Moving {
  private shifted: ReadonlyMap<string, Shift> = new Map();
  private readonly elements = new Map<string, Element>();
  private hidden: ReadonlySet<Element> = new Set(); // edges that are drawn with all that move

  /** Moves what is dragged, and puts back what is no longer. Returns the blocks that have come into the area from elsewhere. */
  show(root: Element, look: Look, drags: Drags, area: Area | null): readonly string[] {
    const shifts = shiftsOf(look, drags);
    const wires = new Set<Wire>();
    const arrived: string[] = [];
    for (const tail of new Set([...this.shifted.keys(), ...shifts.keys()])) {
      const spot = look.placed.spots.get(tail);
      if (spot === undefined) continue;
      const shift = shifts.get(tail) ?? STILL;
      const [left, top] = [spot.left + shift.x, spot.top + shift.y];
      if (area === null) continue;
      const [stood, comes] = [lies(spot, area), lies({ ...spot, left, top }, area)];
      if (!stood && comes) arrived.push(tail);
      for (const wire of wiresAt(look.graph, tail)) wires.add(wire);
      const element = stood || comes ? this.element(root, "node", tail) : null;
      if (element instanceof HTMLElement) element.style.transform = `translate(${left}px,${top}px)`;
    }
    this.draw(root, look, wires, shifts);
    if (shifts.size === 0) this.elements.clear();
    this.shifted = shifts;
    return arrived;
  }

  /** All edges at what moves are two paths of one drawing: as many drawings as edges would each be laid out, painted and composed. */
  private draw(root: Element, look: Look, wires: ReadonlySet<Wire>, shifts: ReadonlyMap<string, Shift>): void {
    const paths = { plain: "", error: "" };
    const hidden = new Set<Element>();
    for (const wire of wires) {
      const element = this.element(root, "edge", wire.tail);
      const way = element === null ? null : wayAt(look, wire, shifts);
      if (element === null || way === null) continue;
      if (shifts.has(wire.source) || shifts.has(wire.target)) {
        hidden.add(element);
        element.classList.add("moves");
        paths[wire.handle === ERROR ? "error" : "plain"] += way[0];
      }
      if (wire.param === "") continue;
      const label = element.querySelector(".wire-label");
      label?.setAttribute("x", String(way[1]));
      label?.setAttribute("y", String(way[2] - 6));
    }
    for (const element of this.hidden) if (!hidden.has(element)) element.classList.remove("moves");
    this.hidden = hidden;
    const drawings = root.querySelectorAll(".moving-wires path");
    drawings[0]?.setAttribute("d", paths.plain);
    drawings[1]?.setAttribute("d", paths.error);
  }

  private element(root: Element, kind: "node" | "edge", tail: string): Element | null {
    const key = `${kind} ${tail}`;
    const held = this.elements.get(key);
    if (held?.isConnected === true) return held;
    const found = root.querySelector(`.react-flow__${kind}[data-id="${CSS.escape(tail)}"]`);
    if (found !== null) this.elements.set(key, found);
    return found;
  }
}

/** The path of an edge whose ends are shifted, and where its label stands. */
function wayAt({ graph, placed, layout }: Look, wire: Wire, shifts: ReadonlyMap<string, Shift>): ReturnType<typeof pathOf> | null {
  const [from, to] = [placed.spots.get(wire.source), placed.spots.get(wire.target)];
  const [source, target] = [graph.blocks.get(wire.source), graph.blocks.get(wire.target)];
  if (from === undefined || to === undefined || source === undefined || target === undefined) return null;
  const [begin, end] = [shifts.get(wire.source) ?? STILL, shifts.get(wire.target) ?? STILL];
  const port = portsOf(source).find((one) => one.exit === wire.handle)?.y ?? entryOf(source);
  return pathOf( // a port is 1 px wide and high
    from.left + from.width + 1 + begin.x, from.top + port + 0.5 + begin.y, to.left + end.x, to.top + entryOf(target) + 0.5 + end.y, layout === null ? null : wayOf(graph, layout, wire),
  );
}

/** How far blocks are from where they stand; what is in a container goes with it. */
function shiftsOf({ graph, placed }: Look, drags: Drags): Map<string, Shift> {
  const shifts = new Map<string, Shift>();
  for (const [tail, at] of drags) {
    const spot = placed.spots.get(tail);
    if (spot === undefined) continue;
    for (const one of [tail, ...descendants(graph, tail)]) {
      const held = shifts.get(one) ?? STILL;
      shifts.set(one, { x: held.x + at.x - spot.x, y: held.y + at.y - spot.y });
    }
  }
  return shifts;
}

export interface Played {
  /** The blocks that have to be mounted for what others drag. */
  readonly arrived: readonly string[];
  /** Shows what this person drags in the next frame, where `own` has changed; `at once` for what was dropped. */
  readonly play: (when: "next frame" | "at once") => void;
}

/** Plays the drags of others, and of this person, `own`, in the canvas that is mounted in `box`. */
export function useMoving(openDraft: OpenDraft, desk: Desk, box: { readonly current: HTMLElement | null }, own: { readonly current: Drags }, area: Area | null): Played {
  const [arrived, setArrived] = useState(NONE);
  const shown = useRef(area);
  useEffect(() => { shown.current = area; }, [area]);
  const playing = useRef<Played["play"]>(() => undefined);
  useEffect(() => {
    const { people } = openDraft;
    const moving = new Moving();
    let frame = 0;
    const show = (): boolean => {
      frame = 0;
      const others = people.drags.at(performance.now());
      const drags = own.current.size === 0 ? others : new Map([...others, ...own.current]); // what this person drags is where this person drags it
      if (box.current === null) return others.size > 0;
      const found = moving.show(box.current, desk.snapshot(), drags, shown.current).filter((tail) => !own.current.has(tail));
      setArrived((held) => (held.length === found.length && held.every((tail, place) => tail === found[place]) ? held : found));
      return others.size > 0;
    };
    const ask = (): void => { if (frame === 0) frame = requestAnimationFrame(() => { if (show()) ask(); }); };
    playing.current = (when) => {
      if (when === "next frame") ask();
      else if (show()) ask();
    };
    const begin = (): void => { if (!people.drags.isEmpty) ask(); };
    const leave = people.subscribe(begin);
    begin();
    return () => {
      leave();
      cancelAnimationFrame(frame);
    };
  }, [openDraft, desk, box, own]);
  const play = useCallback<Played["play"]>((when) => { playing.current(when); }, []);
  return { arrived, play };
}
