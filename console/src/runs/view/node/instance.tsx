/** Shows one instance: status, times, error with stack, attempts with logs, call, expressions, input and output. */
import { useEffect, useRef, useState, type ReactElement } from "react";
import { isList, isObject, textAt, type Json, type JsonObject } from "../../../editing/values/values.ts";
import { follow, hrefOf, runPath, useAddress } from "../../../ui/addresses.ts";
import { CopyButton } from "../../../ui/copying.tsx";
import { lasting, shortId } from "../../../ui/words/formats.ts";
import { JsonView } from "../../../ui/json.tsx";
import { Bones, Fault, Stale } from "../../../ui/loading/notices.tsx";
import { When } from "../../../ui/words/times.tsx";
import { Status } from "../../../ui/status.tsx";
import { request, requestPlain } from "../../../wire/api.ts";
import { attemptsOf, type Attempt } from "./attempts.ts";
import { nameOf, pathOf, turnsOf } from "../../../runstate/counts.ts";
import { apart } from "../large.ts";
import { RunValue } from "../value.tsx";
import { Conditions, Expressions } from "./expressions.tsx";
import type { PanelProps } from "./props.ts";
import { loopedOf, turnOf } from "./told.ts";
import type { EventPage, RunEvent } from "../../../runstate/types.ts";

