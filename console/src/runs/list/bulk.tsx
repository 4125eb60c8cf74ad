/** The dialog of a change of many runs: what it would do, why it is done, how far it is, what became of each run. */
import { useEffect, useRef, useState, type ReactElement, type SyntheticEvent } from "react";
import { follow, hrefOf, runPath } from "../../ui/addresses.ts";
import { Icon } from "../../ui/icons.tsx";
import { counted, shortId } from "../../ui/words/formats.ts";
import { Fault } from "../../ui/loading/notices.tsx";
import { Status } from "../../ui/status.tsx";
import { explained } from "../../wire/api.ts";
import { carryOut, survey, type Action, type Progress, type Scope, type Survey } from "./changing.ts";
import { isUnsuccessful } from "../../wire/statuses.ts";

const VERBS: Readonly<Record<Action, readonly [verb: string, done: string, said: string]>> = {
  rerun: ["Rerun", "started again", "Each starts a new run of the same version. The old runs do not change."],
  cancel: ["Cancel", "cancelled", "Running nodes are interrupted. This cannot be undone; a cancelled run can be run again."],
  hold: ["Hold", "held", "Nothing new starts in them until they are released. Attempts in progress finish."],
  release: ["Release", "released", "They continue from where they stopped."],
};
const BEGINNINGS = ["failed", null] as const; // from what failed, from the start
const MAX_LISTED = 500;

export function Bulk({ action, scope, said, onClose }: { readonly action: Action; readonly scope: Scope; readonly said: string; readonly onClose: () => void }): ReactElement {
  const box = useRef<HTMLDialogElement>(null);
  const stop = useRef(false);
  const [found, setFound] = useState<Survey | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const [reason, setReason] = useState("");
  const [again, setAgain] = useState(false);
  const [whole, setWhole] = useState<boolean | null>(null); // whether reruns begin at the start; null: as the runs suggest
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => { if (box.current?.open === false) box.current.showModal(); }, []);
  useEffect(() => {
    let left = false;
    survey(action, scope).then((made) => { if (!left) setFound(made); }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [action, scope, attempt]);
  useEffect(() => () => { stop.current = true; }, []);
  const [verb, done, effect] = VERBS[action];
  const fromStart = startsWhole(whole, found);
  const begin = (of: Scope, until: string | null, withThem: boolean): void => {
    stop.current = false;
    setProgress({ results: [], done: 0, refused: 0, leftOut: 0, left: [], running: true, error: null });
    void carryOut({ action, scope: of, until, reason: reason.trim(), again: withThem, from: BEGINNINGS[Number(fromStart)] ?? null }, setProgress, () => stop.current);
  };
  const go = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (found !== null && reason.trim() !== "") begin(scope, found.until, again);
  };
  const running = progress?.running ?? false;
  return (
    <dialog ref={box} className="ask" aria-labelledby="bulk-title" onClose={onClose} onCancel={(event) => { if (running) event.preventDefault(); }}>
      <form onSubmit={go}>
        <h2 id="bulk-title">{verb} runs</h2>
        <p className="quiet">{said}</p>
        {error === null ? null : <Fault error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />}
        {progress === null ? <Counted found={found} verb={verb} effect={effect} chosen={"ids" in scope} failed={error !== null} again={again} onAgain={setAgain} /> : <Done progress={progress} total={found?.matched ?? 0} more={found?.more ?? false} done={done} />}
        <From asked={progress === null && action === "rerun"} start={fromStart} onStart={setWhole} />
        {progress === null ? (
          <label className="ask-reason"><span className="label">Reason (required), kept in the log of each run and in the audit log</span>
            <textarea className="field" rows={2} maxLength={2000} required value={reason} onChange={(event) => { setReason(event.target.value); }} />
          </label>
        ) : null}
        <div className="ask-buttons">
          {running ? <button className="button" type="button" onClick={() => { stop.current = true; }}>Stop</button>
            : <button className="button" type="button" onClick={() => { box.current?.close(); }}>Close</button>}
          {running ? null : <OnceMore left={progress?.left ?? []} go={(left) => { begin({ ids: left, known: new Map() }, null, true); }} />}
          {progress === null ? <Submit action={action} found={found} ready={reason.trim() !== ""} again={again} /> : null}
        </div>
      </form>
    </dialog>
  );
}

/** Whether the reruns begin at the start: unless a person has chosen, if none of the runs failed. */
function startsWhole(chosen: boolean | null, found: Survey | null): boolean {
  return chosen ?? !(found !== null && Object.keys(found.statuses).some(isUnsuccessful));
}

/** Where the reruns begin. */
function From({ asked, start, onStart }: { readonly asked: boolean; readonly start: boolean; readonly onStart: (start: boolean) => void }): ReactElement | null {
  if (!asked) return null;
  return (
    <label><span className="label">From</span>
      <select className="field" value={start ? "" : "failed"} onChange={(event) => { onStart(event.target.value === ""); }}><option value="failed">the failed nodes (completed runs are refused)</option><option value="">the start</option></select></label>
  );
}

