/** The waterfall: a row for each instance, read page by page as it comes into view; work and waiting apart, idle time folded. */
import { Fragment, useEffect, useMemo, useRef, useState, type PointerEvent, type ReactElement } from "react";
import { lasting } from "../../../ui/words/formats.ts";
import { Icon, type Mark } from "../../../ui/icons.tsx";
import { Bones, Failed } from "../../../ui/loading/notices.tsx";
import { StatusMark, toneOf } from "../../../ui/status.tsx";
import { NODE_STATUSES } from "../../../wire/tables/statuses.ts";
import { useRows } from "../../virtual.ts";
import { nameOf, turnsIn } from "../../../runstate/counts.ts";
import { useTimePages, type Asked } from "./pages.ts";
import { moved, scaled, ticksOf, type Scale, type Step } from "./scale.ts";
import type { RunLook } from "../../../runstate/store.ts";
import type { TimeRow } from "../../../runstate/types.ts";

const ROW = 28;
const LEAST = 6; // pixels of a bar: what took no time is seen too

export function Timeline({ id, look, node, status, from, to, chosen, onChoose, onStatus, onRange }: {
  readonly id: string; readonly look: RunLook; readonly node: string; readonly status: string; readonly from: number | null; readonly to: number | null; readonly chosen: string;
  readonly onChoose: (instance: string) => void; readonly onStatus: (status: string) => void; readonly onRange: (from: number | null, to: number | null) => void;
}): ReactElement {
  const asked: Asked = useMemo(() => ({ id, node, status, from, to }), [id, node, status, from, to]);
  const pages = useTimePages(asked, look.sequence);
  const scale = useMemo(() => scaled(look.busy, from ?? 0, to ?? look.lasted), [look.busy, look.lasted, from, to]);
  const { box, from: first, to: last } = useRows(pages.total, ROW);
  useEffect(() => { pages.source.look(first, last); }, [pages.source, first, last]);
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, place) => pages.source.row(first + place));
  const go = (step: Step): void => {
    const row = rows.find((one) => one?.instance === chosen);
    const around = row === undefined || row.begin_ms === null ? null : (row.begin_ms + (row.end_ms ?? look.lasted)) / 2;
    const range = moved([from ?? 0, to ?? look.lasted], look.lasted, step, around);
    onRange(range?.[0] ?? null, range?.[1] ?? null);
  };
  const isWhole = from === null && to === null;
  return (
    <div className="timeline">
      <div className="timeline-tools">
        <span className="quiet">{pages.total.toLocaleString("en")} {pages.total === 1 ? "instance" : "instances"}{look.leftOut > 0 ? `; ${look.leftOut.toLocaleString("en")} more are counted and not listed` : ""}</span>
        <select className={status === "" ? "field choice" : "field choice set"} aria-label="Status of the instances" value={status} onChange={(event) => { onStatus(event.target.value); }}>
          <option value="">Any status</option>{NODE_STATUSES.map((one) => <option key={one}>{one}</option>)}
        </select>
        <div className="timeline-zoom" role="group" aria-label="Range of time">
          {STEPS.map(([step, name, mark]) => (
            <button key={step} className="tool" type="button" title={name} aria-label={name} disabled={step === "in" ? look.lasted < 2 : isWhole} onClick={() => { go(step); }}><Icon mark={mark} size={14} /></button>
          ))}
        </div>
        {isWhole ? <span className="hint">Drag over the scale to zoom</span> : <button className="button small" type="button" onClick={() => { onRange(null, null); }}>Reset zoom</button>}
        <span className="head-gap" />
        <span className="legend"><i className="work" />work<i className="wait" />waiting{scale.folds.length === 0 ? null : <span className="folded"><i className="fold" />{lasting(scale.folds.reduce((sum, fold) => sum + fold.to - fold.from, 0))} idle, folded</span>}</span>
      </div>
      {pages.error === null ? null : <Failed what="Could not load the timeline." error={pages.error} again={() => { pages.source.again(); }} />}
      <div className="timeline-rows" ref={box} tabIndex={0} role="table" aria-label="Instances by time" aria-rowcount={pages.total}>
        <div className="timeline-head" role="row"><span role="columnheader">Instance</span><Ruler scale={scale} onRange={onRange} /><span role="columnheader" className="number">Took</span></div>
        <div style={{ height: pages.total * ROW }} className="timeline-space" role="rowgroup">
          {rows.map((row, place) => row === undefined ? <div key={`blank-${first + place}`} className="timeline-row blank" style={{ transform: `translateY(${(first + place) * ROW}px)` }} aria-hidden="true"><i /></div>
            : <Bar key={row.instance} row={row} top={(first + place) * ROW} index={first + place} scale={scale} lasted={look.lasted} chosen={row.instance === chosen} onChoose={onChoose} />)}
        </div>
        {pages.total === 0 && pages.known ? <p className="quiet timeline-none">No instance {status === "" && node === "" && from === null ? "has started yet" : "matches"}.</p> : null}
        {pages.known ? null : <Bones lines={8} label="The timeline is loading" />}
      </div>
    </div>
  );
}

