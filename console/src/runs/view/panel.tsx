/** What is known of a node: its instances, and of one of them what it was called with, input, output, error, attempts and logs. */
import { useEffect, useState, type ReactElement } from "react";
import { isList, isObject, textAt, type Json, type JsonObject } from "../../editing/values.ts";
import { runPath } from "../../ui/addresses.ts";
import { CopyButton } from "../../ui/copying.tsx";
import { lasting } from "../../ui/formats.ts";
import { Icon } from "../../ui/icons.tsx";
import { JsonView } from "../../ui/json.tsx";
import { Bones } from "../../ui/notices.tsx";
import { Status } from "../../ui/status.tsx";
import { When } from "../../ui/times.tsx";
import { explained, request, requestPlain } from "../../wire/api.ts";
import { attemptsOf, type Attempt } from "./attempts.ts";
import { nameOf, pathOf, said, total, turnsOf, turnsSaid } from "./counts.ts";
import type { RunLook } from "./store.ts";
import type { EventPage, RunEvent, TimePage } from "./types.ts";

export interface PanelProps {
  readonly id: string;
  readonly look: RunLook;
  readonly path: string;
  readonly instance: string;
  readonly beside: string; // a run to compare with
  readonly onInstance: (instance: string) => void;
  readonly onEvent: (event: number) => void;
  readonly onRerun: (node: string) => void;
  readonly onTimeline: (path: string) => void;
  readonly onClose: () => void;
}

export function Panel(props: PanelProps): ReactElement {
  const { look, path, instance, onRerun, onClose } = props;
  const summary = look.nodes.get(path);
  const block = look.graph?.blocks.get(path);
  return (
    <aside className="panel" aria-label={`Node ${nameOf(path)}`}>
      <header className="panel-head">
        <div>
          <h2 className="cut" title={path}>{nameOf(path)}</h2>
          <p className="quiet">{block?.type ?? ""}{summary === undefined ? " · not started" : total(summary.counts) > 1 ? ` · ${said(summary.counts)}` : ""}{summary !== undefined && summary.turns > 0 ? ` · ${turnsSaid(summary)}` : ""}</p>
        </div>
        <span className="head-gap" />
        {path.includes("@") || look.head?.draft !== null ? null : <button className="button small" type="button" onClick={() => { onRerun(path); }}>Rerun from here…</button>}
        <button className="tool" type="button" aria-label="Close" title="Close (Esc)" onClick={onClose}><Icon mark="close" /></button>
      </header>
      <div className="panel-body">
        {summary !== undefined && total(summary.counts) > 1 ? <Instances {...props} /> : null}
        {instance === "" ? (summary === undefined ? <p className="quiet">Nothing has happened to this node in this run.</p> : null) : <Instance key={instance} {...props} />}
      </div>
    </aside>
  );
}

/** The first instance to show: the first that failed, else the first of all. */
export function useFirst(id: string, path: string, look: RunLook): string {
  const [found, setFound] = useState<readonly [path: string, instance: string]>(["", ""]);
  const summary = look.nodes.get(path);
  const failed = summary?.failed[0] ?? "";
  const wanted = path !== "" && summary !== undefined && failed === "";
  useEffect(() => {
    if (!wanted) return;
    let left = false;
    requestPlain("GET", `${runPath(id)}/timeline?node=${encodeURIComponent(path)}&limit=1`).then((page) => {
      const first = (page as TimePage).rows.find((row) => row.path === path);
      if (!left) setFound([path, first?.instance ?? ""]);
    }, () => { if (!left) setFound([path, ""]); });
    return () => { left = true; };
  }, [id, path, wanted]);
  if (failed !== "") return failed;
  return found[0] === path ? found[1] : path.includes("@") ? "" : path;
}

function Instances({ look, path, instance, onInstance, onTimeline }: PanelProps): ReactElement {
  const summary = look.nodes.get(path);
  const [typed, setTyped] = useState("");
  const failed = summary?.failed ?? [];
  const count = summary?.counts["failed"] ?? 0;
  return (
    <section className="panel-instances" aria-label="Instances">
      {failed.length === 0 ? null : (
        <div><span className="label">{count === 1 ? "The one that failed" : `Of ${count.toLocaleString("en")} that failed, the first`}</span>
          <ul>{failed.map((one) => <li key={one}><button type="button" className="link" aria-pressed={one === instance} onClick={() => { onInstance(one); }}><Status status="failed">{turnsOf(one) || one}</Status></button></li>)}</ul></div>
      )}
      <form onSubmit={(event) => { event.preventDefault(); if (typed.trim() !== "") onInstance(typed.trim()); }}>
        <label className="label" htmlFor="panel-instance">Instance</label>
        <span className="panel-pick"><input id="panel-instance" className="field" value={typed === "" ? instance : typed} spellCheck={false} onChange={(event) => { setTyped(event.target.value); }} onBlur={() => { setTyped(""); }} />
          <button className="button small" type="button" onClick={() => { onTimeline(path); }}>All by time</button></span>
      </form>
    </section>
  );
}

interface Read {
  readonly record: JsonObject | null;
  readonly events: readonly RunEvent[];
  readonly beside: JsonObject | null;
}

async function read(id: string, instance: string, beside: string): Promise<Read> {
  const name = encodeURIComponent(instance);
  const one = async (run: string): Promise<JsonObject | null> => {
    const found = await request("GET", `${runPath(run)}/nodes?limit=1&instance=${name}`);
    const nodes = isObject(found) ? found.get("nodes") : null;
    const first = isList(nodes) ? nodes[0] : undefined;
    return isObject(first) ? first : null;
  };
  const [record, events, other] = await Promise.all([one(id), eventsOf(id, name), beside === "" ? null : one(beside)]);
  return { record, events, beside: other };
}

