/** Opens a draft of a version, where the server has drafts. A draft that is open is everybody's: to replace it is asked first, with who opened it and when. */
import { useState, type ReactElement } from "react";
import { draftPath, follow, go, hrefOf } from "../ui/addresses.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useDrafts } from "../ui/drafts.ts";
import { nameOf } from "../wire/names.ts";
import { When } from "../ui/words/times.tsx";
import { explained, requestPlain } from "../wire/api.ts";
import type { DraftHead } from "./health.ts";

export function OpenDraft({ workflow, version, draft, children }: {
  readonly workflow: string; readonly version: number; readonly draft: DraftHead | null; readonly children: string;
}): ReactElement | null {
  const hasDrafts = useDrafts();
  const [asks, setAsks] = useState(false);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  if (!hasDrafts) return null;
  const path = draftPath(workflow);
  const open = (): void => {
    setBusy(true);
    requestPlain("POST", path, { from: "version", version }).then(() => { go(path); }, (error: unknown) => {
      setBusy(false);
      const { why, mend } = explained(error);
      setFault(`${why} ${mend}`.trim());
    });
  };
  const compare = `${path}?view=diff&against=${version}`;
  return (
    <>
      <button className="button small" type="button" disabled={busy} onClick={draft === null ? open : () => { setAsks(true); }}>{children}</button>
      {fault === "" || asks ? null : <span className="fault" role="alert"> {fault}</span>}
      {asks && draft !== null ? (
        <Dialog title={`Replace the draft with v${version}?`} close={() => { setAsks(false); }}>
          <div className="dialog-body">
            <p>{nameOf(draft.created_by) || "Someone"} opened a draft of this workflow <When at={draft.created_at} />. Everyone edits that one. A draft of v{version} takes its place; its log is kept for a year.</p>
            <p><a href={hrefOf(compare)} onClick={follow(compare)}>Compare the draft with v{version}</a> to see what would be lost.</p>
            <p className="fault" role="alert">{fault}</p>
          </div>
          <div className="dialog-foot">
            <button className="button" type="button" onClick={() => { setAsks(false); }}>Keep the draft</button>
            <button className="button danger" type="button" disabled={busy} onClick={open}>Replace the draft</button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
