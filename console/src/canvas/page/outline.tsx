/** The draft as a treegrid: all that the canvas can, for keyboards, screen readers and phones. Only the rows in view are mounted. */
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from "react";
import { gather } from "../../editing/values/gathering.ts";
import { KindLine, PinMark } from "../../testruns/marks.tsx";
import { Icon, markOf } from "../../ui/icons.tsx";
import { useSmall } from "../../ui/theme/switching.ts";
import type { Desk, Look } from "../desk.ts";
import { findingWords, worstOf } from "../model/findings.ts";
import { SOURCE, type Graph } from "../model/graph.ts";
import { walked, type Row } from "../model/walking.ts";
import { openMenu } from "../menu/opening.ts";
import { nodeId, noteOfNode } from "../notes/nodes.ts";
import { titleOf } from "../notes/notes.ts";

const [ROW, ROW_OF_A_PHONE] = [32, 40];
const MARGIN = 8; // rows mounted beyond each edge

export function Outline({ desk, look }: { readonly desk: Desk; readonly look: Look }): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const isSmall = useSmall();
  const high = isSmall ? ROW_OF_A_PHONE : ROW;
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [view, setView] = useState({ top: 0, height: 800 });
  const { graph, notes } = look;
  const rows = useMemo(() => [...open(walked(graph), closed), ...[...notes.keys()].map((tail): Row => ({ tail: nodeId(tail), level: 1 }))], [graph, notes, closed]);
  const after = useMemo(() => incoming(graph), [graph]);
  const current = desk.note === null ? desk.current : nodeId(desk.note);
  const place = rows.findIndex((row) => row.tail === current);

  useEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    const watch = new ResizeObserver(() => { setView({ top: shown.scrollTop, height: shown.clientHeight }); });
    watch.observe(shown);
    return () => { watch.disconnect(); };
  }, []);
  useEffect(() => {
    const shown = box.current;
    if (shown === null || place < 0) return;
    const [top, bottom] = [place * high, (place + 2) * high]; // the head covers a row
    if (top < shown.scrollTop) shown.scrollTop = top;
    else if (bottom > shown.scrollTop + shown.clientHeight) shown.scrollTop = bottom - shown.clientHeight;
  }, [place, high]);

  const to = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row !== undefined) choose(desk, row.tail);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[place];
    const steps: Readonly<Record<string, number>> = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: rows.length - 1, PageDown: place + 12, PageUp: place - 12 };
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    if (step !== undefined) to(step);
    else if (event.key === "ArrowRight" && row !== undefined && closed.has(row.tail)) setClosed(new Set([...closed].filter((tail) => tail !== row.tail)));
    else if (event.key === "ArrowLeft" && row !== undefined) closeOrRise(row);
    else if (event.key === "Enter" && row !== undefined) desk.change({ open: true, writing: noteOfNode(row.tail) });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const closeOrRise = (row: Row): void => {
    const block = look.graph.blocks.get(row.tail);
    if (block?.container === true && !closed.has(row.tail)) setClosed(new Set([...closed, row.tail]));
    else if (block !== undefined && block.parent !== null) desk.select([block.parent]);
  };

  const first = Math.max(0, Math.floor(view.top / high) - MARGIN);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / high) + MARGIN);
  return (
    <div ref={box} className="outline" data-keys="outline" role="treegrid" aria-label="Nodes" aria-rowcount={rows.length + 1} aria-multiselectable="true" tabIndex={0}
      {...(place < 0 ? {} : { "aria-activedescendant": `row-${current ?? ""}` })}
      onScroll={(event) => { setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight }); }} onKeyDown={pressed} onContextMenu={(event) => { openMenu(desk, event, null); }}
      onFocus={(event) => { if (event.target === box.current && place < 0) to(0); }}>
      <div className="outline-head" role="row" aria-rowindex={1}>
        <span role="columnheader">Name</span><span role="columnheader">Kind</span><span role="columnheader">After</span><span role="columnheader">Findings</span>
      </div>
      {first > 0 ? <div role="none" style={{ height: first * high }} /> : null}
      {rows.slice(first, last).map((row, index) => {
        const note = notes.get(noteOfNode(row.tail) ?? "");
        if (note !== undefined) {
          return (
            <div key={row.tail} id={`row-${row.tail}`} role="row" aria-rowindex={first + index + 2} aria-level={1} aria-selected={look.chosen.has(note.tail)} className="outline-row"
              onClick={() => { choose(desk, row.tail); if (isSmall) desk.change({ open: true }); }}>
              <span role="gridcell" className="outline-name" style={{ paddingLeft: 12 }}><Icon mark="note" /><span className="cut">{titleOf(note)}</span></span>
              <span role="gridcell" className="quiet cut">note</span><span role="gridcell" /><span role="gridcell" />
            </div>
          );
        }
        const block = look.graph.blocks.get(row.tail);
        if (block === undefined) return null;
        const findings = look.findings.get(row.tail) ?? [];
        const severity = worstOf(findings);
        return (
          <div key={row.tail} id={`row-${row.tail}`} role="row" aria-rowindex={first + index + 2} aria-level={row.level} aria-selected={look.selected.has(row.tail)}
            className={block.enabled ? "outline-row" : "outline-row disabled"} {...(block.container ? { "aria-expanded": !closed.has(row.tail) } : {})}
            onClick={(event) => { desk.select(event.metaKey || event.ctrlKey ? toggled(look.selected, row.tail) : [row.tail]); if (isSmall) desk.change({ open: true }); }}>
            <span role="gridcell" className="outline-name" style={{ paddingLeft: 12 + (row.level - 1) * 20 }}>
              <Icon mark={markOf(block.type)} /><span className="cut">{block.id}</span><PinMark tail={row.tail} />
            </span>
            <span role="gridcell" className="quiet cut"><KindLine block={block} /></span>
            <span role="gridcell" className="quiet cut">{after.get(row.tail)}</span>
            <span role="gridcell" className={severity ?? ""} title={findingWords(findings)}>{severity === null ? null : <><Icon mark={severity} size={14} />{findings.length}</>}</span>
          </div>
        );
      })}
      {last < rows.length ? <div role="none" style={{ height: (rows.length - last) * high }} /> : null}
    </div>
  );
}

function choose(desk: Desk, row: string): void {
  const note = noteOfNode(row);
  if (note === null) desk.select([row]);
  else desk.select([], false, [note]);
}

function open(rows: readonly Row[], closed: ReadonlySet<string>): Row[] {
  const made: Row[] = [];
  let under = Infinity;
  for (const row of rows) {
    if (row.level > under) continue;
    under = closed.has(row.tail) ? row.level : Infinity;
    made.push(row);
  }
  return made;
}

function incoming(graph: Graph): ReadonlyMap<string, string> {
  const found = new Map<string, string[]>();
  for (const wire of graph.wires.values()) {
    const text = `${graph.blocks.get(wire.source)?.id ?? ""}${wire.handle === SOURCE ? "" : `.${wire.handle}`}`;
    gather(found, wire.target, text);
  }
  return new Map([...found].map(([tail, texts]) => [tail, texts.join(", ")]));
}

function toggled(selected: ReadonlySet<string>, tail: string): string[] {
  return selected.has(tail) ? [...selected].filter((one) => one !== tail) : [...selected, tail];
}
