/** The log of the draft by person and time. To restore is one operation, which is undone like any. */
import { useCallback, useEffect, useState, type ReactElement } from "react";
import type { Look } from "../canvas/desk.ts";
import { Icon } from "../ui/icons.tsx";
import { Bones, Failed } from "../ui/loading/notices.tsx";
import { nameOf } from "../wire/names.ts";
import { When } from "../ui/words/times.tsx";
import { explained } from "../wire/api.ts";
import { colourOf } from "../wire/draft/people.ts";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import type { Entry } from "../wire/draft/served.ts";
import { changeWords } from "../source/differences/texts.ts";
import { settled, useSettled } from "./settled.ts";

type Target = { readonly version: number } | { readonly seq: number };

interface Outcome {
  readonly text: string;
  readonly failed: boolean;
}

function Head({ said, newest, canRestore, canUndo, onUndo, onRestore }: {
  readonly said: Outcome | null; readonly newest: number | null; readonly canRestore: boolean; readonly canUndo: boolean;
  readonly onUndo: () => void; readonly onRestore: (newest: number) => void;
}): ReactElement {
  return (
    <div className={said === null && newest === null ? "hidden" : "pane-bar"}>
      <span className={said?.failed === true ? "fault" : "quiet"} role="status">{said?.text ?? ""}</span>
      {said === null || said.failed ? null : <button className="button small" type="button" disabled={!canUndo} onClick={onUndo}>Undo</button>}
      <span className="head-gap" />
      {newest === null ? null : <button className="button small" type="button" disabled={!canRestore} onClick={() => { onRestore(newest); }}>Restore v{newest}</button>}
    </div>
  );
}

export default function HistoryPane({ look, openDraft }: { readonly look: Look; readonly openDraft: OpenDraft }): ReactElement {
  const seq = useSettled(openDraft);
  const [entries, setEntries] = useState<readonly Entry[] | null>(null);
  const [before, setBefore] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [said, setSaid] = useState<Outcome | null>(null);
  const [isBusy, setBusy] = useState(false);
  const read = useCallback((): (() => void) => {
    let left = false;
    openDraft.routes.history(null).then((page) => {
      if (left) return;
      setEntries(page.entries);
      setBefore(page.before);
      setError(null);
    }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [openDraft]);
  useEffect(read, [read, seq]);
  const older = (): void => {
    openDraft.routes.history(before).then((page) => {
      setEntries((held) => [...(held ?? []), ...page.entries]);
      setBefore(page.before);
    }, (failed: unknown) => { setSaid({ text: explained(failed).why, failed: true }); });
  };
  const restore = (to: Target, name: string): void => {
    setBusy(true);
    restored(openDraft, to).then((done) => {
      setSaid({ text: done ? `The draft is as it was ${name}. Undo takes that back.` : `The draft is as it was ${name} already.`, failed: false });
    }, (failed: unknown) => { setSaid({ text: explained(failed).why, failed: true }); }).finally(() => { setBusy(false); });
  };
  if (error !== null && entries === null) return <Failed what="Could not load the history." error={error} again={() => { setError(null); read(); }} />;
  const canRestore = look.draft.canEdit && !isBusy;
  return (
    <section className="pane" aria-label="History">
      <Head said={said} newest={openDraft.comparison.newest} canRestore={canRestore} canUndo={look.draft.canUndo} onUndo={() => { openDraft.session.undo(); setSaid(null); }}
        onRestore={(newest) => { restore({ version: newest }, `in v${newest}`); }} />
      <div className="pane-body">
        {entries === null ? <Bones lines={10} label="The history is loading" /> : entries.length === 0 ? (
          <div className="pane-empty"><h2>No changes yet</h2><p className="quiet">Every edit of this draft is listed here, with who made it and when. Any of these states can be restored.</p></div>
        ) : (
          <ol className="history">
            {entries.map((entry, place) => (
              <li key={entry.from}>
                <span className="history-who" data-person={colourOf(entry.by)} aria-hidden="true">{Array.from(nameOf(entry.by))[0]?.toUpperCase()}</span>
                <div>
                  <p><b>{nameOf(entry.by) || "someone"}</b> <span className="quiet"><When at={entry.until} /></span></p>
                  <p className="history-what">{changeWords(entry.changes) || <span className="quiet">made no lasting change</span>}</p>
                  {entry.refused === 0 ? null : <p className="hint">{entry.refused} {entry.refused === 1 ? "edit was" : "edits were"} refused</p>}
                </div>
                {place === 0 ? <span className="quiet">as it is now</span> : (
                  <button className="button small" type="button" disabled={!canRestore} aria-label={`Restore the draft as it was after the edits of ${nameOf(entry.by)}, item ${entry.to}`}
                    onClick={() => { restore({ seq: entry.to }, `after item ${entry.to}`); }}>Restore</button>
                )}
              </li>
            ))}
            {before === null ? <Opened from={openDraft.comparison.origin} canRestore={canRestore} restore={() => { restore({ seq: 0 }, "when it was opened"); }} /> : null}
          </ol>
        )}
        {before === null ? null : <button className="button small" type="button" onClick={older}>Older</button>}
      </div>
    </section>
  );
}

function Opened({ from, canRestore, restore }: { readonly from: string; readonly canRestore: boolean; readonly restore: () => void }): ReactElement {
  return (
    <li>
      <span className="history-who" aria-hidden="true"><Icon mark="workflow" size={14} /></span>
      <div><p>The draft was opened{from === "" ? "" : ` from ${from}`}</p></div>
      <button className="button small" type="button" disabled={!canRestore} aria-label="Restore the draft as it was opened" onClick={restore}>Restore</button>
    </li>
  );
}

/** Whether it changed anything. */
export async function restored(openDraft: OpenDraft, to: Target): Promise<boolean> {
  await settled(openDraft);
  const meant = await openDraft.routes.restored(to);
  const done = openDraft.session.perform(meant.operations, meant.seq);
  if (done === null && meant.operations.length > 0) throw new Error("The draft changed meanwhile. Try again.");
  openDraft.session.flush();
  return done === true;
}