/** How many it would change. */
function changing(found: Survey, again: boolean): number {
  return found.applies + (again ? found.leftOut : 0);
}

/** Of runs that were chosen, those that were left out are known only afterwards. */
function OnceMore({ left, go }: { readonly left: readonly string[]; readonly go: (left: readonly string[]) => void }): ReactElement | null {
  if (left.length === 0) return null;
  return <button className="button" type="button" onClick={() => { go(left); }}>Rerun {left.length === 1 ? "the one" : `the ${left.length.toLocaleString("en")}`} left out, too</button>;
}

function Submit({ action, found, ready, again }: { readonly action: Action; readonly found: Survey | null; readonly ready: boolean; readonly again: boolean }): ReactElement {
  const runs = found === null ? "runs" : `${found.more ? "at least " : ""}${counted(changing(found, again), "run")}`;
  return <button className={action === "cancel" ? "button danger" : "button first"} type="submit" disabled={found === null || changing(found, again) === 0 || !ready}>{VERBS[action][0]} {runs}</button>;
}

function Counted({ found, verb, effect, chosen, failed, again, onAgain }: {
  readonly found: Survey | null; readonly verb: string; readonly effect: string; readonly chosen: boolean; readonly failed: boolean; readonly again: boolean; readonly onAgain: (again: boolean) => void;
}): ReactElement | null {
  if (failed) return null;
  if (found === null) return <p role="status">Counting…</p>;
  const [rest, applies] = [found.matched - found.applies, changing(found, again)];
  return (
    <>
    <div className="ask-counts" role="status">
      <p><b>{found.more ? "At least " : ""}{chosen ? applies.toLocaleString("en") : counted(applies, "run")}</b> of {chosen ? counted(found.matched, "run") : counted(found.matched, "match", "matches")} would change. {effect}</p>
      <ul>{Object.entries(found.statuses).map(([status, count]) => <li key={status}><Status status={status} /> {count.toLocaleString("en")}</li>)}</ul>
      {rest > 0 && verb !== "Rerun" ? <p className="quiet">{counted(rest, "run")} will refuse, because {rest === 1 ? "it has" : "they have"} ended or need no change.</p> : null}
      {found.leftOut > 0 ? <p>{found.leftOut.toLocaleString("en")} {found.leftOut === 1 ? "was" : "were"} rerun already and {again ? "would be rerun once more" : found.leftOut === 1 ? "is left out" : "are left out"}.</p> : null}
      {found.unsure ? <p className="quiet">For some, it is not known yet whether they were rerun: this is checked during the operation.</p> : null}
    </div>
    {found.leftOut > 0 || found.unsure ? <label className="ask-again"><input type="checkbox" checked={again} onChange={(event) => { onAgain(event.target.checked); }} /> Rerun those too: their effects are repeated</label> : null}
    </>
  );
}

function Done({ progress, total, more, done }: { readonly progress: Progress; readonly total: number; readonly more: boolean; readonly done: string }): ReactElement {
  const all = progress.done + progress.refused + progress.leftOut;
  return (
    <div className="ask-done">
      <progress max={Math.max(total, all, 1)} value={progress.running ? all : Math.max(total, all, 1)} aria-label="Runs processed" />
      <p role="status">{counted(progress.done, "run")} {done}{progress.refused > 0 ? `, ${progress.refused.toLocaleString("en")} refused` : ""}{progress.leftOut > 0 ? `, ${progress.leftOut.toLocaleString("en")} left out: rerun already` : ""}{progress.running ? ` of ${more ? "at least " : ""}${total.toLocaleString("en")}…` : "."}</p>
      {progress.error === null ? null : <p className="fault" role="alert">Stopped: {explained(progress.error).why} Only the listed runs are done.</p>}
      <ul className="ask-results" tabIndex={0} aria-label="Results">
        {progress.results.slice(-MAX_LISTED).reverse().map((one) => (
          <li key={one.run} className={one.refused === null ? "" : "refused"}>
            <Icon mark={one.refused === null ? "check" : "error"} size={14} />
            <a href={hrefOf(runPath(one.run))} onClick={follow(runPath(one.run))} title={one.run}>{shortId(one.run)}</a>
            {one.made === null ? null : <>→ <a href={hrefOf(runPath(one.made))} onClick={follow(runPath(one.made))} title={one.made}>{shortId(one.made)}</a></>}
            <span className="quiet cut" title={one.refused ?? undefined}>{one.refused ?? ""}</span>
          </li>
        ))}
      </ul>
      {progress.results.length > MAX_LISTED ? <p className="hint">The last {MAX_LISTED} of {progress.results.length.toLocaleString("en")}.</p> : null}
    </div>
  );
}