const STEPS: readonly (readonly [Step, string, Mark])[] = [["earlier", "Earlier", "back"], ["later", "Later", "chevron"], ["out", "Zoom out", "minus"], ["in", "Zoom in", "plus"]];

function Bar({ row, top, index, scale, lasted, chosen, onChoose }: {
  readonly row: TimeRow; readonly top: number; readonly index: number; readonly scale: Scale; readonly lasted: number; readonly chosen: boolean; readonly onChoose: (instance: string) => void;
}): ReactElement {
  const end = row.end_ms ?? lasted;
  const where = turnsIn(row.instance);
  const depth = row.instance.split("@").length - 1;
  return (
    <div role="row" aria-rowindex={index + 1} aria-selected={chosen} className={`timeline-row${chosen ? " chosen" : ""}`} style={{ transform: `translateY(${top}px)` }}>
      <span role="cell" className="timeline-name" style={{ paddingLeft: 16 + Math.min(depth, 4) * 12 }}>
        <button type="button" className={`status ${toneOf(row.status)}`} title={`${row.instance}: ${row.status}${row.code === null ? "" : `, ${row.code}`}`} onClick={() => { onChoose(row.instance); }}>
          <StatusMark status={row.status} /><b className="cut">{nameOf(row.instance)}</b>{where.length === 0 ? null : <span className="quiet cut">{where.map(([container, turn], place) => <Fragment key={place}>{place === 0 ? "" : " · "}<span className={turn === "" ? "" : "timeline-of"}>{container}{turn === "" ? "" : ", "}</span>{turn}</Fragment>)}</span>}
        </button>
      </span>
      <span role="cell" className="timeline-bar" onClick={() => { onChoose(row.instance); }}>
        {row.begin_ms === null ? null : <i className={`whole ${toneOf(row.status)}`} style={between(scale, row.begin_ms, end)} />}
        {row.parts.map(([kind, begin, until]) => <i key={`${kind}${begin}`} className={`${kind} ${toneOf(row.status)}`} style={between(scale, begin, until ?? lasted)} title={`${kind === "work" ? "worked" : "waited"} ${lasting((until ?? lasted) - begin)}`} />)}
      </span>
      <span role="cell" className="number quiet">{row.begin_ms === null ? row.status : lasting(end - row.begin_ms)}{row.attempts > 1 ? ` · ${row.attempts}×` : ""}</span>
    </div>
  );
}

function between(scale: Scale, begin: number, end: number): { readonly left: string; readonly width: string } {
  const left = scale.at(begin);
  return { left: `min(${left * 100}%, calc(100% - ${LEAST}px))`, width: `max(${LEAST}px, ${(scale.at(end) - left) * 100}%)` };
}

function Ruler({ scale, onRange }: { readonly scale: Scale; readonly onRange: (from: number | null, to: number | null) => void }): ReactElement {
  const [drag, setDrag] = useState<readonly [number, number] | null>(null);
  const box = useRef<HTMLSpanElement>(null);
  const share = (event: PointerEvent): number => {
    const { left = 0, width = 1 } = box.current?.getBoundingClientRect() ?? {};
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  const done = (): void => {
    if (drag !== null && Math.abs(drag[1] - drag[0]) > 0.01) onRange(Math.floor(scale.back(Math.min(...drag))), Math.ceil(scale.back(Math.max(...drag))));
    setDrag(null);
  };
  return (
    <span ref={box} className="ruler" role="columnheader" aria-label={`From ${lasting(scale.from)} to ${lasting(scale.to)}`}
      onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); setDrag([share(event), share(event)]); }}
      onPointerMove={(event) => { if (drag !== null) setDrag([drag[0], share(event)]); }} onPointerUp={done} onPointerCancel={() => { setDrag(null); }}>
      {ticksOf(scale).map((ms) => <span key={ms} style={{ left: `${scale.at(ms) * 100}%` }}>{lasting(ms)}</span>)}
      {scale.folds.map((fold) => <i key={fold.from} className="fold" style={{ left: `${fold.at * 100}%`, width: `${fold.wide * 100}%` }} title={`${lasting(fold.to - fold.from)} idle`} />)}
      {drag === null ? null : <i className="range" style={{ left: `${Math.min(...drag) * 100}%`, width: `${Math.abs(drag[1] - drag[0]) * 100}%` }} />}
    </span>
  );
}