interface Read {
  readonly record: JsonObject | null;
  readonly events: readonly RunEvent[];
  readonly beside: JsonObject | null;
  readonly at: number; // when it was read, by this machine's clock
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
  return { record, events, beside: other, at: Date.now() };
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

export function Instance({ id, look, instance, beside, onEvent }: PanelProps): ReactElement {
  const [found, setFound] = useState<Read | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const stands = JSON.stringify(look.nodes.get(pathOf(instance))?.counts ?? {});
  useEffect(() => {
    let left = false;
    read(id, instance, beside).then((made) => { if (!left) { setFound(made); setError(null); } }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [id, instance, beside, stands, attempt]);
  if (error !== null && found === null) return <Fault error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />;
  if (found === null) return <Bones lines={8} label="The node is loading" />;
  if (found.record === null) return <p className="quiet">No instance <code>{instance}</code> in this run.</p>;
  return (
    <>
      {error === null ? null : <Stale error={error} at={found.at} again={() => { setAttempt(attempt + 1); }} />}
      <Shown id={id} other={beside} instance={instance} record={found.record} found={found} document={look.document} onEvent={onEvent} />
    </>
  );
}

function Shown({ id, other, instance, record, found, document, onEvent }: {
  readonly id: string; readonly other: string; readonly instance: string; readonly record: JsonObject; readonly found: Read; readonly document: JsonObject | null; readonly onEvent: (event: number) => void;
}): ReactElement {
  const call = lastCall(record);
  const attempts = attemptsOf(found.events);
  const name = nameOf(instance);
  const usage = record.get("usage") ?? null;
  return (
    <>
      <Facts instance={instance} record={record} events={found.events} />
      <Failure record={record} />
      <Attempts attempts={attempts} onEvent={onEvent} />
      {call === null ? null : <Expressions document={document} path={pathOf(instance)} call={call.params} />}
      <Decided instance={instance} record={record} document={document} />
      {call === null || call.shown.size === 0 ? null : <JsonView value={call.shown} label="Called with" />}
      <RunValue run={id} value={record.get("inputs") ?? null} label="Input" />
      {record.get("status") === "completed" ? <RunValue run={id} value={record.get("output") ?? null} label="Output" reference={name} /> : null}
      {found.beside === null ? null : <RunValue run={other} value={found.beside.get("output") ?? null} label="Output in the other run" />}
      {isObject(record.get("waiting")) ? <RunValue run={id} value={record.get("waiting") ?? null} label="Waits for" /> : null}
      {isObject(usage) && usage.size > 0 ? <JsonView value={usage} label="Usage" /> : null}
      <WholeError id={id} error={record.get("error") ?? null} />
    </>
  );
}

/** What a container was decided by, and the conditions on the edges of a node. */
function Decided({ instance, record, document }: { readonly instance: string; readonly record: JsonObject; readonly document: JsonObject | null }): ReactElement {
  const [looped, turn] = [loopedOf(record), turnOf(record)];
  return (
    <>
      {looped.size === 0 ? null : <Expressions document={document} path={pathOf(instance)} call={looped} note={turn === null ? "" : `before iteration ${turn}`} />}
      <Conditions record={record} />
    </>
  );
}

function Facts({ instance, record, events }: { readonly instance: string; readonly record: JsonObject; readonly events: readonly RunEvent[] }): ReactElement {
  const [exit, child] = [exitOf(events), childOf(events)];
  return (
    <dl className="facts">
      <dt>Status</dt><dd><Status status={textAt(record, "status")} />{textAt(record, "reason") === "" ? null : <span className="quiet"> {textAt(record, "reason")}</span>}</dd>
      {turnsOf(instance) === "" ? null : <><dt>Iteration</dt><dd>{turnsOf(instance)}</dd></>}
      <dt>Instance</dt><dd><code className="cut" title={instance}>{instance}</code><CopyButton text={location.href} what="a link to it" /></dd>
      {exit === "" ? null : <><dt>Exit</dt><dd><code>{exit}</code></dd></>}
      {child === "" ? null : <><dt>Child run</dt><dd><a href={hrefOf(runPath(child))} onClick={follow(runPath(child))} title={child}><code>{shortId(child)}</code></a></dd></>}
      <Times record={record} />
    </dl>
  );
}

function Times({ record }: { readonly record: JsonObject }): ReactElement | null {
  const [begin, end] = [textAt(record, "started_at"), textAt(record, "ended_at")];
  if (begin === "") return null;
  return <><dt>Started</dt><dd><When at={begin} /></dd>{end === "" ? null : <><dt>Duration</dt><dd>{lasting(Date.parse(end) - Date.parse(begin))}</dd></>}</>;
}

/** The fields of the error other than its code and message. */
function WholeError({ id, error }: { readonly id: string; readonly error: Json }): ReactElement | null {
  return isObject(error) && (error.size > 3 || apart(error).large.length > 0) ? <RunValue run={id} value={error} label="Full error" /> : null;
}

function Failure({ record }: { readonly record: JsonObject }): ReactElement | null {
  const error = record.get("error");
  if (!isObject(error)) return null;
  const exception = record.get("exception");
  const stack = isObject(exception) ? textAt(exception, "traceback") : "";
  return (
    <>
      <section className="failure" aria-label="Error"><p><code>{textAt(error, "code")}</code> {textAt(error, "message")}</p></section>
      {stack === "" ? null : <section aria-label="Stack of the error"><h3>Stack</h3><pre className="stack" tabIndex={0} aria-label="Stack">{stack}</pre></section>}
    </>
  );
}

function Attempts({ attempts, onEvent }: { readonly attempts: readonly Attempt[]; readonly onEvent: (event: number) => void }): ReactElement | null {
  const { path, query } = useAddress();
  const chosen = query.get("attempt");
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => { list.current?.querySelector(".chosen")?.scrollIntoView({ block: "nearest" }); }, [chosen, attempts.length]);
  const addressOf = (number: number): string => `${path}?${new URLSearchParams([...[...query].filter(([name]) => name !== "attempt"), ["attempt", String(number)]]).toString()}`;
  const logs = attempts.some((attempt) => attempt.logs.length > 0);
  if (attempts.length < 2 && !logs) return null;
  return (
    <section aria-label="Attempts">
      <h3>Attempts</h3>
      <ol className="attempts" ref={list}>
        {attempts.map((attempt) => (
          <li key={attempt.event} className={String(attempt.number) === chosen ? "chosen" : ""}>
            <p><a href={hrefOf(addressOf(attempt.number))} onClick={follow(addressOf(attempt.number))} title="A link to this attempt"><b>{attempt.number}</b></a> <Status status={attempt.outcome} /> <span className="quiet">{new Date(attempt.began).toLocaleTimeString()}{attempt.ended === null ? "" : ` · ${lasting(Date.parse(attempt.ended) - Date.parse(attempt.began))}`}</span>
              <button type="button" className="link" onClick={() => { onEvent(attempt.event); }}>event {attempt.event}</button></p>
            {attempt.said === "" ? null : <p className="said">{attempt.said}</p>}
            {attempt.logs.length === 0 ? null : <pre className="logs" tabIndex={0} aria-label={`Logs of attempt ${attempt.number}`}>{attempt.logs.map((log) => `${clockOf(log.at)}  ${log.text}`).join("\n")}</pre>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** By the clock of the reader, to the millisecond. */
function clockOf(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
}

interface LastCall {
  readonly params: JsonObject;
  readonly shown: JsonObject; // with the first characters of those that are too large to show
}

function lastCall(record: JsonObject): LastCall | null {
  const calls = record.get("calls");
  const last: Json | undefined = isList(calls) ? calls.at(-1) : undefined;
  const params = isObject(last) ? last.get("params") : undefined;
  if (!isObject(last) || !isObject(params)) return null;
  const previews = last.get("previews");
  const begun = isObject(previews) ? [...previews].map(([name, text]) => [name, typeof text === "string" ? `${text}…` : text] as const) : [];
  return { params, shown: new Map([...params, ...begun]) };
}

/** The exit by which it left, where that is not the usual one; empty where it left by none. */
function exitOf(events: readonly RunEvent[]): string {
  const handle = events.findLast(({ type }) => type === "node.completed")?.payload["handle"];
  return typeof handle === "string" && handle !== "source" ? handle : "";
}

const SHARD = "shd_"; // the beginning of the ids of runs that have no page

/** The run that it has started. */
function childOf(events: readonly RunEvent[]): string {
  const details = events.findLast(({ type, payload }) => type === "node.waiting" && payload["reason"] === "subrun")?.payload["details"];
  return typeof details === "object" && details !== null && "run" in details && typeof details.run === "string" && !details.run.startsWith(SHARD) ? details.run : "";
}
