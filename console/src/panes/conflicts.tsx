/** Values that were changed both here and in the file, or in a version published meanwhile: one choice for each. */
import { useEffect, useState, type ReactElement } from "react";
import type { Json } from "../editing/values/values.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Bones } from "../ui/loading/notices.tsx";
import { explained } from "../wire/api.ts";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import type { Conflict } from "../wire/draft/served.ts";
import { fieldName, valueText } from "../source/differences/texts.ts";
import { settled } from "./settled.ts";

export default function Conflicts({ openDraft, close, canEdit }: { readonly openDraft: OpenDraft; readonly close: () => void; readonly canEdit: boolean }): ReactElement {
  const [found, setFound] = useState<readonly Conflict[] | null>(null);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState("");
  const failed = (error: unknown): void => {
    const { why, mend } = explained(error);
    setFault(`${why} ${mend}`);
  };
  useEffect(() => { openDraft.routes.conflicts().then(setFound, failed); }, [openDraft]);
  const choose = (conflict: Conflict, side: "draft" | "file"): void => {
    setBusy(nameOf(conflict));
    setFault("");
    taken(openDraft, conflict, side).then(() => openDraft.routes.conflicts()).then(setFound, failed).finally(() => {
      setBusy("");
      void openDraft.look();
    });
  };
  return (
    <Dialog title="Conflicts" close={close} wide>
      <div className="dialog-body">
        {found === null ? <Bones lines={6} label="The conflicts are loading" /> : found.length === 0 ? (
          <p role="status">No conflicts. {openDraft.comparison.canSave ? "The draft can be saved." : "The draft can be published."}</p>
        ) : (
          <ul className="conflicts">
            {found.map((conflict) => (
              <li key={nameOf(conflict)}>
                <h3>{conflict.id || "Workflow"} <span className="quiet">{fieldName(conflict.path)}</span></h3>
                <dl>
                  <Side word="Before" value={conflict.base} />
                  <Side word="This draft" value={conflict.draft} />
                  <Side word={conflict.from === "file" ? "The file" : capital(conflict.from)} value={conflict.file} />
                </dl>
                <div className="inspector-row">
                  <button className="button small" type="button" disabled={!canEdit || busy !== ""} aria-label={`Keep the draft's value of ${nameOf(conflict)}`} onClick={() => { choose(conflict, "draft"); }}>Keep the draft&apos;s value</button>
                  <button className="button small" type="button" disabled={!canEdit || busy !== ""} aria-label={`Take the value of ${conflict.from === "file" ? "the file" : conflict.from} for ${nameOf(conflict)}`} onClick={() => { choose(conflict, "file"); }}>Take the value of {conflict.from === "file" ? "the file" : conflict.from}</button>
                </div>
              </li>
            ))}
          </ul>
        )}
        <p className="fault" role="alert">{fault}</p>
      </div>
      <div className="dialog-foot"><button className="button" type="button" onClick={close}>Close</button></div>
    </Dialog>
  );
}

function Side({ word, value }: { readonly word: string; readonly value: Json | undefined }): ReactElement {
  return <div><dt>{word}</dt><dd>{value === undefined ? <span className="quiet">nothing</span> : <pre className="value">{valueText(value)}</pre>}</dd></div>;
}

function nameOf(conflict: Conflict): string {
  return [conflict.id || conflict.key, fieldName(conflict.path)].filter(Boolean).join(" ");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

async function taken(openDraft: OpenDraft, conflict: Conflict, side: "draft" | "file"): Promise<void> {
  await settled(openDraft);
  const meant = await openDraft.routes.take(conflict, side);
  if (meant.operations.length > 0 && openDraft.session.perform(meant.operations, meant.seq) === null) throw new Error("The draft changed meanwhile. Choose again.");
  await settled(openDraft);
}
