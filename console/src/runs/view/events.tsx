/** The events of a run: filtered by the server, read on as a person scrolls, each with an address. */
import { useCallback, useEffect, useMemo, useRef, useState, type ReactElement } from "react";
import { runPath } from "../../ui/addresses.ts";
import { counted, lasting } from "../../ui/words/formats.ts";
import { isMapping, isSequence, type Value } from "../../editing/values/encoding.ts";
import { explained, requestText } from "../../wire/api.ts";
import { jsonOf, textOf, valueOf } from "../../wire/exact.ts";
import { useRows } from "../virtual.ts";

const ROW = 28;
const PAGE = 500;
const BEFORE = 20; // events above one that is linked to
const MAX_EMPTY = 50; // pages without a hit in a row: a million events
const TYPES = ["run.", "node.", "node.started", "node.completed", "node.failed", "node.retried", "node.waiting", "node.log", "loop.", "message.received"];

export interface EventFilter {
  readonly text: string;
  readonly type: string;
  readonly instance: string;
}

/** An event as it is shown. Every number of `payload` and `whole` keeps the digits that the server wrote. */
export interface ShownEvent {
  readonly eventId: number;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: ReadonlyMap<string, Value>;
  readonly whole: Value;
}

interface Found {
  readonly events: readonly ShownEvent[];
  readonly cursor: number;
  readonly whole: boolean;
  readonly error: unknown;
}

export function Events({ id, began, sequence, event, filter, onEvent, onFilter, onInstance }: {
  readonly id: string; readonly began: string | null; readonly sequence: number; readonly event: number; readonly filter: EventFilter;
  readonly onEvent: (event: number) => void; readonly onFilter: (filter: EventFilter) => void; readonly onInstance: (instance: string) => void;
}): ReactElement {
  const key = JSON.stringify([id, filter]);
  const [start] = useState(Math.max(0, event - BEFORE));
  const { found, more } = useEvents(id, filter, filter.text === "" && filter.type === "" && filter.instance === "" ? start : 0, sequence);
  const { box, from, to, reveal } = useRows(found.events.length, ROW);
  useEffect(() => { if (to >= found.events.length - 100) more(); }, [to, found.events.length, more]);
  const chosen = found.events.find((one) => one.eventId === event);
  const at = chosen === undefined ? -1 : found.events.indexOf(chosen);
  const shown = useRef("");
  useEffect(() => {
    if (at >= 0 && shown.current !== `${key}${event}`) {
      shown.current = `${key}${event}`;
      reveal(at);
    }
  }, [at, event, key, reveal]);
  const zero = began === null ? 0 : Date.parse(began);
  return (
    <div className="events">
      <div className="timeline-tools">
        <Words value={filter.text} onTake={(text) => { onFilter({ ...filter, text }); }} label="Text in the events" placeholder="Text in the events" />
        <select className={filter.type === "" ? "field choice" : "field choice set"} aria-label="Type" value={filter.type} onChange={(change) => { onFilter({ ...filter, type: change.target.value }); }}>
          <option value="">Any type</option>{[...new Set([...TYPES, ...(filter.type === "" ? [] : [filter.type])])].map((type) => <option key={type}>{type}</option>)}
        </select>
        <Words value={filter.instance} onTake={(instance) => { onFilter({ ...filter, instance }); }} label="Instance" placeholder="Instance, x@each[7]" />
        <span className="quiet" role="status">{found.whole && found.events.length === sequence ? counted(sequence, "event") : `${found.events.length.toLocaleString("en")}${found.whole ? "" : "+"} of ${counted(sequence, "event")}`}</span>
        {start > 0 && filter.text === "" ? <span className="hint">from event {start + 1} on</span> : null}
      </div>
      {found.error === null ? null : <p className="stale" role="alert">{explained(found.error).why} <button className="button small" type="button" onClick={more}>Try again</button></p>}
      <div className="event-rows" ref={box} tabIndex={0} role="table" aria-label="Events" aria-rowcount={found.whole ? found.events.length + 1 : -1}>
        <div className="event-heads" role="row" aria-rowindex={1}><span role="columnheader">Event</span><span role="columnheader" className="number">Time</span><span role="columnheader">Type</span><span role="columnheader">Instance</span><span role="columnheader">Details</span></div>
        <div className="timeline-space" style={{ height: found.events.length * ROW }} role="rowgroup">
          {found.events.slice(from, to).map((one, place) => {
            const instance = said(one.payload.get("instance"));
            return (
              <div key={one.eventId} role="row" aria-rowindex={from + place + 2} aria-selected={one.eventId === event} className={`event-row${one.eventId === event ? " chosen" : ""}`} style={{ transform: `translateY(${(from + place) * ROW}px)` }} onClick={() => { onEvent(one.eventId); }}>
                <span role="cell"><button type="button" className="link" aria-label={`Event ${one.eventId}`} aria-pressed={one.eventId === event} onClick={(click) => { click.stopPropagation(); onEvent(one.eventId); }}>{one.eventId}</button></span>
                <span role="cell" className="number quiet" title={new Date(one.timestamp).toLocaleString()}>+{lasting(Date.parse(one.timestamp) - zero)}</span>
                <span role="cell"><code>{one.type}</code></span>
                <span role="cell" className="cut">{instance === "" ? null : <button type="button" className="link" onClick={(click) => { click.stopPropagation(); onInstance(instance); }}>{instance}</button>}</span>
                <span role="cell" className="cut quiet">{brief(one)}</span>
              </div>
            );
          })}
        </div>
      </div>
      {chosen === undefined ? null : <pre className="event-whole" tabIndex={0} aria-label={`Event ${event}`}>{textOf(chosen.whole)}</pre>}
    </div>
  );
}

