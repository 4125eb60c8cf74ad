/** The health of one workflow, and its last runs. */
import { useState, type ReactElement } from "react";
import { usePolled } from "../inbox/polling.ts";
import type { Head, RunPage } from "../runs/list/merging.ts";
import { shownStatus } from "../runs/list/rows.tsx";
import { ERRORS, follow, go, hrefOf, runPath, useAddress, workflowPath } from "../ui/addresses.ts";
import { Commands } from "../ui/commands.tsx";
import { dollars, lasting, shortId } from "../ui/words/formats.ts";
import { Bones, Failed, Stale } from "../ui/loading/notices.tsx";
import { Status } from "../ui/status.tsx";
import { inOwnZone } from "../ui/words/instants.ts";
import { When } from "../ui/words/times.tsx";
import { byUrgency } from "../wire/statuses.ts";
import { percent, WINDOWS, windowOf, type Health, type Window } from "./health.ts";
import { Spark } from "./spark.tsx";

const HEALTH_MS = 30_000; // up to 2,000 runs are read
const LAST_RUNS = 12;

export function Overview({ workflow }: { readonly workflow: string }): ReactElement {
  const span = windowOf(useAddress().query.get("window"));
  const named = encodeURIComponent(workflow);
  const health = usePolled<Health>(`/workflows/${named}/stats?window=${span}`, HEALTH_MS);
  const [kept, setKept] = useState<Health | null>(null); // of the former window, so that nothing jumps
  if (health.found !== null && health.found !== kept) setKept(health.found);
  const found = health.found ?? kept;
  const runs = usePolled<RunPage>(`/runs?workflow=${named}&limit=${LAST_RUNS}`);
  return (
    <>
      <section aria-label="Health">
        <div className="workflow-line"><h2>Health</h2>
          <select className="field" aria-label="Runs of" value={span} onChange={(event) => { go(addressOf(workflow, windowOf(event.target.value))); }}>
            {Object.entries(WINDOWS).map(([one, said]) => <option key={one} value={one}>Last {said}</option>)}
          </select>
        </div>
        {health.error !== null && found !== null ? <Stale error={health.error} at={health.at} again={health.again} /> : null}
        {found === null ? health.error === null ? <Bones lines={3} label="The statistics are loading" /> : <Failed what="Could not load the statistics." error={health.error} again={health.again} /> : <Figures of={found} span={span} />}
      </section>
      <section aria-label="Last runs">
        <div className="workflow-line"><h2>Last runs</h2><Link to={`/?workflow=${named}`}>All runs</Link></div>
        {runs.found === null ? runs.error === null ? <Bones lines={6} label="The runs are loading" /> : <Failed what="Could not load the runs." error={runs.error} again={runs.again} />
          : runs.found.runs.length === 0 ? <NoRuns workflow={workflow} /> : <LastRuns runs={runs.found.runs} />}
      </section>
    </>
  );
}

function addressOf(workflow: string, span: Window): string {
  return `${workflowPath(workflow)}${span === "24h" ? "" : `?window=${span}`}`;
}

function Link({ to, children }: { readonly to: string; readonly children: string }): ReactElement {
  return <a href={hrefOf(to)} onClick={follow(to)}>{children}</a>;
}

function Figures({ of, span }: { readonly of: Health; readonly span: Window }): ReactElement {
  const query = (status: string): string => `/?${new URLSearchParams({ workflow: of.workflow, ...(status === "" ? {} : { status }), since: span }).toString()}`;
  const statuses = Object.entries(of.statuses).sort(byUrgency);
  return (
    <>
      <dl className="figures">
        <div><dt>Runs</dt><dd>{of.at_least ? "at least " : ""}{of.runs.toLocaleString("en")}</dd></div>
        <div><dt>Failure rate</dt><dd className={of.failure_rate !== null && of.failure_rate > 0 ? "bad" : ""}>{of.failure_rate === null ? "—" : percent(of.failure_rate)}</dd></div>
        <div><dt title="Median duration">p50</dt><dd>{of.p50_ms === null ? "—" : lasting(of.p50_ms)}</dd></div>
        <div><dt title="95th percentile of the duration">p95</dt><dd>{of.p95_ms === null ? "—" : lasting(of.p95_ms)}</dd></div>
        <div><dt title={of.usd === null ? "Only runs on AWS are billed" : undefined}>Cost</dt><dd>{of.usd === null ? "—" : dollars(of.usd)}</dd></div>
        <div><dt>Next firing</dt><dd>{of.next_at === null ? "—" : <When at={of.next_at} />}</dd></div>
      </dl>
      <div className="figures-bars"><Spark of={of} height={48} step={16} /><span className="hint"><When at={of.since} /></span><span className="hint">now</span></div>
      {of.at_least ? <p className="hint">Of the newest {of.runs.toLocaleString("en")} runs, since {new Date(of.since).toLocaleString()}.</p> : null}
      <ul className="figures-statuses">
        {statuses.map(([status, count]) => <li key={status}><a href={hrefOf(query(status))} onClick={follow(query(status))}><Status status={status} /> {count.toLocaleString("en")}</a></li>)}
        {of.failure_rate !== null && of.failure_rate > 0 ? <li><Link to={`${ERRORS}?${new URLSearchParams({ since: span, workflow: of.workflow }).toString()}`}>Errors in groups</Link></li> : null}
      </ul>
    </>
  );
}

function NoRuns({ workflow }: { readonly workflow: string }): ReactElement {
  const path = workflowPath(workflow, "start");
  return (
    <div className="empty-page"><h2>No runs yet</h2>
      <p>A run is one execution of this workflow. <a href={hrefOf(path)} onClick={follow(path)}>Start one here</a>, or from a shell.</p>
      <Commands of={[[`stepless start ${workflow} --input '{}'`, "with the inputs as JSON"]]} /></div>
  );
}

function LastRuns({ runs }: { readonly runs: readonly Head[] }): ReactElement {
  return (
    <table className="last-runs">
      <thead><tr><th scope="col">Status</th><th scope="col">Run</th><th scope="col">Details</th><th scope="col" className="number">Duration</th><th scope="col" className="number">Started</th></tr></thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.id}>
            <td><Status status={shownStatus(run)} /></td>
            <td><a href={hrefOf(runPath(run.id))} onClick={follow(runPath(run.id))} title={run.id}><code>{shortId(run.id)}</code></a>{run.version === null ? null : <span className="quiet"> v{run.version}</span>}</td>
            <td className="last-details"><span className="cut" title={run.error?.message}>{run.error === null ? <span className="quiet">{run.summary === run.status ? "" : inOwnZone(run.summary)}</span> : <><b>{run.error.node ?? "run"}</b> <code>{run.error.code}</code> {run.error.message}</>}</span></td>
            <td className="number">{lasting(run.duration_ms)}</td>
            <td className="number"><When at={run.created_at} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