const MAX_PAGES = 10;

async function eventsOf(id: string, name: string): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  let after = 0;
  for (let round = 0; round < MAX_PAGES; round += 1) {
    const page = await requestPlain("GET", `${runPath(id)}/events?instance=${name}&limit=500&afterEventId=${after}`) as EventPage;
    events.push(...page.events);
    if (page.ended || page.cursor === after || page.events.some(({ type }) => /^node\.(completed|failed|timed_out|cancelled|skipped|blocked)$/.test(type))) break;
    after = page.cursor;
  }
  return events;
}

function Instance({ id, look, instance, beside, onEvent }: PanelProps): ReactElement {
  const [found, setFound] = useState<Read | null>(null);
  const [error, setError] = useState<unknown>(null);
  const stands = JSON.stringify(look.nodes.get(pathOf(instance))?.counts ?? {});
  useEffect(() => {
    let left = false;
    read(id, instance, beside).then((made) => { if (!left) { setFound(made); setError(null); } }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [id, instance, beside, stands]);
  if (error !== null) return <p className="fault" role="alert">{explained(error).why} {explained(error).mend}</p>;
  if (found === null) return <Bones lines={8} label="The node is loading" />;
  if (found.record === null) return <p className="quiet">There is no instance <code>{instance}</code> in this run.</p>;
  return <Shown instance={instance} record={found.record} found={found} onEvent={onEvent} />;
}

function Shown({ instance, record, found, onEvent }: { readonly instance: string; readonly record: JsonObject; readonly found: Read; readonly onEvent: (event: number) => void }): ReactElement {
  const attempts = attemptsOf(found.events);
  const name = nameOf(instance);
  const usage = record.get("usage") ?? null;
  const error = record.get("error") ?? null;
  return (
    <>
      <dl className="facts">
        <dt>Status</dt><dd><Status status={textAt(record, "status")} />{textAt(record, "reason") === "" ? null : <span className="quiet"> {textAt(record, "reason")}</span>}</dd>
        {turnsOf(instance) === "" ? null : <><dt>Where</dt><dd>{turnsOf(instance)}</dd></>}
        <dt>Instance</dt><dd><code className="cut" title={instance}>{instance}</code><CopyButton text={location.href} what="a link to it" /></dd>
        <Times record={record} />
      </dl>
      <Failure record={record} />
      <Attempts attempts={attempts} onEvent={onEvent} />
      <Calls record={record} />
      <JsonView value={record.get("inputs") ?? null} label="Input" />
      {record.get("status") === "completed" ? <JsonView value={record.get("output") ?? null} label="Output" reference={name} /> : null}
      {found.beside === null ? null : <JsonView value={found.beside.get("output") ?? null} label="Output in the other run" />}
      {isObject(record.get("waiting")) ? <JsonView value={record.get("waiting") ?? null} label="Waits for" /> : null}
      {isObject(usage) && usage.size > 0 ? <JsonView value={usage} label="Usage" /> : null}
      {isObject(error) && error.size > 3 ? <JsonView value={error} label="Error" /> : null}
    </>
  );
}

function Times({ record }: { readonly record: JsonObject }): ReactElement | null {
  const [begin, end] = [textAt(record, "started_at"), textAt(record, "ended_at")];
  if (begin === "") return null;
  return <><dt>Started</dt><dd><When at={begin} /><span className="quiet">· {new Date(begin).toLocaleTimeString()}</span></dd>{end === "" ? null : <><dt>Took</dt><dd>{lasting(Date.parse(end) - Date.parse(begin))}</dd></>}</>;
}

function Failure({ record }: { readonly record: JsonObject }): ReactElement | null {
  const error = record.get("error");
  if (!isObject(error)) return null;
  const exception = record.get("exception");
  const stack = isObject(exception) ? textAt(exception, "traceback") : "";
  return (
    <>
      <section className="failure" aria-label="Error"><p><code>{textAt(error, "code")}</code> {textAt(error, "message")}</p></section>
      {stack === "" ? null : <section aria-label="Stack"><h3>Stack</h3><pre className="stack" tabIndex={0} aria-label="Stack">{stack}</pre></section>}
    </>
  );
}

function Attempts({ attempts, onEvent }: { readonly attempts: readonly Attempt[]; readonly onEvent: (event: number) => void }): ReactElement | null {
  const logs = attempts.some((attempt) => attempt.logs.length > 0);
  if (attempts.length < 2 && !logs) return null;
  return (
    <section aria-label="Attempts">
      <h3>Attempts</h3>
      <ol className="attempts">
        {attempts.map((attempt) => (
          <li key={attempt.event} id={`attempt-${attempt.number}`}>
            <p><b>{attempt.number}</b> <Status status={attempt.outcome} /> <span className="quiet">{new Date(attempt.began).toLocaleTimeString()}{attempt.ended === null ? "" : ` · ${lasting(Date.parse(attempt.ended) - Date.parse(attempt.began))}`}</span>
              <button type="button" className="link" onClick={() => { onEvent(attempt.event); }}>event {attempt.event}</button></p>
            {attempt.said === "" ? null : <p className="said">{attempt.said}</p>}
            {attempt.logs.length === 0 ? null : <pre className="logs" tabIndex={0} aria-label={`Logs of attempt ${attempt.number}`}>{attempt.logs.map((log) => `${log.at.slice(11, 23)}  ${log.text}`).join("\n")}</pre>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Calls({ record }: { readonly record: JsonObject }): ReactElement | null {
  const calls = record.get("calls");
  const last: Json | undefined = isList(calls) ? calls.at(-1) : undefined;
  if (!isObject(last)) return null;
  const params = last.get("params") ?? null;
  return <JsonView value={params} label="Called with" />;
}
