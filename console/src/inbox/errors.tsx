/** Failures in groups: what failed, how often, since when, in which versions; a group is run again at once. */
import "./inbox.css";
import { useEffect, useRef, useState, type ReactElement } from "react";
import { Bulk } from "../runs/list/bulk.tsx";
import { ERRORS, follow, go, hrefOf, runPath, useAddress } from "../ui/addresses.ts";
import { Bar } from "../ui/bar/bar.tsx";
import { CopyButton } from "../ui/copying.tsx";
import { counted, shortId } from "../ui/words/formats.ts";
import { Icon } from "../ui/icons.tsx";
import { Bones, Failed, Stale } from "../ui/loading/notices.tsx";
import { When } from "../ui/words/times.tsx";
import { serverNow, useAhead } from "../wire/clock.ts";
import { COUNTED_MS, countErrorsOf, readTally } from "../wire/tallies.ts";
import { barsOf, filterOf, GROUP, saidOf, SPANS, spanOf, toggled, type Span } from "./groups.ts";
import { usePolled } from "./polling.ts";
import type { ErrorGroupOut, ErrorsOut } from "../wire/contract.ts";

type Group = ErrorGroupOut;

type Found = ErrorsOut;

const MINUTE_MS = 60_000;
const SHOWN_RUNS = 20;
const SAID = { "24h": "Last 24 hours", "7d": "Last 7 days", "30d": "Last 30 days" } as const;

export default function Errors(): ReactElement {
  return <Page key={useAhead()} />;
}

function Page(): ReactElement {
  const { query } = useAddress();
  const [span, workflow] = [spanOf(query.get("since")), query.get("workflow") ?? ""];
  const [now] = useState(() => Math.floor(serverNow() / MINUTE_MS) * MINUTE_MS);
  const { found, at, error, again } = usePolled<Found>(`/errors?since=${now - SPANS[span]}${workflow === "" ? "" : `&workflow=${encodeURIComponent(workflow)}`}`);
  const [asked, setAsked] = useState<Group | null>(null);
  useEffect(() => { document.title = "Errors · Stepless"; }, []);
  const count = found?.count;
  useEffect(() => { if (count !== undefined) readTally("errors"); }, [count]);
  useEffect(() => {
    countErrorsOf(SPANS[span]);
    return () => { countErrorsOf(COUNTED_MS); };
  }, [span]);
  const choose = (next: string, of: string): void => { go(`${ERRORS}?${new URLSearchParams([["since", next], ...(of === "" ? [] : [["workflow", of]]), ...query.getAll(GROUP).map((one) => [GROUP, one])]).toString()}`); };
  return (
    <div className="page">
      <Bar at="errors" />
      <main className="inbox errors">
        <div className="page-title"><h1>Errors</h1></div>
        <search className="errors-bar">
          <select className="field" aria-label="Failures of" value={span} onChange={(event) => { choose(event.target.value, workflow); }}>
            {Object.entries(SAID).map(([one, said]) => <option key={one} value={one}>{said}</option>)}
          </select>
          {workflow === "" ? null : <button className="button small errors-of" type="button" title="Show all workflows" onClick={() => { choose(span, ""); }}><span className="cut">{workflow}</span><Icon mark="close" size={14} /></button>}
          <span className="head-gap" />
          <p role="status" className="inbox-said quiet">{found === null ? "" : saidOf(found)}</p>
        </search>
        {found === null ? error === null ? <Bones lines={9} label="The failures are loading" /> : <Failed what="Could not load the failures." error={error} again={again} /> : (
          <>
            {error === null ? null : <Stale error={error} at={at} again={again} />}
            {found.errors.length === 0 ? <div className="empty-page"><h2>No open failures</h2><p>Failed runs are grouped here by workflow, node and message. A failure leaves the list while a rerun of its run is in progress, and stays away unless that rerun fails or is cancelled.</p></div> : (
              <>
                <div className="group-heads" aria-hidden="true"><span>Error</span><span>Workflow</span><span>{SAID[span]}</span><span>Last seen</span><span>First seen</span><span /></div>
                <ul className="groups">{found.errors.map((group) => <Line key={group.fingerprint} group={group} since={span} open={query.getAll(GROUP).includes(group.fingerprint)} toggle={() => { go(`${ERRORS}?${toggled(query, group.fingerprint).toString()}`); }} rerun={() => { setAsked(group); }} only={() => { choose(span, group.workflow); }} />)}</ul>
              </>
            )}
          </>
        )}
      </main>
      {asked === null ? null : <Bulk action="rerun" scope={{ ids: asked.runs, known: new Map(asked.runs.map((id) => [id, { status: asked.status, held: false }])) }} said={`${counted(asked.count, "failed run")} of ${asked.workflow}: ${asked.message}`} onClose={() => { setAsked(null); again(); }} />}
    </div>
  );
}

