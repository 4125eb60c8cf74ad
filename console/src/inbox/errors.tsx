/** Failures in groups: what failed, how often, since when, in which versions; a group is run again at once. */
import "./inbox.css";
import { useEffect, useState, type ReactElement } from "react";
import { Bulk } from "../runs/list/bulk.tsx";
import { ERRORS, follow, go, hrefOf, runPath, useAddress } from "../ui/addresses.ts";
import { Bar } from "../ui/bar.tsx";
import { counted, shortId } from "../ui/formats.ts";
import { Bones, Failed } from "../ui/notices.tsx";
import { When } from "../ui/times.tsx";
import { explained } from "../wire/api.ts";
import { readTally } from "../wire/tallies.ts";
import { barsOf, SPANS, spanOf, type Span } from "./groups.ts";
import { usePolled } from "./polling.ts";

interface Group {
  readonly fingerprint: string;
  readonly workflow: string;
  readonly node: string | null;
  readonly code: string;
  readonly message: string;
  readonly example: string;
  readonly count: number;
  readonly runs: readonly string[];
  readonly versions: readonly number[];
  readonly first_at: string;
  readonly last_at: string;
  readonly bars: readonly number[];
}

interface Found {
  readonly errors: readonly Group[];
  readonly group_count: number;
  readonly count: number;
  readonly at_least: boolean;
  readonly unsure: boolean;
}

const MINUTE_MS = 60_000;
const SHOWN_RUNS = 20;

export default function Errors(): ReactElement {
  const { query } = useAddress();
  const [span, workflow] = [spanOf(query.get("since")), query.get("workflow") ?? ""];
  const [now] = useState(() => Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
  const { found, error, again } = usePolled<Found>(`/errors?since=${now - SPANS[span]}${workflow === "" ? "" : `&workflow=${encodeURIComponent(workflow)}`}`);
  const [asked, setAsked] = useState<Group | null>(null);
  useEffect(() => { document.title = "Errors · Stepless"; }, []);
  const count = found?.count;
  useEffect(() => { if (count !== undefined) readTally("errors"); }, [count]);
  const choose = (next: string, of: string): void => { go(`${ERRORS}?${new URLSearchParams({ since: next, ...(of === "" ? {} : { workflow: of }) }).toString()}`); };
  return (
    <div className="page">
      <Bar at="errors" />
      <main className="inbox errors">
        <div className="page-title"><h1>Errors</h1>
          <label><span className="hidden">Failures of</span>
            <select className="field" value={span} onChange={(event) => { choose(event.target.value, workflow); }}>
              <option value="24h">the last 24 hours</option><option value="7d">the last 7 days</option><option value="30d">the last 30 days</option>
            </select></label>
        </div>
        {workflow === "" ? null : <p>Of {workflow} <button className="button small" type="button" onClick={() => { choose(span, ""); }}>All workflows</button></p>}
        {found === null ? error === null ? <Bones lines={9} label="The failures are loading" /> : <Failed what="The failures are not shown." error={error} again={again} /> : (
          <>
            <p role="status" className="inbox-said">{found.count === 0 ? "" : `${found.at_least ? "At least " : ""}${counted(found.count, "failure")} in ${counted(found.group_count, "group")}.${found.unsure ? " Some may have been run again since." : ""}`}</p>
            {error === null ? null : <p className="stale" role="alert">{explained(error).why} The list may be out of date. <button className="button small" type="button" onClick={again}>Try again</button></p>}
            {found.errors.length === 0 ? <div className="page-empty"><h2>No failure is open</h2><p className="quiet">Failed runs stand here in groups. A failure leaves when a rerun of its run succeeds.</p></div>
              : <ul className="groups">{found.errors.map((group) => <Line key={group.fingerprint} group={group} since={span} rerun={() => { setAsked(group); }} only={() => { choose(span, group.workflow); }} />)}</ul>}
          </>
        )}
      </main>
      {asked === null ? null : <Bulk action="rerun" scope={{ ids: asked.runs, known: new Map(asked.runs.map((id) => [id, { status: "failed", held: false }])) }} said={`${counted(asked.count, "failed run")} of ${asked.workflow}: ${asked.message}`} onClose={() => { setAsked(null); again(); }} />}
    </div>
  );
}

function Line({ group, since, rerun, only }: { readonly group: Group; readonly since: Span; readonly rerun: () => void; readonly only: () => void }): ReactElement {
  const [open, setOpen] = useState(false);
  const all = `/?${new URLSearchParams({ workflow: group.workflow, status: "failed", error: group.code, since }).toString()}`;
  const rest = group.runs.length - SHOWN_RUNS;
  return (
    <li className="group">
      <div className="group-what">
        <p><b>{group.node ?? "run"}</b> <code>{group.code}</code> <button type="button" className="group-of" title="Only this workflow" onClick={only}>{group.workflow}</button>
          <span className="quiet" title={group.versions.map((version) => `v${version}`).join(", ")}> {versionsOf(group.versions)}</span></p>
        <p className="group-message" title={group.example}>{group.example || group.message}</p>
      </div>
      <Bars counts={group.bars} />
      <div className="group-when">
        <span className="quiet">last <When at={group.last_at} /></span>{group.count > 1 ? <span className="quiet">first <When at={group.first_at} /></span> : null}
      </div>
      <button className="button small group-count" type="button" aria-expanded={open} onClick={() => { setOpen(!open); }}>{counted(group.count, "run")}</button>
      <button className="button small" type="button" onClick={rerun}>Rerun…</button>
      {open ? (
        <ul className="group-runs">{group.runs.slice(0, SHOWN_RUNS).map((id) => <li key={id}><a href={hrefOf(runPath(id))} onClick={follow(runPath(id))} title={id}><code>{shortId(id)}</code></a></li>)}
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
