/** Next to the graph of a draft that was compiled from source: the source, why the graph is only read, and how that is left. */
import { useCallback, useMemo, useState, type ReactElement } from "react";
import { titleOf, type Made } from "../../source/made.ts";
import { SourcePane } from "../../source/part.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import type { Desk, Look } from "../desk.ts";
import { sourceOf } from "../model/tie.ts";

export function Tied({ desk, look, made }: { readonly desk: Desk; readonly look: Look; readonly made: Made }): ReactElement {
  const [isAsked, ask] = useState(false);
  const source = useMemo(() => sourceOf(made, look.graph, desk.view), [desk, made, look.graph]);
  const choose = useCallback((tail: string) => { desk.select([tail], true); }, [desk]);
  const file = titleOf(made);
  const canEdit = desk.draft.snapshot().canEdit;
  return (
    <div className="tied">
      <SourcePane source={source} chosen={desk.current} choose={choose} note={
        <>
          <p>Compiled from <b>{file}</b>, so the graph is read-only. Change the file, and publish it: <code>stepless publish {file}</code>. <code>stepless dev</code> does so when you save.</p>
          <button className="button small" type="button" disabled={!canEdit} onClick={() => { ask(true); }}>Edit as a graph…</button>
        </>
      } />
      {isAsked ? <Leaving file={file} close={() => { ask(false); }} leave={() => { desk.untie(); }} /> : null}
    </div>
  );
}

function Leaving({ file, close, leave }: { readonly file: string; readonly close: () => void; readonly leave: () => void }): ReactElement {
  return (
    <Dialog title="Edit as a graph?" close={close}>
      <div className="dialog-body">
        <p>The draft becomes a document of its own, without its source. <b>{file}</b> stays as it is: when it is published the next time, it replaces what you publish from here.</p>
        <p className="quiet">Undo brings the source back.</p>
      </div>
      <div className="dialog-foot">
        <button className="button" type="button" onClick={close}>Cancel</button>
        <button className="button first" type="button" data-first onClick={() => { close(); leave(); }}>Edit as a graph</button>
      </div>
    </Dialog>
  );
}
