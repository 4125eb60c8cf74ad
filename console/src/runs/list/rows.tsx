/** The list of runs: a grid of rows of one height, of which those in view are drawn. */
import { memo, useEffect, useLayoutEffect, useRef, type ReactElement } from "react";
import { follow, hrefOf, runPath } from "../../ui/addresses.ts";
import { CopyButton } from "../../ui/copying.tsx";
import { counted, dollars, lasting, shortId } from "../../ui/words/formats.ts";
import { Status, wordOf } from "../../ui/status.tsx";
import { inOwnZone } from "../../ui/words/instants.ts";
import { When } from "../../ui/words/times.tsx";
import { useRows } from "../virtual.ts";
import { Heads } from "./heads.tsx";
import type { Holding } from "./holding.ts";
import type { Head } from "./merging.ts";
import { usePlace } from "./place.ts";

/** The status that is shown. A run on hold is stored as paused or created. */
export function shownStatus({ status, waiting }: Head): string {
  return waiting.includes("held") && (status === "paused" || status === "created") ? "held" : status;
}

export interface RowsProps {
  readonly holding: Holding;
  readonly whole: boolean;
  readonly active: number;
  readonly chosen: ReadonlySet<string>;
  readonly small: boolean;
  readonly onLook: (from: number, to: number) => void;
  readonly onChoose: (id: string) => void;
  readonly onActive: (place: number) => void;
}

export function Rows({ holding, whole, active, chosen, small, onLook, onChoose, onActive }: RowsProps): ReactElement {
  const height = small ? 72 : 32;
  const { rows, fresh, over, scrolled, show } = holding;
  const { box, from, to, reveal } = useRows(rows.length, height);
  useEffect(() => { onLook(from, to); }, [from, to, onLook]);
  useEffect(() => { if (active >= 0) reveal(active); }, [active, reveal]);
  useAnchor(box, rows, height);
  usePlace(box, rows, whole, active, height, onLook, onActive);
  const shown = rows.slice(from, to);
  const toTop = (): void => {
    show();
    box.current?.scrollTo(0, 0);
  };
  return (
    <div className="rows-hold" onPointerEnter={() => { over(true); }} onPointerLeave={() => { over(false); }}>
      {fresh === 0 ? null : <button className="button small first rows-fresh" type="button" onClick={toTop}>{counted(fresh, "new run")}</button>}
      <div className={small ? "rows cards" : "rows"} ref={box} role="grid" aria-label="Runs" aria-rowcount={whole ? rows.length + 1 : -1} tabIndex={0} onScroll={({ currentTarget }) => { scrolled(currentTarget.scrollTop < height); }}
        aria-activedescendant={active >= 0 ? `run-${rows[active]?.id ?? ""}` : undefined}>
        {small ? null : (
          <Heads />
        )}
        <div className="rows-space" style={{ height: rows.length * height }} role="rowgroup">
          {shown.map((head, place) => (
            <Row key={head.id} head={head} top={(from + place) * height} index={from + place} active={from + place === active} chosen={chosen.has(head.id)} small={small} onChoose={onChoose} onActive={onActive} />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Keeps the rows where they are while newer ones come in above them. */
function useAnchor(box: { readonly current: HTMLDivElement | null }, rows: readonly Head[], height: number): void {
  const former = useRef(rows);
  useLayoutEffect(() => {
    const [element, old] = [box.current, former.current];
    former.current = rows;
    if (element === null || old === rows || element.scrollTop < height) return;
    const place = Math.floor(element.scrollTop / height);
    const anchor = old[place]?.id;
    const now = anchor === undefined || rows[place]?.id === anchor ? place : rows.findIndex((row) => row.id === anchor);
    if (now >= 0 && now !== place) element.scrollTop += (now - place) * height;
  }, [box, rows, height]);
}

interface RowProps {
  readonly head: Head;
  readonly top: number;
  readonly index: number;
  readonly active: boolean;
  readonly chosen: boolean;
  readonly small: boolean;
  readonly onChoose: (id: string) => void;
  readonly onActive: (place: number) => void;
}

const Row = memo(function Row({ head, top, index, active, chosen, small, onChoose, onActive }: RowProps): ReactElement {
  const path = runPath(head.id);
  const status = shownStatus(head);
  return (
    <div id={`run-${head.id}`} role="row" aria-rowindex={index + 2} aria-selected={chosen} className={`row${active ? " active" : ""}${chosen ? " chosen" : ""}`} style={{ transform: `translateY(${top}px)` }}
      onPointerDown={() => { onActive(index); }}>
      <span role="gridcell" className="tick">
        <label><input type="checkbox" checked={chosen} onChange={() => { onChoose(head.id); }} aria-label={`Choose ${head.id}`} tabIndex={-1} /></label>
      </span>
      <span role="gridcell" className="state" title={inOwnZone(head.summary)}><Status status={status} /></span>
      <span role="gridcell" className="name cut"><a href={hrefOf(path)} onClick={follow(path)} tabIndex={-1}>{head.workflow}</a>{head.version === null ? null : <span className="quiet"> v{head.version}</span>}{head.number === null ? null : <span className="quiet"> #{head.number}</span>}</span>
      <span role="gridcell" className="details cut"><Details head={head} /></span>
      <span role="gridcell" className="id"><code title={head.id}>{shortId(head.id)}</code>{small ? null : <CopyButton text={head.id} what="the id" />}</span>
      <span role="gridcell" className="number">{lasting(head.duration_ms)}</span>
      <span role="gridcell" className="number cost quiet">{head.usd === null ? "" : dollars(head.usd)}</span>
      <span role="gridcell" className="number quiet when"><When at={head.created_at} /></span>
    </div>
  );
});

function Details({ head }: { readonly head: Head }): ReactElement {
  const words = head.keywords.map((word) => <span key={word} className="word">{word}</span>);
  if (head.error !== null) {
    const said = `${head.error.node ?? "run"}: ${head.error.message}`;
    return <>{words}<span title={said}><b>{head.error.node ?? "run"}</b> <code>{head.error.code}</code> {head.error.message}</span></>;
  }
  const [asked, ...rest] = head.pauses;
  if (asked !== undefined) return <>{words}<span title={asked.message}><b>{asked.node}</b> {asked.message}{rest.length > 0 ? <span className="quiet"> +{rest.length}</span> : null}</span></>;
  return <>{words}<span className="quiet">{head.status === "failed" ? head.failed_node ?? "" : head.summary === wordOf(head.status) ? "" : inOwnZone(head.summary)}</span></>;
}
