/** The schedules of a workflow: when each fires next, whether it is paused, and a firing by hand. */
import { useState, type ReactElement, type SyntheticEvent } from "react";
import { usePolled } from "../inbox/polling.ts";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { Dialog } from "../ui/dialog.tsx";
import { counted, shortId } from "../ui/words/formats.ts";
import { Icon } from "../ui/icons.tsx";
import { nameOf } from "../wire/names.ts";
import { Bones, Failed, Stale } from "../ui/loading/notices.tsx";
import { Status } from "../ui/status.tsx";
import { ago, When } from "../ui/words/times.tsx";
import { explained, requestPlain } from "../wire/api.ts";
import { serverNow } from "../wire/clock.ts";
import type { ScheduleOut } from "../wire/contract.ts";

type Schedule = ScheduleOut;

const AGAIN_MS = 20_000;
const CATCH_UP: Readonly<Record<string, string>> = {
  skip: "Missed firings start no run.", last: "Of missed firings, the last one starts a run.", all: "Each missed firing starts a run.",
};

export function Schedules({ workflow }: { readonly workflow: string }): ReactElement {
  const path = `/workflows/${encodeURIComponent(workflow)}/schedules`;
  const { found, at, error, again } = usePolled<{ readonly schedules: readonly Schedule[] }>(path, AGAIN_MS);
  if (found === null) return error === null ? <Bones lines={6} label="The schedules are loading" /> : <Failed what="Could not load the schedules." error={error} again={again} />;
  return (
    <section aria-label="Schedules">
      {error === null ? null : <Stale error={error} at={at} again={again} />}
      {found.schedules.length === 0 ? (
        <div className="empty-page"><h2>No schedule starts this workflow</h2>
          <p>Add a node of the kind <code>schedule</code>, and publish the workflow.</p>
          <pre tabIndex={0} aria-label="Example"><code>{"night: {type: schedule, with: {cron: \"15 2 * * *\", timezone: Europe/Berlin}}"}</code></pre></div>
      ) : <ul className="schedules">{found.schedules.map((one) => <Line key={one.node} one={one} path={`${path}/${encodeURIComponent(one.node)}`} again={again} />)}</ul>}
    </section>
  );
}

interface Outcome {
  readonly text: string;
  readonly failed: boolean;
  readonly run: string | null;
}

function Line({ one, path, again }: { readonly one: Schedule; readonly path: string; readonly again: () => void }): ReactElement {
  const [said, setSaid] = useState<Outcome | null>(null);
  const [busy, setBusy] = useState(false);
  const [asks, setAsks] = useState(false);
  const act = (verb: "fire" | "resume"): void => {
    setBusy(true);
    setSaid(null);
    requestPlain("POST", `${path}/${verb}`, {}).then((answer) => {
      const made = answer as { readonly run_id?: string; readonly started?: readonly string[] };
      if (verb === "fire") setSaid({ text: "A run was started.", failed: false, run: made.run_id ?? null });
      else setSaid({ text: (made.started ?? []).length === 0 ? "The schedule is resumed." : `The schedule is resumed. ${counted((made.started ?? []).length, "run")} started for missed firings.`, failed: false, run: null });
      again();
    }, (error: unknown) => {
      const { why, mend } = explained(error);
      setSaid({ text: `${why} ${mend}`.trim(), failed: true, run: null });
    }).finally(() => { setBusy(false); });
  };
  return (
    <li className="schedule">
      <div className="schedule-head">
        <h2><Icon mark="schedule" /> {one.node}</h2>
        <span>{one.cron === null ? `every ${one.rate ?? ""}` : <><code>{one.cron}</code> <span className="quiet">{one.timezone}</span></>}</span>
        {one.paused === null ? null : <Status status="held">{one.paused.ending ? "being resumed" : "paused"}</Status>}
        <span className="head-gap" />
        <span className="schedule-do">
        <button className="button small" type="button" disabled={busy} onClick={() => { act("fire"); }}>Fire now</button>
        {one.paused === null ? <button className="button small" type="button" disabled={busy} onClick={() => { setAsks(true); }}>Pause…</button>
          : <button className="button small" type="button" disabled={busy} onClick={() => { act("resume"); }}>Resume</button>}
        </span>
      </div>
      {one.paused === null ? <Upcoming at={one.upcoming} /> : <Paused pause={one.paused} />}
      <p className="quiet"><Last firing={one.last} /> {CATCH_UP[one.catch_up ?? ""]}</p>
      <p role="status" className={said?.failed === true ? "fault" : "schedule-said"}>{said === null ? "" : <>{said.text} {said.run === null ? null : <Run id={said.run} />}</>}</p>
      {asks ? <Pausing one={one} path={path} close={(isPaused) => { setAsks(false); if (isPaused) again(); }} /> : null}
    </li>
  );
}

function Paused({ pause }: { readonly pause: NonNullable<Schedule["paused"]> }): ReactElement {
  return <p>Paused <When at={pause.at} />{pause.by === null ? "" : ` by ${nameOf(pause.by)}`}{pause.reason === null ? "." : `: ${pause.reason}`}</p>;
}

function Last({ firing }: { readonly firing: Schedule["last"] }): ReactElement {
  if (firing === null) return <>It has not fired yet.</>;
  return <>Last fired <When at={firing.at} />{firing.run_id === null ? <>, without a run: <code>{firing.code}</code>.</> : <>: <Run id={firing.run_id} />.</>}</>;
}

function Run({ id }: { readonly id: string }): ReactElement {
  return <a href={hrefOf(runPath(id))} onClick={follow(runPath(id))} title={id}>run <code>{shortId(id)}</code></a>;
}

function Upcoming({ at }: { readonly at: readonly string[] }): ReactElement {
  if (at.length === 0) return <p className="quiet">No next firing is known: there is none, or the first is still to be scheduled.</p>;
  return (
    <ol className="upcoming" aria-label="Next times">
      {at.map((one, place) => <li key={one}><time dateTime={one}>{new Date(one).toLocaleString(undefined, { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", ...(place === 0 ? { timeZoneName: "short" } : {}) })}</time>{place === 0 ? <span className="quiet"> {ago(Date.parse(one), serverNow())}</span> : null}</li>)}
    </ol>
  );
}

function Pausing({ one, path, close }: { readonly one: Schedule; readonly path: string; readonly close: (isPaused: boolean) => void }): ReactElement {
  const [reason, setReason] = useState("");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setBusy(true);
    requestPlain("POST", `${path}/pause`, { reason: reason.trim() }).then(() => { close(true); }, (error: unknown) => {
      setBusy(false);
      const { why, mend } = explained(error);
      setFault(`${why} ${mend}`.trim());
    });
  };
  return (
    <Dialog title={`Pause ${one.node}?`} close={() => { close(false); }}>
      <form onSubmit={submit}>
        <div className="dialog-body">
          <p>It starts no runs until it is resumed, even after a new version is published. {CATCH_UP[one.catch_up ?? "skip"]}</p>
          <label><span className="label">Reason (required), shown to everyone</span><textarea className="field prose" rows={2} maxLength={2_000} required data-first value={reason} onChange={(event) => { setReason(event.target.value); }} /></label>
          <p className="fault" role="alert">{fault}</p>
        </div>
        <div className="dialog-foot">
          <button className="button" type="button" onClick={() => { close(false); }}>Cancel</button>
          <button className="button first" type="submit" disabled={busy || reason.trim() === ""}>Pause the schedule</button>
        </div>
      </form>
    </Dialog>
  );
}