/** `open`: in the address. A link to an open group brings it into view. */
function Line({ group, since, open, toggle, rerun, only }: {
  readonly group: Group; readonly since: Span; readonly open: boolean; readonly toggle: () => void; readonly rerun: () => void; readonly only: () => void;
}): ReactElement {
  const line = useRef<HTMLLIElement>(null);
  const named = useRef(open);
  useEffect(() => { if (named.current) line.current?.scrollIntoView({ block: "nearest" }); }, []);
  const all = `/?${new URLSearchParams(filterOf(group, since)).toString()}`;
  const rest = group.runs.length - SHOWN_RUNS;
  return (
    <li className="group" ref={line}>
      <div className="group-what">
        <p><b>{group.node ?? "run"}</b> <code>{group.code}</code></p>
        <p className="group-message" title={group.example}>{group.example || group.message}</p>
      </div>
      <div className="group-where">
        <button type="button" className="group-of cut" title={`Only ${group.workflow}`} onClick={only}>{group.workflow}</button>
        <span className="quiet" title={group.versions.map((version) => `v${version}`).join(", ")}>{versionsOf(group.versions)}</span>
      </div>
      <Bars counts={group.bars} />
      <span className="group-last"><span className="group-word">last </span><When at={group.last_at} /></span>
      <span className="group-first quiet"><span className="group-word">first </span><When at={group.first_at} /></span>
      <div className="group-do">
      <button className="button small group-count" type="button" aria-expanded={open} onClick={toggle}>{counted(group.count, "run")}</button>
      <button className="button small" type="button" onClick={rerun}>Rerun…</button>
      </div>
      {open ? (
        <ul className="group-runs">{group.runs.slice(0, SHOWN_RUNS).map((id) => <li key={id}><a href={hrefOf(runPath(id))} onClick={follow(runPath(id))} title={id}><code>{shortId(id)}</code></a><CopyButton text={id} what="the id" /></li>)}
          {rest > 0 ? <li><a href={hrefOf(all)} onClick={follow(all)}>and {rest.toLocaleString("en")} more</a></li> : null}</ul>
      ) : null}
    </li>
  );
}

const NAMED_VERSIONS = 3;

function versionsOf(versions: readonly number[]): string {
  if (versions.length <= NAMED_VERSIONS) return versions.map((version) => `v${version}`).join(", ");
  return `${versions.length} versions, v${Math.min(...versions)} to v${Math.max(...versions)}`;
}

function Bars({ counts }: { readonly counts: readonly number[] }): ReactElement {
  const most = Math.max(...counts);
  return (
    <svg className="bars" viewBox={`0 0 ${counts.length * 4} 24`} width={counts.length * 4} height={24} role="img" aria-label={`At most ${most} in one part of the time`}>
      {barsOf(counts, 24).map(({ at, height }) => <rect key={at} x={at * 4} y={24 - height} width={3} height={height} className={counts[at] === 0 ? "none" : ""} />)}
    </svg>
  );
}
