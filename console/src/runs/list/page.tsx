/** The page of runs: filters, counts, the list, and what is done with many runs at once. */
import "./runs.css";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore, type ReactElement } from "react";
import { follow, go, hrefOf, runPath, useAddress, WORKFLOWS } from "../../ui/addresses.ts";
import { Bar } from "../../ui/bar/bar.tsx";
import { Commands } from "../../ui/commands.tsx";
import { counted } from "../../ui/words/formats.ts";
import { Failed, Stale } from "../../ui/loading/notices.tsx";
import { isTyped, isWithin } from "../../ui/picking/presses.ts";
import { useSmall } from "../../ui/theme/switching.ts";
import { serverNow, useAhead } from "../../wire/clock.ts";
import { useWorkflows } from "../../ui/workflow_ids.ts";
import { Bulk } from "./bulk.tsx";
import type { Action, Scope } from "./changing.ts";
import { useCounts, type Counts } from "./counting.ts";
import { RunFeed, type Feed } from "./feed.ts";
import { FilterBar } from "./filterbar.tsx";
import { faultsOf, fromAddress, isFiltered, toAddress, toBody, type Filters } from "./filters.ts";
import { WaitingRows } from "./heads.tsx";
import { useHolding } from "./holding.ts";
import { Rows } from "./rows.tsx";
import { Status } from "../../ui/status.tsx";
import { byUrgency } from "../../wire/statuses.ts";

interface Asked {
  readonly action: Action;
  readonly scope: Scope;
  readonly said: string;
}

export default function Runs(): ReactElement {
  const { query } = useAddress();
  const text = query.toString();
  const filters = useMemo(() => fromAddress(new URLSearchParams(text)), [text]);
  const key = toAddress(filters);
  const workflows = useWorkflows();
  const ahead = useAhead();
  useEffect(() => { document.title = "Runs · Stepless"; }, []);
  const change = useCallback((next: Filters) => { go(`/${toAddress(next)}`); }, []);
  return (
    <div className="page whole">
      <Bar at="runs" />
      <main className="runs">
        <h1 className="hidden">Runs</h1>
        <FilterBar filters={filters} workflows={workflows} onChange={change} />
        <List key={`${ahead} ${key}`} filters={filters} onFilter={change} />
      </main>
    </div>
  );
}

