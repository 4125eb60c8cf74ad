/** The workflows with their health: what runs, what fails, what is edited, what fires next. */
import "./list.css";
import { useEffect, useMemo, type ReactElement } from "react";
import { NewWorkflow } from "../pages/making.tsx";
import { draftPath, ERRORS, follow, go, hrefOf, useAddress, workflowPath, WORKFLOWS } from "../ui/addresses.ts";
import { Bar } from "../ui/bar/bar.tsx";
import { Commands } from "../ui/commands.tsx";
import { useDrafts } from "../ui/drafts.ts";
import { counted, dollars, lasting } from "../ui/words/formats.ts";
import { Icon, markOf } from "../ui/icons.tsx";
import { nameOf, saysId } from "../wire/names.ts";
import { Bones, Failed, Stale } from "../ui/loading/notices.tsx";
import { When } from "../ui/words/times.tsx";
import { ORDERS, orderOf, percent, shownOf, WINDOWS, windowOf, type DraftHead, type Listed, type Order, type Window } from "./health.ts";
import { OpenDraft } from "./opening.tsx";
import { useFleet, type Fleet } from "./reading.ts";
import { Spark } from "./spark.tsx";
import { Steps } from "./welcome/steps.tsx";
import { Welcome } from "./welcome/welcome.tsx";

const FEW = 3; // workflows of a server that is new

interface View {
  readonly span: Window;
  readonly order: Order;
  readonly words: string;
}

function addressOf({ span, order, words }: View): string {
  const parts = new URLSearchParams({ ...(span === "24h" ? {} : { window: span }), ...(order === "name" ? {} : { sort: order }), ...(words === "" ? {} : { search: words }) });
  const text = parts.toString();
  return text === "" ? WORKFLOWS : `${WORKFLOWS}?${text}`;
}

export default function Workflows(): ReactElement {
  const { query } = useAddress();
  const view: View = { span: windowOf(query.get("window")), order: orderOf(query.get("sort")), words: query.get("search") ?? "" };
  const { found, error, again } = useFleet(view.span);
  useEffect(() => { document.title = "Workflows · Stepless"; }, []);
  const isEmpty = found !== null && found.listed.length === 0 && found.drafts.length === 0;
  const change = (next: Partial<View>): void => { go(addressOf({ ...view, ...next }), next.words !== undefined); };
  return (
    <div className="page">
      <Bar at="workflows" />
      <main className="fleet">
        <div className="page-title"><h1>Workflows</h1>{found === null || isEmpty ? null : <NewWorkflow />}</div>
        {found === null ? error === null ? <Bones lines={12} label="The workflows are loading" /> : <Failed what="Could not load the workflows." error={error} again={again} /> : (
          <>
            {error === null ? null : <Stale error={error} at={found.at} again={again} />}
            {found.listed.length > FEW ? null : <Steps found={found} />}
            {isEmpty ? <Empty /> : <Whole found={found} view={view} change={change} again={again} />}
          </>
        )}
      </main>
    </div>
  );
}

function Empty(): ReactElement {
  const hasDrafts = useDrafts();
  if (hasDrafts) return <Welcome />;
  return (
    <div className="empty-page">
      <h2>No workflows yet</h2>
      <p>A workflow is a graph of nodes that starts manually, by a webhook, by a schedule or by an event. Publish the first one from a file.</p>
      <Commands of={[["stepless dev", "publishes the files of its folder"], ["stepless publish refund.yaml", "publishes one file to a server"]]} />
    </div>
  );
}

function Whole({ found, view, change, again }: { readonly found: Fleet; readonly view: View; readonly change: (next: Partial<View>) => void; readonly again: () => void }): ReactElement {
  const { order, words } = view;
  const hasDrafts = useDrafts();
  const shown = useMemo(() => shownOf(found.listed, words, order), [found.listed, words, order]);
  const drafts = useMemo(() => new Map(found.drafts.map((draft) => [draft.workflow, draft])), [found.drafts]);
  const published = useMemo(() => new Set(found.listed.map((one) => one.workflow)), [found.listed]);
  const fresh = found.whole ? found.drafts.filter((draft) => !published.has(draft.workflow) && draft.workflow.includes(words.trim().toLowerCase())) : [];
  return (
    <>
      <search className="fleet-bar">
        <input className="field" type="search" aria-label="Search by name or id" placeholder="Search by name or id" value={words} spellCheck={false} onChange={(event) => { change({ words: event.target.value }); }} />
        <select className="field" aria-label="Runs of" value={view.span} onChange={(event) => { change({ span: windowOf(event.target.value) }); }}>
          {Object.entries(WINDOWS).map(([span, said]) => <option key={span} value={span}>Last {said}</option>)}
        </select>
        <select className="field" aria-label="Sort by" value={order} onChange={(event) => { change({ order: orderOf(event.target.value) }); }}>
          {Object.entries(ORDERS).map(([one, said]) => <option key={one} value={one}>{said}</option>)}
        </select>
        <span className="head-gap" />
        <span className="fleet-count"><span className="quiet" role="status">{found.whole ? `${found.bounded ? "At least " : ""}${counted(shown.length + fresh.length, "workflow")}` : `${found.listed.length.toLocaleString("en")} so far…`}</span>
        <button className="tool" type="button" title={`Refresh; last updated at ${new Date(found.at).toLocaleTimeString()}`} aria-label="Refresh" onClick={again}><Icon mark="refresh" /></button></span>
      </search>
      {shown.length + fresh.length === 0 ? <div className="empty-page"><h2>No matching workflows</h2><p>None has {words.trim()} in its name or id.</p><button className="button small" type="button" onClick={() => { change({ words: "" }); }}>Show all</button></div> : (
        <table className="fleet-table">
          <thead>
            <tr>
              <th scope="col">Workflow</th><th scope="col" className="fleet-starts">Starts</th><th scope="col" className="number fleet-runs">Runs</th><th scope="col" className="fleet-rate">Failed</th>
              <th scope="col" className="number fleet-p50">p50</th><th scope="col" className="number fleet-p95">p95</th><th scope="col" className="number fleet-cost">Cost</th>
              <th scope="col" className="fleet-next">Next</th>{hasDrafts ? <th scope="col" className="fleet-draft">Draft</th> : null}
            </tr>
          </thead>
          <tbody>
            {fresh.map((draft) => <Fresh key={draft.workflow} draft={draft} />)}
            {shown.map((one) => <Line key={one.workflow} one={one} draft={drafts.get(one.workflow) ?? null} span={view.span} />)}
          </tbody>
        </table>
      )}
    </>
  );
}

