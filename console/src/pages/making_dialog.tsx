/** The dialog of a new workflow: empty, from an example, from a text that is pasted, from a file. */
import "./making.css";
import { useRef, useState, type ReactElement, type SyntheticEvent } from "react";
import { draftPath, go } from "../ui/addresses.ts";
import { Dialog } from "../ui/dialog.tsx";
import { explained } from "../wire/api.ts";
import { EXAMPLES } from "../source/examples.ts";
import { begin, given, idFault, NoWorkflow, type Given } from "../source/beginning.ts";

const WAYS = [["empty", "Empty"], ["example", "Example"], ["paste", "Paste"], ["file", "File"]] as const;
export type Way = (typeof WAYS)[number][0];

export default function Making({ close, first = "empty" }: { readonly close: () => void; readonly first?: Way }): ReactElement {
  const [way, setWay] = useState<Way>(first);
  const [example, setExample] = useState("approval");
  const [pasted, setPasted] = useState("");
  const [file, setFile] = useState<{ readonly name: string; readonly text: string } | null>(null);
  const [typed, setTyped] = useState<string | null>(null); // the id, once a person has typed one
  const [read, setRead] = useState<Given | null>(null);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const id = typed ?? read?.id ?? "";

  /** Reads a text at once, so that its id is offered; only the last one counts. */
  const asked = useRef(0);
  const take = (text: string): void => {
    const turn = (asked.current += 1);
    setFault("");
    setRead(null);
    if (text.trim() === "") return;
    given(text).then((made) => { if (turn === asked.current) setRead(made); }, (error: unknown) => { if (turn === asked.current) setFault(sentence(error)); });
  };
  const choose = (next: Way): void => {
    setWay(next);
    take(next === "example" ? textOf(example) : next === "paste" ? pasted : next === "file" ? (file?.text ?? "") : "");
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const wrong = idFault(id);
    if (wrong !== null) {
      setFault(wrong);
      return;
    }
    setBusy(true);
    begin(id, way === "empty" ? null : read).then((why) => {
      if (why === null) go(draftPath(id));
      else setFault(why);
    }, (error: unknown) => { setFault(sentence(error)); }).finally(() => { setBusy(false); });
  };
  const isReady = id !== "" && (way === "empty" || read !== null);
  return (
    <Dialog title="New workflow" close={close}>
      <form onSubmit={submit}>
        <div className="dialog-body making">
          <fieldset className="making-ways">
            <legend className="hidden">Begin with</legend>
            {WAYS.map(([key, name]) => <label key={key}><input type="radio" name="way" value={key} checked={way === key} onChange={() => { choose(key); }} />{name}</label>)}
          </fieldset>
          {way === "empty" ? <p className="quiet">A draft without nodes. You add them on the canvas.</p> : null}
          {way === "example" ? <Examples chosen={example} choose={(key) => { setExample(key); take(textOf(key)); }} /> : null}
          {way === "paste" ? (
            <div>
              <label className="label" htmlFor="new-text">A workflow in YAML or JSON, a part of one, or an export of Sim or n8n</label>
              <textarea id="new-text" className="field" rows={10} spellCheck={false} value={pasted} aria-describedby="new-fault" onChange={(event) => { setPasted(event.target.value); take(event.target.value); }} />
            </div>
          ) : null}
          {way === "file" ? (
            <label className="making-file button"><input type="file" accept=".yaml,.yml,.json" onChange={(event) => { void picked(event.target.files?.[0] ?? null).then((made) => { setFile(made); take(made?.text ?? ""); }); }} />{file?.name ?? "Choose a file…"}</label>
          ) : null}
          <Changes findings={read?.findings ?? []} />
          <div>
            <label className="label" htmlFor="new-id">Id</label>
            <input id="new-id" className="field" value={id} spellCheck={false} autoComplete="off" maxLength={64} placeholder="refund-approval" data-first aria-describedby="new-fault" aria-invalid={fault !== ""} onChange={(event) => { setTyped(event.target.value); setFault(""); }} />
          </div>
          <p id="new-fault" className="fault" role="status">{fault}</p>
        </div>
        <div className="dialog-foot">
          <button className="button" type="button" onClick={close}>Cancel</button>
          <button className="button first" type="submit" disabled={!isReady || busy}>Open a draft</button>
        </div>
      </form>
    </Dialog>
  );
}

function Examples({ chosen, choose }: { readonly chosen: string; readonly choose: (key: string) => void }): ReactElement {
  return (
    <fieldset className="making-examples">
      <legend className="hidden">Example</legend>
      {EXAMPLES.map(({ key, name, about }) => (
        <label key={key}><input type="radio" name="example" value={key} checked={chosen === key} onChange={() => { choose(key); }} /><span><b>{name}</b><span className="quiet">{about}</span></span></label>
      ))}
    </fieldset>
  );
}

function Changes({ findings }: { readonly findings: readonly string[] }): ReactElement | null {
  if (findings.length === 0) return null;
  return (
    <details className="making-findings">
      <summary>{findings.length} {findings.length === 1 ? "difference" : "differences"} from the export</summary>
      <ul>{findings.map((one, place) => <li key={place}>{one}</li>)}</ul>
    </details>
  );
}

function textOf(example: string): string {
  return EXAMPLES.find(({ key }) => key === example)?.text ?? "";
}

async function picked(file: File | null): Promise<{ readonly name: string; readonly text: string } | null> {
  return file === null ? null : { name: file.name, text: await file.text() };
}

function sentence(error: unknown): string {
  if (error instanceof NoWorkflow) return error.message;
  const { why, mend } = explained(error);
  return `${why} ${mend}`.trim();
}
