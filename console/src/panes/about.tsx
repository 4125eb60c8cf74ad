/** Explains drafts: a draft is shared by everyone who opens it. Who wants to try something alone duplicates it; what is published is a click away. */
import { useState, useSyncExternalStore, type ReactElement, type SyntheticEvent } from "react";
import { usePeople } from "../canvas/view/others.tsx";
import { begin, given, idFault } from "../source/beginning.ts";
import { draftPath, follow, go, hrefOf, versionPath } from "../ui/addresses.ts";
import { Dialog } from "../ui/dialog.tsx";
import { counted } from "../ui/words/formats.ts";
import { nameOf } from "../wire/names.ts";
import { When } from "../ui/words/times.tsx";
import { explained } from "../wire/api.ts";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import { settled } from "./settled.ts";

export default function About({ openDraft, canEdit, close }: { readonly openDraft: OpenDraft; readonly canEdit: boolean; readonly close: () => void }): ReactElement {
  const { newest, origin, by, at } = useSyncExternalStore(openDraft.subscribe, () => openDraft.comparison);
  const edits = useSyncExternalStore(openDraft.session.subscribe, () => openDraft.session.replica.seq);
  const others = usePeople(openDraft);
  const history = `${draftPath(openDraft.draft)}?view=history`;
  const link = (path: string, text: string): ReactElement => <a className="button small" href={hrefOf(path)} onClick={(event) => { close(); follow(path)(event); }}>{text}</a>;
  return (
    <Dialog title="About this draft" close={close}>
      <div className="dialog-body about">
        <p>{nameOf(by) || "Someone"} opened it{at === "" ? "" : <> <When at={at} /></>}{origin === "" ? "" : `, from ${origin}`}. It has {counted(edits, "edit")} since.
          {" "}{others.length === 0 ? "No one else is here now." : `Also here: ${others.map(({ name }) => name).join(", ")}.`}</p>
        <p className="quiet">Everyone who opens this draft edits the same one. Runs use published versions only.</p>
        <p className="inspector-row">{newest === null ? <span className="quiet">Not published yet.</span> : link(versionPath(openDraft.draft, newest), `Open v${newest}, as published`)}{link(history, "Who changed what")}</p>
        <Duplicate openDraft={openDraft} canEdit={canEdit} />
      </div>
    </Dialog>
  );
}

/** A draft of its own under another id, from the text as it is now, comments included. */
function Duplicate({ openDraft, canEdit }: { readonly openDraft: OpenDraft; readonly canEdit: boolean }): ReactElement {
  const [id, setId] = useState(`${openDraft.draft.slice(0, 59)}-copy`);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const duplicate = async (): Promise<void> => {
    await settled(openDraft);
    const why = await begin(id, await given((await openDraft.routes.text()).text));
    if (why === null) go(draftPath(id));
    else setFault(why);
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const wrong = idFault(id);
    setFault(wrong ?? "");
    if (wrong !== null) return;
    setBusy(true);
    duplicate().catch((error: unknown) => {
      const { why, mend } = explained(error);
      setFault(`${why} ${mend}`.trim());
    }).finally(() => { setBusy(false); });
  };
  return (
    <form onSubmit={submit}>
      <div>
        <label className="label" htmlFor="duplicate-id">To try something alone, duplicate it as</label>
        <input id="duplicate-id" className="field" value={id} maxLength={64} spellCheck={false} autoComplete="off" aria-invalid={fault !== ""} aria-describedby="duplicate-fault" onChange={(event) => { setId(event.target.value); setFault(""); }} />
      </div>
      <button className="button" type="submit" disabled={!canEdit || busy || id === ""}>Duplicate</button>
      <p id="duplicate-fault" className="fault" role="status">{fault}</p>
    </form>
  );
}