function Fresh({ draft }: { readonly draft: DraftHead }): ReactElement {
  const path = draftPath(draft.workflow);
  return (
    <tr className="fleet-still">
      <td className="fleet-name"><span className="fleet-line"><a href={hrefOf(path)} onClick={follow(path)} title={draft.workflow}>{draft.workflow}</a><span className="quiet">not published</span></span></td>
      <td className="fleet-starts" /><td className="fleet-runs" /><td className="fleet-rate" /><td className="fleet-p50" /><td className="fleet-p95" /><td className="fleet-cost" /><td className="fleet-next" />
      <td className="fleet-draft"><Draft draft={draft} /></td>
    </tr>
  );
}

function Line({ one, draft, span }: { readonly one: Listed; readonly draft: DraftHead | null; readonly span: Window }): ReactElement {
  const path = workflowPath(one.workflow);
  const runs = `/?${new URLSearchParams({ workflow: one.workflow, since: span }).toString()}`;
  const failed = `${ERRORS}?${new URLSearchParams({ workflow: one.workflow, since: span }).toString()}`;
  const since = one.at_least ? `The newest ${one.runs} runs, since ${new Date(one.since).toLocaleString()}` : undefined;
  return (
    <tr className={one.runs === 0 ? "fleet-still" : ""}>
      <td className="fleet-name">
        <span className="fleet-line">
          <a href={hrefOf(path)} onClick={follow(path)} title={`${one.name} · ${one.workflow}`}>{one.name}</a>{saysId(one.name, one.workflow) ? null : <span className="quiet fleet-id" title={one.workflow}>{one.workflow}</span>}
          <span className="quiet">v{one.version} · <When at={one.published_at} /></span>
        </span>
      </td>
      <td className="fleet-starts"><span className="fleet-marks">{one.starts.map((kind) => <span key={kind} title={kind}><Icon mark={markOf(kind)} size={14} /><span className="hidden">{kind} </span></span>)}</span></td>
      <td className="number fleet-runs">{one.runs === 0 ? <span className="quiet">no runs</span> : <a href={hrefOf(runs)} onClick={follow(runs)} title={since}>{one.runs.toLocaleString("en")}{one.at_least ? "+" : ""}<span className="fleet-word">{one.runs === 1 ? " run" : " runs"}</span></a>}</td>
      <td className="fleet-rate">
        {one.runs === 0 ? null : <span>
          {one.failure_rate === null ? <span className="quiet">—</span> : one.failure_rate === 0 ? <span className="quiet">0%</span> : <a className="fleet-failed" href={hrefOf(failed)} onClick={follow(failed)} title={since}>{percent(one.failure_rate)}</a>}
          <Spark of={one} />
        </span>}
      </td>
      <td className="number fleet-p50">{one.p50_ms === null ? "" : lasting(one.p50_ms)}</td>
      <td className="number fleet-p95">{one.p95_ms === null ? "" : <><span className="fleet-word">p95 </span>{lasting(one.p95_ms)}</>}</td>
      <td className="number fleet-cost">{one.usd === null ? "" : dollars(one.usd)}</td>
      <td className="fleet-next">{one.next_at !== null ? <><span className="fleet-word">next </span><When at={one.next_at} /></> : one.paused_schedules > 0 ? <span className="quiet">paused</span> : ""}</td>
      <DraftCell one={one} draft={draft} />
    </tr>
  );
}

function DraftCell({ one, draft }: { readonly one: Listed; readonly draft: DraftHead | null }): ReactElement | null {
  if (!useDrafts()) return null;
  return <td className="fleet-draft">{draft === null ? <OpenDraft workflow={one.workflow} version={one.version} draft={null}>Open a draft</OpenDraft> : <Draft draft={draft} />}</td>;
}

function Draft({ draft }: { readonly draft: DraftHead }): ReactElement {
  const path = draftPath(draft.workflow);
  return <><a className="button small" href={hrefOf(path)} onClick={follow(path)}>Edit</a> <span className="quiet">by {nameOf(draft.created_by) || "someone"}, <When at={draft.created_at} /></span></>;
}