function List({ filters, onFilter }: { readonly filters: Filters; readonly onFilter: (filters: Filters) => void }): ReactElement {
  const feed = useFeed(filters);
  const read = useSyncExternalStore(feed.subscribe, feed.snapshot);
  const holding = useHolding(read.rows);
  const seen = useMemo(() => ({ ...read, rows: holding.rows }), [read, holding.rows]);
  const [changes, setChanges] = useState(0);
  const counts = useCounts(filters, changes);
  const small = useSmall();
  const [activeId, setActiveId] = useState(""); // of a run, since newer ones come in above it
  const active = useMemo(() => (activeId === "" ? -1 : seen.rows.findIndex(({ id }) => id === activeId)), [seen.rows, activeId]);
  const setActive = useCallback((place: number) => { setActiveId(seen.rows[place]?.id ?? ""); }, [seen.rows]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<Asked | null>(null);
  const look = useCallback((from: number, to: number) => { feed.look(from, to); }, [feed]);
  const choose = useCallback((id: string) => {
    setChosen((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  useListKeys(seen, active, setActive, choose, asked !== null);
  const canFilter = isFiltered(filters) && faultsOf(filters).size === 0;
  const ask = (action: Action): void => {
    const known = new Map(seen.rows.filter(({ id }) => chosen.has(id)).map(({ id, status, waiting }) => [id, { status, held: waiting.includes("held") }]));
    setAsked(chosen.size > 0 ? { action, scope: { ids: [...chosen], known }, said: `The ${counted(chosen.size, "chosen run")}.` }
      : { action, scope: { filter: toBody(filters, serverNow()) }, said: "Every run that matches the filter, on all pages." });
  };
  return (
    <>
      <Summary counts={counts} filters={filters} onFilter={onFilter} chosen={chosen.size} seen={seen} canFilter={canFilter} ask={ask} clear={() => { setChosen(new Set()); }} />
      <Body seen={seen} filters={filters} small={small} again={() => { void feed.again(); }} goOn={() => { feed.goOn(); }}>
        <Rows holding={holding} whole={seen.whole} active={active} chosen={chosen} small={small} onLook={look} onChoose={choose} onActive={setActive} />
      </Body>
      {asked === null ? null : <Bulk {...asked} onClose={() => { setAsked(null); setChosen(new Set()); setChanges(changes + 1); void feed.again(); }} />}
    </>
  );
}

function Body({ seen, filters, small, again, goOn, children }: { readonly seen: Feed; readonly filters: Filters; readonly small: boolean; readonly again: () => void; readonly goOn: () => void; readonly children: ReactElement }): ReactElement {
  if (seen.rows.length === 0) {
    if (seen.error !== null) return <Failed what="Could not load the runs." error={seen.error} again={again} />;
    if (seen.stopped) return <div className="runs-empty empty-page"><h2>Nothing found yet</h2><p>50,000 runs were searched. Narrow the search by workflow, status or time, or continue.</p><button className="button" type="button" onClick={goOn}>Continue searching</button></div>;
    if (seen.loading) return <WaitingRows small={small} />;
    return <Empty filtered={isFiltered(filters)} />;
  }
  return (
    <>
      {children}
      {seen.error === null ? null : <Stale error={seen.error} at={seen.at} again={again} />}
      {seen.stopped ? <p className="stale">50,000 more runs were searched without a match. <button className="button small" type="button" onClick={goOn}>Continue searching</button></p> : null}
    </>
  );
}

function Empty({ filtered }: { readonly filtered: boolean }): ReactElement {
  if (filtered) return <div className="runs-empty empty-page"><h2>No matching runs</h2><p>Remove a filter to see more.</p><button className="button small" type="button" onClick={() => { go("/"); }}>Show all runs</button></div>;
  return (
    <div className="runs-empty empty-page">
      <h2>No runs yet</h2>
      <p>A run is one execution of a workflow. Start one from the page of its workflow, from a shell or over HTTP.</p>
      <a className="button" href={hrefOf(WORKFLOWS)} onClick={follow(WORKFLOWS)}>Choose a workflow</a>
      <Commands of={[
        [`stepless start WORKFLOW --input '{"amount": 120}'`, "with the inputs as JSON"],
        [`curl -X POST ${location.origin}/workflows/WORKFLOW/runs -H "Authorization: Bearer $STEPLESS_API_KEY" -d '{}'`, "over HTTP, with an API key"],
      ]} />
    </div>
  );
}


function Summary({ counts, filters, onFilter, chosen, seen, canFilter, ask, clear }: {
  readonly counts: Counts | null; readonly filters: Filters; readonly onFilter: (filters: Filters) => void; readonly chosen: number; readonly seen: Feed;
  readonly canFilter: boolean; readonly ask: (action: Action) => void; readonly clear: () => void;
}): ReactElement {
  const enabled = chosen > 0 || (canFilter && seen.rows.length > 0);
  const why = enabled ? undefined : "Choose runs with x, or set a filter first";
  const shown = counts === null ? [] : Object.entries(counts.statuses).sort(byUrgency);
  return (
    <div className="runs-summary">
      <p role="status">{chosen > 0 ? `${counted(chosen, "run")} chosen` : counts === null ? " " : `${counts.more ? "At least " : ""}${counted(counts.count, "run")}`}</p>
      {chosen > 0 ? <button className="button small" type="button" onClick={clear}>Clear selection</button> : (
        <ul>{shown.map(([status, count]) => (
          <li key={status}><button type="button" className="count" aria-pressed={filters.status === status} onClick={() => { onFilter({ ...filters, status: filters.status === status ? "" : status }); }}>
            <Status status={status} /> {count.toLocaleString("en")}</button></li>
        ))}</ul>
      )}
      <span className="head-gap" />
      <div className="runs-actions" role="group" aria-label={chosen > 0 ? "Change the chosen runs" : "Change all runs that match"}>
        <button className="button small" type="button" disabled={!enabled} title={why} onClick={() => { ask("rerun"); }}>Rerun…</button>
        <button className="button small" type="button" disabled={!enabled} title={why} onClick={() => { ask("hold"); }}>Hold…</button>
        <button className="button small" type="button" disabled={!enabled} title={why} onClick={() => { ask("release"); }}>Release…</button>
        <button className="button small danger" type="button" disabled={!enabled} title={why} onClick={() => { ask("cancel"); }}>Cancel…</button>
      </div>
    </div>
  );
}

function useFeed(filters: Filters): RunFeed {
  const [feed] = useState(() => new RunFeed(filters));
  useEffect(() => {
    feed.open();
    return () => { feed.close(); };
  }, [feed]);
  return feed;
}

function useListKeys(seen: Feed, active: number, setActive: (place: number) => void, choose: (id: string) => void, off: boolean): void {
  useEffect(() => {
    if (off) return;
    const press = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyped(event)) return;
      const row = seen.rows[active];
      if (event.key === "j" || event.key === "ArrowDown") setActive(Math.min(active + 1, seen.rows.length - 1));
      else if (event.key === "k" || event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
      else if (event.key === "Enter" && row !== undefined && !isWithin(event, "button, a")) go(runPath(row.id));
      else if (event.key === "x" && row !== undefined) choose(row.id);
      else if (event.key === "/") document.querySelector<HTMLInputElement>(".filters input[name=search]")?.focus();
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => { window.removeEventListener("keydown", press); };
  }, [seen.rows, active, setActive, choose, off]);
}
