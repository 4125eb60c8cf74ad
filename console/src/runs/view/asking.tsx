/** The dialogs of a run: cancel, hold, run again. Each says what it does, and asks why. */
import { useEffect, useRef, useState, type ReactElement, type SyntheticEvent } from "react";
import { textAt, type Json } from "../../editing/values/values.ts";
import type { Value } from "../../editing/values/encoding.ts";
import { go, runPath } from "../../ui/addresses.ts";
import { explained, requestPlain, requestWritten } from "../../wire/api.ts";
import { apart } from "./large.ts";
import { jsonOf, textOf, valueFrom, valueOf } from "../../wire/exact.ts";

/** As the beginning of a rerun: only what failed, was cancelled in flight or was never reached. A node with this id is `node:failed`. */
export const FAILED = "failed";
const named = (node: string): string => node === FAILED ? `node:${node}` : node;

export type Question = { readonly is: "cancel" | "hold" | "release" } | { readonly is: "rerun"; readonly from: string } | { readonly is: "send"; readonly name: string };

/** A question that asks for a reason. A message is sent in a dialog of its own. */
export type Reasoned = Exclude<Question, { readonly is: "send" }>;

const SAID = {
  cancel: ["Cancel this run?", "Running nodes are interrupted. This cannot be undone; a cancelled run can be run again.", "Cancel the run"],
  hold: ["Hold this run?", "Nothing new starts until it is released. Attempts in progress finish.", "Hold the run"],
  release: ["Release this run?", "It continues from where it stopped.", "Release the run"],
} as const;

/** Does what was asked. Gives the id of the run that it started, an empty text for none. A SyntaxError says where `text` is no JSON. */
async function acted(id: string, question: Reasoned, reason: string, from: string, text: string | null): Promise<string> {
  if (question.is === "rerun") {
    const body = new Map<string, Value>([...(reason === "" ? [] : [["reason", reason] as const]), ...(from === "" ? [] : [["from", from] as const])]);
    if (text !== null) body.set("inputs", valueOf(text));
    return textAt(await requestWritten("POST", `${runPath(id)}/rerun`, jsonOf(body)), "run_id");
  } else {
    await requestPlain("POST", `${runPath(id)}/${question.is}`, { reason });
  }
  return "";
}

/** Where a rerun begins, and its inputs. */
function RerunFields({ from, onFrom, nodes, unsuccessful, isLarge, text, onText }: {
  readonly from: string; readonly onFrom: (from: string) => void; readonly nodes: readonly string[]; readonly unsuccessful: boolean; readonly isLarge: boolean; readonly text: string; readonly onText: (text: string) => void;
}): ReactElement {
  return (
    <>
      <label><span className="label">From</span>
        <select className="field" value={from} onChange={(event) => { onFrom(event.target.value); }}>{unsuccessful ? <option value={FAILED}>the failed nodes</option> : null}<option value="">the start</option>{nodes.map((node) => <option key={node} value={named(node)}>{node}</option>)}{from === "" || from === FAILED || nodes.some((node) => named(node) === from) ? null : <option>{from}</option>}</select></label>
      {from === "" ? null : from === FAILED ? <p className="hint">Runs only the nodes that failed, were cancelled or never started, also in iterations and child runs.</p>
        : <p className="hint">Entries take the inputs as they are now. Completed nodes that do not come after {from} are taken over.</p>}
      {isLarge ? <p className="hint">The inputs are too large to edit here: the new run takes them as they are.</p>
        : <label><span className="label">Inputs of the run</span><textarea className="field" rows={8} spellCheck={false} value={text} onChange={(event) => { onText(event.target.value); }} /></label>}
    </>
  );
}

export function Asking({ id, question, inputs, nodes, unsuccessful, onDone }: {
  readonly id: string; readonly question: Reasoned; readonly inputs: Json; readonly unsuccessful: boolean; readonly nodes: readonly string[]; readonly onDone: (changed: boolean) => void;
}): ReactElement {
  const box = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState("");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const isLarge = apart(inputs).large.length > 0; // some of it is not here
  const given = isLarge ? "" : textOf(valueFrom(inputs));
  const [text, setText] = useState(given);
  const [from, setFrom] = useState(question.is === "rerun" ? question.from : "");
  useEffect(() => { if (box.current?.open === false) box.current.showModal(); }, []);
  const act = async (): Promise<void> => {
    const started = await acted(id, question, reason.trim(), from, text === given ? null : text);
    onDone(true);
    if (started !== "") go(runPath(started));
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setBusy(true);
    setFault("");
    act().catch((error: unknown) => {
      const { why, mend } = explained(error);
      setFault(error instanceof SyntaxError ? `The inputs are not JSON: ${error.message}` : `${why} ${mend}`);
    }).finally(() => { setBusy(false); });
  };
  const [title, effect, verb] = question.is === "rerun" ? ["Run again", "A new run of the same version. The old run does not change.", "Start the new run"] : SAID[question.is];
  return (
    <dialog ref={box} className="ask" aria-labelledby="ask-title" onClose={() => { onDone(false); }}>
      <form onSubmit={submit}>
        <h2 id="ask-title">{title}</h2>
        <p className="quiet">{effect}</p>
        {question.is === "rerun" ? <RerunFields from={from} onFrom={setFrom} nodes={nodes} unsuccessful={unsuccessful} isLarge={isLarge} text={text} onText={setText} /> : null}
        <label className="ask-reason"><span className="label">Reason (required)</span><textarea className="field" rows={2} maxLength={2000} required value={reason} onChange={(event) => { setReason(event.target.value); }} /></label>
        {fault === "" ? null : <p className="fault" role="alert">{fault}</p>}
        <div className="ask-buttons">
          <button className="button" type="button" onClick={() => { box.current?.close(); }}>Close</button>
          <button className={question.is === "cancel" ? "button danger" : "button first"} type="submit" disabled={busy || reason.trim() === ""}>{verb}</button>
        </div>
      </form>
    </dialog>
  );
}
