/** Publishing: what changes, a message, and what is in the way. */
import { useEffect, useState, useSyncExternalStore, type ReactElement, type SyntheticEvent } from "react";
import { Findings } from "../canvas/page/findings.tsx";
import type { Desk, Look } from "../canvas/desk.ts";
import { draftPath, follow, hrefOf } from "../ui/addresses.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Bones } from "../ui/loading/notices.tsx";
import { explained, Refusal } from "../wire/api.ts";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import type { Difference } from "../wire/draft/served.ts";
import { findingsRead } from "../wire/draft/open_draft.ts";
import { fieldName, sumWords } from "../source/differences/texts.ts";
import { settled } from "./settled.ts";

type Step =
  | { readonly is: "asked" } | { readonly is: "busy" } | { readonly is: "done"; readonly version: number }
  | { readonly is: "moved"; readonly error: Refusal } | { readonly is: "refused"; readonly error: unknown };

const MOST = 6;
const MOVED: ReadonlySet<string> = new Set(["version_moved", "file_changed"]);

export default function Publish({ desk, look, openDraft, close, solve }: {
  readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly close: () => void; readonly solve: () => void;
}): ReactElement {
  const [difference, setDifference] = useState<Difference | null>(null);
  const [message, setMessage] = useState("");
  const [step, setStep] = useState<Step>({ is: "asked" });
  const comparison = useSyncExternalStore(openDraft.subscribe, () => openDraft.comparison);
  const { newest } = comparison;
  useEffect(() => {
    if (newest !== null) settled(openDraft).then(() => openDraft.routes.difference(newest)).then(setDifference, () => { setDifference(null); });
  }, [openDraft, comparison, newest]);
  useEffect(() => { desk.insist(); }, [desk]);
  const errors = look.listed.filter((one) => one.severity === "error");
  const isSame = difference !== null && difference.nodes.length === 0 && difference.document.length === 0; // as the newest version: it stays
  const does = newest === null ? "Publish the first version" : isSame ? `Update v${newest}` : `Publish v${newest + 1}`;
  const publish = (event: SyntheticEvent): void => {
    event.preventDefault();
    setStep({ is: "busy" });
    settled(openDraft).then((seq) => openDraft.routes.publish(seq, message.trim())).then((version) => {
      setStep({ is: "done", version });
      void openDraft.look();
    }, (error: unknown) => {
      if (error instanceof Refusal && error.status === 422) { desk.found(findingsRead(error.objects("findings"))); desk.insist(); }
      setStep(error instanceof Refusal && MOVED.has(error.code) ? { is: "moved", error } : { is: "refused", error });
      void openDraft.look();
    });
  };
  if (step.is === "done") {
    return (
      <Dialog title="Published" close={close}>
        <div className="dialog-body"><p role="status"><Icon mark="check" size={14} /> {look.draft.view.get("doc") === undefined ? openDraft.draft : nameOf(desk, openDraft)} is published as <b>v{step.version}</b>. The draft goes on from there.</p></div>
        <div className="dialog-foot"><button className="button first" type="button" data-first onClick={close}>Close</button></div>
      </Dialog>
    );
  }
  return (
    <Dialog title={does} close={close}>
      <form onSubmit={publish}>
        <div className="dialog-body">
          {newest === null ? <p className="quiet">This publishes version 1, the first one.</p>
            : isSame ? <p><b>v{newest} has these nodes and settings already.</b> <span className="quiet">No new version is made: v{newest} gets this message, the text and the positions of the nodes.</span></p>
            : <Summary difference={difference} newest={newest} openDraft={openDraft} />}
          <Blocking desk={desk} look={look} count={errors.length} />
          {comparison.conflicts === 0 ? null : <p className="fault">{comparison.conflicts} {comparison.conflicts === 1 ? "conflict" : "conflicts"} to resolve. <button className="button small" type="button" onClick={solve}>Choose</button></p>}
          <div>
            <label className="label" htmlFor="publish-message">Message</label>
            <textarea id="publish-message" className="field prose" rows={2} data-first value={message} placeholder="What changes, for those who read the history" onChange={(event) => { setMessage(event.target.value); }} />
          </div>
          <Outcome step={step} openDraft={openDraft} solve={solve} />
        </div>
        <div className="dialog-foot">
          <button className="button" type="button" onClick={close}>Cancel</button>
          <button className="button first" type="submit" disabled={step.is === "busy" || errors.length > 0 || look.draft.status.is === "offline"}>{step.is === "busy" ? "Publishing…" : does}</button>
        </div>
      </form>
    </Dialog>
  );
}

function nameOf(desk: Desk, openDraft: OpenDraft): string {
  const name = desk.view.get("doc")?.get("name");
  return typeof name === "string" && name !== "" ? name : openDraft.draft;
}

function Summary({ difference, newest, openDraft }: { readonly difference: Difference | null; readonly newest: number; readonly openDraft: OpenDraft }): ReactElement {
  if (difference === null) return <Bones lines={3} label="The changes are loading" />;
  const path = `${draftPath(openDraft.draft)}?view=diff&against=${newest}`;
  const sum = sumWords(difference.nodes, difference.document.length);
  return (
    <div className="publish-sum">
      <p><b>{sum}</b> <span className="quiet">against v{newest}</span> <a href={hrefOf(path)} onClick={follow(path)}>All differences</a></p>
      <ul>
        {difference.nodes.slice(0, MOST).map((node) => (
          <li key={`${node.key} ${node.path.join("/")}`}>
            <span className="change-word">{node.change}</span> <b>{node.path.at(-1)}</b>{" "}
            <span className="quiet">{node.change === "changed" ? node.fields.slice(0, 4).map((field) => fieldName(field.path)).join(", ") : ""}</span>
          </li>
        ))}
        {difference.nodes.length > MOST ? <li className="quiet">and {difference.nodes.length - MOST} more</li> : null}
      </ul>
    </div>
  );
}

function Blocking({ desk, look, count }: { readonly desk: Desk; readonly look: Look; readonly count: number }): ReactElement | null {
  if (count === 0) return null;
  return (
    <div className="publish-findings">
      <p className="fault">Fix {count === 1 ? "the error" : `${count} errors`} first.</p>
      <Findings desk={desk} look={look} />
    </div>
  );
}

function Outcome({ step, openDraft, solve }: { readonly step: Step; readonly openDraft: OpenDraft; readonly solve: () => void }): ReactElement | null {
  if (step.is === "moved") {
    const { newest } = openDraft.comparison;
    const ofFile = step.error.code === "file_changed";
    const path = `${draftPath(openDraft.draft)}?view=diff${ofFile || newest === null ? "" : `&against=${newest}`}`;
    return (
      <div className="publish-moved" role="alert">
        <p><b>{ofFile ? "The file was changed by another program." : "Another version was published since this draft was opened."}</b></p>
        <p>Its changes are in this draft now. Resolve the conflicts, if any, and publish again.</p>
        <p className="inspector-row">
          <a className="button small" href={hrefOf(path)} onClick={follow(path)}>{ofFile || newest === null ? "Differences" : `Differences to v${newest}`}</a>
          <button className="button small" type="button" onClick={solve}>Conflicts</button>
        </p>
      </div>
    );
  }
  if (step.is !== "refused") return null;
  const { why, mend } = explained(step.error);
  return <p className="fault" role="alert">{why} {mend}</p>;
}
