/** The head of a run: what it is, how it stands, and what can be done with it. */
import { useEffect, useState, type ReactElement } from "react";
import { draftPath, follow, hrefOf, runPath, versionPath } from "../../ui/addresses.ts";
import { CopyButton } from "../../ui/copying.tsx";
import { useDrafts } from "../../ui/drafts.ts";
import { counted, lasting, shortId } from "../../ui/words/formats.ts";
import { nameOf } from "../../wire/names.ts";
import { Status } from "../../ui/status.tsx";
import { inOwnZone } from "../../ui/words/instants.ts";
import { When } from "../../ui/words/times.tsx";
import { explained } from "../../wire/api.ts";
import type { Question } from "./asking.tsx";
import { FAILED } from "./asking.tsx";
import { awaited, type Awaited } from "./mailbox/reading.ts";
import { downloadHistory } from "./history.ts";
import { nextMessage } from "../../messages/receivable.ts";
import type { RunLook } from "../../runstate/store.ts";
import type { Overview, Pause } from "../../runstate/types.ts";
import { isUnsuccessful } from "../../wire/statuses.ts";

const TICK_MS = 1_000;

export function Header({ id, look, head, onAsk }: { readonly id: string; readonly look: RunLook; readonly head: Overview; readonly onAsk: (question: Question) => void }): ReactElement {
  const list = `/?workflow=${encodeURIComponent(head.workflow)}`;
  const ended = look.ended || head.ended_at !== null; // the head may be here before the rest
  const status = head.held !== null && !ended ? "held" : head.status;
  return (
    <header className="run-head">
      <div className="run-title">
        <h1><a href={hrefOf(list)} onClick={follow(list)} title="Runs of this workflow">{head.workflow}</a>{head.number === null ? null : <span className="quiet"> #{head.number}</span>}</h1>
        <span className="run-status" role="status"><Status status={status}>{ended ? head.status === "completed" ? head.summary : undefined : `${status === "paused" ? "paused, " : ""}${inOwnZone(head.summary)}`}</Status></span>
        <Actions id={id} look={look} head={head} ended={ended} onAsk={onAsk} />
      </div>
      <p className="run-facts quiet">
        <span><code title={id}>{shortId(id)}</code><CopyButton text={id} what="the id" /></span>
        <Facts id={id} look={look} head={head} ended={ended} />
        <Lineage id={id} head={head} />
      </p>
      {head.error === null ? null : <Failure id={id} error={head.error} />}
      {head.held === null || ended ? null : <p className="run-held">Held{head.held.by === null ? "" : ` by ${head.held.by}`} <When at={head.held.at} />{head.held.reason === null ? "" : `: ${head.held.reason}`}</p>}
      {ended ? null : <Questions id={id} head={head} onAsk={onAsk} />}
    </header>
  );
}

/** What made the run fail, with the way to the node. */
function Failure({ id, error }: { readonly id: string; readonly error: NonNullable<Overview["error"]> }): ReactElement {
  const { node = "" } = error;
  const path = `${runPath(id)}?${new URLSearchParams({ instance: node }).toString()}`;
  return <p className="run-error"><code>{error.code}</code> {node === "" ? null : <><a href={hrefOf(path)} onClick={follow(path)} title="Node details">{node}</a>: </>}{error.message}</p>;
}

/** Where the run comes from: the run that called it, the run that it repeats. */
function Lineage({ id, head: { parent, rerun } }: { readonly id: string; readonly head: Overview }): ReactElement | null {
  const link = (run: string, query: string, what: string): ReactElement => <a href={hrefOf(runPath(run) + query)} onClick={follow(runPath(run) + query)} title={`${run}${what}`}><code>{shortId(run)}</code></a>;
  return (
    <>
      {parent === null ? null : <span>child of {link(parent.run, `?${new URLSearchParams({ instance: parent.instance }).toString()}`, `, ${parent.instance}`)}</span>}
      {rerun === null ? null : <span title={rerun.reason ?? undefined}>rerun of {link(rerun.of, "", "")}{rerun.from === null ? "" : ` from ${rerun.from === FAILED ? "the failed nodes" : rerun.from}`}{rerun.by === null ? "" : ` by ${nameOf(rerun.by)}`}{" "}
        <a href={hrefOf(`${runPath(id)}?tab=compare&with=${rerun.of}`)} onClick={follow(`${runPath(id)}?tab=compare&with=${rerun.of}`)}>compare</a></span>}
    </>
  );
}

function Facts({ id, look, head, ended }: { readonly id: string; readonly look: RunLook; readonly head: Overview; readonly ended: boolean }): ReactElement {
  const isLive = look.live || look.at === 0; // or about to be
  return (
    <>
      {head.version === null ? null : <a href={hrefOf(versionPath(head.workflow, head.version))} onClick={follow(versionPath(head.workflow, head.version))} title="The version of this run">v{head.version}</a>}
      {head.draft === null ? null : <span>test run of the draft, item {head.draft.seq}{head.draft.pins.length === 0 ? "" : ` · pinned: ${head.draft.pins.join(", ")}`}{head.draft.stop_after === null ? "" : ` · stops after ${head.draft.stop_after}`}{head.draft.from === null ? "" : ` · begins at ${head.draft.from}`}</span>}
      {head.key === null ? null : <span>key <Key of={head.key} /></span>}
      <span>{head.started_at === null ? "created" : "started"} <When at={head.started_at ?? head.created_at} /></span>
      <span>{ended ? `took ${lasting(head.duration_ms)}` : <><Took look={look} head={head} /> so far</>}</span>
      <span>{counted(head.steps, "step")}</span>
      <Unread id={id} head={head} />
      {head.keywords.map((word) => <span key={word} className="word">{word}</span>)}
      {ended ? null : <span className={isLive ? "feed live" : "feed"}>{isLive ? "live" : "not live"}</span>}
    </>
  );
}

/** The way to the messages that no node has taken. */
function Unread({ id, head: { unread, unread_left_out: more = 0 } }: { readonly id: string; readonly head: Overview }): ReactElement | null {
  const path = `${runPath(id)}?tab=messages`;
  return unread.length === 0 ? null : <a href={hrefOf(path)} onClick={follow(path)}>{counted(unread.length + more, "unread message")}</a>;
}

const MAX_PAUSES = 5;

/** What the run waits for, except for times; of many the first. */
function Questions({ id, head, onAsk }: { readonly id: string; readonly head: Overview; readonly onAsk: (question: Question) => void }): ReactElement {
  const asked = head.pauses.filter((pause) => pause.resume_at === null);
  const more = asked.length - MAX_PAUSES + (head.pauses_left_out ?? 0);
  const timeline = `${runPath(id)}?tab=timeline&status=waiting`;
  return (
    <>
      {asked.slice(0, MAX_PAUSES).map((pause) => <Asked key={pause.pause} pause={pause} runKey={head.key} onAsk={onAsk} />)}
      {more > 0 ? <p className="hint">It waits for <a href={hrefOf(timeline)} onClick={follow(timeline)}>{more.toLocaleString("en")} more</a>.</p> : null}
    </>
  );
}

function Asked({ pause, runKey, onAsk }: { readonly pause: Pause; readonly runKey: string | null; readonly onAsk: (question: Question) => void }): ReactElement {
  const expected = awaited(pause, runKey, null);
  const { message } = pause.details;
  return (
    <p className="run-question"><Status status="waiting">{pause.node}</Status>
      <span className="cut">{expected === null ? typeof message === "string" ? message : pause.reason.replaceAll("_", " ") : <Expected one={expected} />}</span>
      {expected === null ? null : <button className="button small" type="button" onClick={() => { onAsk({ is: "send", name: expected.message }); }}>Send…</button>}
      {pause.resume === null ? null : <a className="button small" href={pause.resume} target="_blank" rel="noreferrer">Answer…</a>}</p>
  );
}

/** A key on one line, the whole in its title. */
function Key({ of }: { readonly of: string }): ReactElement {
  return <code className="run-key cut" title={of}>{of}</code>;
}

function Expected({ one: { message, keys, deadline } }: { readonly one: Awaited }): ReactElement {
  return (
    <>waits for the message <b>{message}</b>{keys.length === 0 ? "" : <> (key {keys.map((key, place) => <span key={key}>{place === 0 ? "" : " or "}<Key of={key} /></span>)})</>}
      {deadline === null ? "" : <> until <time dateTime={deadline} title={new Date(deadline).toLocaleString()}>{inOwnZone(deadline)}</time></>}</>
  );
}

/** Before the rest of the run is here, as long as its head says: nothing moves when it comes. */
function Took({ look, head }: { readonly look: RunLook; readonly head: Overview }): ReactElement {
  const lasted = look.at === 0 ? head.duration_ms : look.lasted;
  const [now, setNow] = useState(0);
  const [since, setSince] = useState(Date.now());
  useEffect(() => { setSince(Date.now()); }, [lasted]);
  useEffect(() => {
    const timer = setInterval(() => { setNow(Date.now()); }, TICK_MS);
    return () => { clearInterval(timer); };
  }, []);
  return <>{lasting(lasted + Math.max(0, now - since))}</>;
}

function Actions({ id, look, head, ended, onAsk }: { readonly id: string; readonly look: RunLook; readonly head: Overview; readonly ended: boolean; readonly onAsk: (question: Question) => void }): ReactElement {
  const [said, setSaid] = useState("");
  const download = (): void => {
    setSaid("Reading… 0 %");
    downloadHistory(id, look.sequence, (share) => { setSaid(`Reading… ${Math.round(share * 100)} %`); }).then(() => { setSaid(""); }, (error: unknown) => { setSaid(explained(error).why); });
  };
  return (
    <div className="run-actions" role="group" aria-label="Actions">
      {ended || head.messages.length === 0 ? null : <button className="button small" type="button" onClick={() => { onAsk({ is: "send", name: nextMessage(head) }); }}>Send a message…</button>}
      {ended ? null : head.held === null ? <button className="button small" type="button" onClick={() => { onAsk({ is: "hold" }); }}>Hold…</button>
        : <button className="button small" type="button" onClick={() => { onAsk({ is: "release" }); }}>Release…</button>}
      {ended ? null : <button className="button small danger" type="button" onClick={() => { onAsk({ is: "cancel" }); }}>Cancel…</button>}
      {head.draft === null ? <button className="button small" type="button" onClick={() => { onAsk({ is: "rerun", from: isUnsuccessful(head.status) ? FAILED : "" }); }}>Rerun…</button>
        : <OfDraft path={draftPath(head.workflow)} />}
      <CopyButton text={`stepless runs show ${id} --url ${location.origin}`} what="as a command">Copy as command</CopyButton>
      <button className="button small" type="button" disabled={said.startsWith("Reading")} onClick={download}>{said === "" ? "Download history" : said}</button>
    </div>
  );
}

/** The way to the draft of a test run. */
function OfDraft({ path }: { readonly path: string }): ReactElement | null {
  return useDrafts() ? <a className="button small" href={hrefOf(path)} onClick={follow(path)}>Open the draft</a> : null;
}
