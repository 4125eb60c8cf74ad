/** What an empty server offers: templates that one click makes a draft of, imports, and Python. */
import "./welcome.css";
import { useState, type ReactElement } from "react";
import { NewWorkflow } from "../../pages/making.tsx";
import { beginAnew } from "../../source/beginning.ts";
import { EXAMPLES, type Example } from "../../source/examples.ts";
import { draftPath, go } from "../../ui/addresses.ts";
import { Commands } from "../../ui/commands.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Fault } from "../../ui/loading/notices.tsx";

export function Welcome(): ReactElement {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [python, setPython] = useState(false);
  const start = (example: Example): void => {
    setBusy(example.key);
    beginAnew(example.text).then(({ id, why }) => {
      if (why === null) go(draftPath(id));
      else throw new Error(why);
    }).catch((refused: unknown) => {
      setError(refused);
      setBusy("");
    });
  };
  return (
    <section className="welcome">
      <h2>No workflows yet</h2>
      <p className="quiet">A workflow is a graph of nodes that starts manually, by a webhook, by a schedule or by an event. Begin with one that works, and change it.</p>
      <ul className="welcome-cards">{EXAMPLES.map((example) => (
        <li key={example.key}><button type="button" disabled={busy !== ""} onClick={() => { start(example); }}><b>{example.name}</b><span className="quiet">{busy === example.key ? "Opening…" : example.about}</span></button></li>
      ))}</ul>
      {error === null ? null : <Fault error={error} />}
      <div className="welcome-ways">
        <NewWorkflow />
        <NewWorkflow label="Import from n8n or Sim" first="file" plain />
        <button className="button" type="button" onClick={() => { setPython(true); }}>Write in Python</button>
      </div>
      {python ? (
        <Dialog title="Write in Python" close={() => { setPython(false); }}>
          <div className="dialog-body">
            <p>A workflow may be an <code>async def</code> in plain Python. <code>stepless dev</code> publishes it as often as you save the file, and it appears here.</p>
            <Commands of={[["stepless init flows --python", "a folder with a workflow, its steps and a test"], ["cd flows && stepless dev --open", "publishes what you save"]]} />
          </div>
          <div className="dialog-foot"><button className="button first" type="button" data-first onClick={() => { setPython(false); }}>Close</button></div>
        </Dialog>
      ) : null}
    </section>
  );
}
