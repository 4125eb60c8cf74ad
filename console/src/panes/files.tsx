/** Which file to save to, where two have one id. */
import type { ReactElement } from "react";
import { Dialog } from "../ui/dialog.tsx";

export default function Files({ files, workflow, close, choose }: {
  readonly files: readonly string[]; readonly workflow: string; readonly close: () => void; readonly choose: (file: string) => void;
}): ReactElement {
  return (
    <Dialog title="Save to which file?" close={close}>
      <div className="dialog-body">
        <p>{files.length === 0 ? "Several" : files.length} files have a workflow with the id <b>{workflow}</b>. Give the others another id, so that it is clear which one is published.</p>
        <ul className="files">{files.map((file) => <li key={file}><button className="button" type="button" onClick={() => { choose(file); }}>Save to {file}</button></li>)}</ul>
      </div>
      <div className="dialog-foot"><button className="button" type="button" onClick={close}>Cancel</button></div>
    </Dialog>
  );
}
