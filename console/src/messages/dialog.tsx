/** Sends a message: to one run, or to the runs of a key. Its data are written in a form where the workflow says what they are. */
import "./messages.css";
import { useId, useState, type ReactElement, type ReactNode, type SyntheticEvent } from "react";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Controls, Turn, useWriting, WritingFaults } from "../ui/forms/writing.tsx";
import { counted, shortId } from "../ui/words/formats.ts";
import { When } from "../ui/words/times.tsx";
import type { Declared } from "./declared.ts";
import { Sender, type Delivered, type Receiver } from "./sending.ts";

const MAX_LISTED = 5; // runs
const MAX_KEY = 256; // characters; the server counts bytes

/** `to` is a run, or the workflow whose runs answer to a key that is typed. `name`: the message that is chosen first, empty for the first one. */
export interface Sending {
  readonly to: { readonly run: string } | { readonly workflow: string };
  readonly messages: readonly Declared[];
  readonly name: string;
  readonly close: () => void;
  /** A message was delivered. */
  readonly onSent?: () => void;
}

/** Which runs of a workflow a message is for, as it is typed. */
interface Keyed {
  readonly key: string;
  readonly keep: string;
  readonly starts: boolean;
}

const NO_KEY: Keyed = { key: "", keep: "", starts: false };

export default function SendMessage({ to, messages, name, close, onSent }: Sending): ReactElement {
  const [chosen, choose] = useState(name === "" ? messages[0]?.name ?? "" : name);
  const [keyed, setKeyed] = useState(NO_KEY);
  const [sent, setSent] = useState<Delivered | null>(null);
  const message = messages.find((one) => one.name === chosen) ?? { name: chosen, schema: null, cancels: false };
  const done = (delivered: Delivered): void => {
    onSent?.();
    if ("run" in to) close();
    else setSent(delivered);
  };
  return (
    <Dialog title={messages.length === 1 ? `Send the message ${chosen}` : "Send a message"} close={close}>
      {sent !== null ? <Done sent={sent} again={() => { setSent(null); }} close={close} /> : (
        <Form key={chosen} to={"run" in to ? to : { ...to, ...keyed, key: keyed.key.trim(), keep: keyed.keep.trim() }} message={message} close={close} onDone={done}>
          {messages.length === 1 ? null : <label><span className="label">Message</span>
            <select className="field" data-first value={chosen} onChange={(event) => { choose(event.target.value); }}>{messages.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}</select></label>}
          {"run" in to ? null : <Keys keyed={keyed} onChange={setKeyed} />}
        </Form>
      )}
    </Dialog>
  );
}

function Keys({ keyed: { key, keep, starts }, onChange }: { readonly keyed: Keyed; readonly onChange: (keyed: Keyed) => void }): ReactElement {
  const id = useId();
  return (
    <div className="send-to">
      <label><span className="label">Key of the runs</span><input className="field" required maxLength={MAX_KEY} autoComplete="off" spellCheck={false} data-first value={key} onChange={(event) => { onChange({ key: event.target.value, keep, starts }); }} /></label>
      <label><span className="label">Keep it for</span><input className="field" value={keep} disabled={starts} placeholder="as the workflow says" autoComplete="off" spellCheck={false} aria-describedby={id} onChange={(event) => { onChange({ key, keep: event.target.value, starts }); }} /></label>
      <p className="hint" id={id}>A duration such as 1h: runs that begin to answer to the key within it receive the message, too.</p>
      <label className="check"><input type="checkbox" checked={starts} onChange={(event) => { onChange({ key, keep, starts: event.target.checked }); }} /> Start a run if none has this key. Its inputs are the data.</label>
    </div>
  );
}

function Form({ to, message, close, onDone, children }: { readonly to: Receiver; readonly message: Declared; readonly close: () => void; readonly onDone: (sent: Delivered) => void; readonly children: ReactNode }): ReactElement {
  const id = useId();
  const [sender] = useState(() => new Sender());
  const writing = useWriting({ schema: message.schema, begun: message.schema === null ? "" : "{}", name: "data", subject: "The data is" });
  const [busy, setBusy] = useState(false);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const data = writing.read();
    if (data === undefined) return;
    setBusy(true);
    sender.send(to, message.name, data).then(onDone, (error: unknown) => { setBusy(false); writing.refuse(error); });
  };
  return (
    <form onSubmit={submit}>
      <div className="dialog-body">
        {children}
        <div className="send-data">
          <div className="send-head"><h3>Data</h3><Turn writing={writing} /></div>
          <Controls id={id} writing={writing} none="This message has no data." label={message.schema === null ? "JSON of any shape, or nothing: the message has no schema" : "JSON"} />
        </div>
        {message.cancels ? <p className="send-cancels">This message cancels the run that receives it.</p> : "run" in to ? <p className="hint">A node that waits for it takes it. Otherwise it stays in the mailbox of the run, unread.</p> : null}
      </div>
      <div className="dialog-foot send-foot">
        <WritingFaults faults={writing.faults} undone="Not sent" />
        <button className="button" type="button" onClick={close}>Close</button>
        <button className="button first" type="submit" disabled={busy}>{busy ? "Sending…" : "Send"}</button>
      </div>
    </form>
  );
}

/** To which runs it went. */
function Done({ sent: { runs, started, keptUntil }, again, close }: { readonly sent: Delivered; readonly again: () => void; readonly close: () => void }): ReactElement {
  const more = runs.length - MAX_LISTED;
  return (
    <>
      <div className="dialog-body" role="status">
        {runs.length === 0 ? <p>No run answers to the key yet.</p> : (
          <div><p>{started === "" ? `Delivered to ${counted(runs.length, "run")}.` : "A run was started with it."}</p>
            <ul className="send-runs">{runs.slice(0, MAX_LISTED).map((run) => <li key={run}><a href={hrefOf(runPath(run))} onClick={follow(runPath(run))} title={run}><code>{shortId(run)}</code></a></li>)}{more > 0 ? <li className="quiet">and {more.toLocaleString("en")} more</li> : null}</ul></div>
        )}
        {keptUntil === "" ? null : <p>It is kept for runs that begin to answer to the key until <time dateTime={keptUntil}>{new Date(keptUntil).toLocaleString()}</time>, <When at={keptUntil} />.</p>}
      </div>
      <div className="dialog-foot"><button className="button" type="button" onClick={again}>Send another</button><button className="button first" type="button" data-first onClick={close}>Close</button></div>
    </>
  );
}