function Words({ value, label, placeholder, onTake }: { readonly value: string; readonly label: string; readonly placeholder: string; readonly onTake: (text: string) => void }): ReactElement {
  const [typed, setTyped] = useState(value);
  useEffect(() => { setTyped(value); }, [value]);
  return (
    <form onSubmit={(event) => { event.preventDefault(); onTake(typed.trim()); }}>
      <input className={value === "" ? "field" : "field set"} type="search" aria-label={label} placeholder={placeholder} value={typed} onChange={(event) => { setTyped(event.target.value); }} onBlur={() => { if (typed.trim() !== value) onTake(typed.trim()); }} />
    </form>
  );
}

function said(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const SKIPPED: ReadonlySet<string> = new Set(["instance", "node", "kind", "status"]);
const MAX_BRIEF = 240;

/** The rest of the payload on one line. */
export function brief({ payload }: ShownEvent): string {
  const rest = [...payload].filter(([name]) => !SKIPPED.has(name)).map(([name, value]) => `${name}: ${typeof value === "string" ? value : jsonOf(value)}`).join(" · ");
  return rest.length > MAX_BRIEF ? `${rest.slice(0, MAX_BRIEF)}…` : rest;
}

/** A page of events, and the cursor after it. */
export function pageFrom(text: string): { readonly events: readonly ShownEvent[]; readonly cursor: number } {
  const page = valueOf(text);
  const events = isMapping(page) ? page.get("events") : undefined;
  const cursor = isMapping(page) ? page.get("cursor") : undefined;
  if (!isSequence(events) || typeof cursor !== "number") throw new SyntaxError("The response has no events.");
  return { events: events.map(shownFrom), cursor };
}

function shownFrom(whole: Value): ShownEvent {
  const [event, payload] = isMapping(whole) ? [whole, whole.get("payload")] : [new Map<string, Value>(), undefined];
  return {
    eventId: Number(event.get("eventId")), type: said(event.get("type")), timestamp: said(event.get("timestamp")),
    payload: isMapping(payload) ? payload : new Map<string, Value>(), whole,
  };
}

function useEvents(id: string, { text, type, instance }: EventFilter, start: number, sequence: number): { readonly found: Found; readonly more: () => void } {
  const query = useMemo(() => {
    const made = new URLSearchParams({ limit: String(PAGE) });
    for (const [name, value] of [["text", text], ["type", type], ["instance", instance]] as const) if (value !== "") made.set(name, value);
    return made.toString();
  }, [text, type, instance]);
  const [found, setFound] = useState<Found>({ events: [], cursor: start, whole: false, error: null });
  const state = useRef({ busy: false, found });
  const last = useRef(sequence);
  last.current = sequence;
  const more = useCallback(() => {
    const here = state.current;
    if (here.busy || here.found.cursor >= last.current) return;
    here.busy = true;
    const go = async (): Promise<void> => {
      for (let round = 0; round < MAX_EMPTY && state.current === here; round += 1) {
        const page = pageFrom(await requestText(`${runPath(id)}/events?${query}&afterEventId=${here.found.cursor}`));
        if (state.current !== here) return; // the answer to a former filter
        here.found = { events: [...here.found.events, ...page.events], cursor: page.cursor, whole: page.cursor >= last.current, error: null };
        setFound(here.found);
        if (page.events.length > 0 || here.found.whole) break;
      }
    };
    go().catch((error: unknown) => { if (state.current === here) setFound({ ...here.found, error }); }).finally(() => { here.busy = false; });
  }, [id, query]);
  useEffect(() => {
    state.current = { busy: false, found: { events: [], cursor: start, whole: false, error: null } };
    setFound(state.current.found);
    more();
  }, [id, query, start, more]);
  useEffect(() => { if (state.current.found.events.length < PAGE) more(); }, [sequence, more]);
  return { found, more };
}
