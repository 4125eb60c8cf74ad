/** Starts a run: a form from the `inputs` of the entry, or JSON. The server checks what is given before it starts anything. */
import { useId, useState, type ReactElement, type SyntheticEvent } from "react";
import { textAt } from "../editing/values.ts";
import { isMapping, type Value } from "../editing/encoding.ts";
import { go, runPath, useAddress, workflowPath } from "../ui/addresses.ts";
import { faultsOf, formOf, NO_FAULTS, typedOf, valueOf, type Faults, type FormField } from "../ui/forms/schema_fields.ts";
import { SchemaForm } from "../ui/forms/schema_form.tsx";
import { explained, Refusal, requestPlain, requestText, requestWritten } from "../wire/api.ts";
import { jsonOf, textOf, valueOf as exactOf } from "../wire/exact.ts";
import type { Entry } from "./document.ts";

const NO_FIELDS: readonly FormField[] = [];
const NOTHING: ReadonlyMap<string, string> = new Map();
const BEGUN: Readonly<Record<string, string>> = {
  manual: "{}", event: "{\n  \"source\": \"shop\",\n  \"detail\": {}\n}",
  webhook: "{\n  \"body\": {},\n  \"headers\": {},\n  \"query\": {},\n  \"path\": \"/\"\n}",
  schedule: "{\n  \"scheduled_at\": null\n}",
};

export function Start({ workflow, entries }: { readonly workflow: string; readonly entries: readonly Entry[] }): ReactElement {
  const asked = useAddress().query.get("entry");
  const entry = entries.find(({ id }) => id === asked) ?? entries[0] ?? null;
  const choose = (id: string): void => { go(`${workflowPath(workflow, "start")}?entry=${encodeURIComponent(id)}`, true); };
  return (
    <section aria-label="Start a run" className="start">
      {entries.length < 2 ? null : (
        <label><span className="label">Entry</span>
          <select className="field" value={entry?.id} onChange={(event) => { choose(event.target.value); }}>{entries.map(({ id, kind }) => <option key={id} value={id}>{id === kind ? id : `${id} (${kind})`}</option>)}</select>
        </label>
      )}
      {entry === null || entry.kind === "manual" ? null : <p className="hint">A {entry.kind} starts this entry by itself. Started manually, it outputs the value below.</p>}
      <Inputs key={entry?.id} workflow={workflow} entry={entry} several={entries.length > 1} />
    </section>
  );
}

function Inputs({ workflow, entry, several }: { readonly workflow: string; readonly entry: Entry | null; readonly several: boolean }): ReactElement {
  const id = useId();
  const form = formOf(entry?.inputs);
  const fields = form ?? NO_FIELDS;
  const [asForm, setAsForm] = useState(form !== null);
  const [typed, setTyped] = useState(NOTHING);
  const [json, setJson] = useState(BEGUN[entry?.kind ?? ""] ?? "{}");
  const [words, setWords] = useState("");
  const [faults, setFaults] = useState<Faults>(NO_FAULTS);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");

  const turn = (): void => {
    setFaults(NO_FAULTS);
    if (asForm) {
      setJson(textOf(valueOf(fields, typed)));
      setAsForm(false);
      return;
    }
    const made = faultOfJson(json) === "" ? typedOf(fields, exactOf(json)) : null;
    if (made === null) setFaults({ whole: ["The form has no field for some of these values. They stay as JSON."], byField: new Map() });
    else {
      setTyped(made);
      setAsForm(true);
    }
  };
  const fill = (inputs: Value): void => {
    setFaults(NO_FAULTS);
    const made = form === null ? null : typedOf(fields, inputs);
    if (made === null) setJson(textOf(inputs));
    else setTyped(made);
    setAsForm(made !== null);
  };
  const last = (): void => {
    setSaid("");
    lastInputs(workflow).then((inputs) => {
      if (inputs === undefined) setSaid("There is no earlier run to take inputs from.");
      else fill(inputs);
    }, (error: unknown) => { setSaid(explained(error).why); });
  };
  const start = (event: SyntheticEvent): void => {
    event.preventDefault();
    const fault = asForm ? "" : faultOfJson(json);
    if (fault !== "") {
      setFaults({ whole: [`The inputs are not JSON: ${fault}`], byField: new Map() });
      return;
    }
    setBusy(true);
    setFaults(NO_FAULTS);
    const keywords = words.split(/[\s,]+/).filter(Boolean);
    const body = new Map<string, Value>([
      ["inputs", asForm ? valueOf(fields, typed) : exactOf(json)],
      ...(several && entry !== null ? [["entry", entry.id] as const] : []), ...(keywords.length === 0 ? [] : [["keywords", keywords] as const]),
    ]);
    requestWritten("POST", `/workflows/${encodeURIComponent(workflow)}/runs?check=inputs`, jsonOf(body)).then(
      (made) => { go(runPath(textAt(made, "run_id"))); },
      (error: unknown) => { setBusy(false); setFaults(refused(error, asForm ? fields : NO_FIELDS)); },
    );
  };
  return (
    <form onSubmit={start} noValidate>
      <div className="workflow-line">
        <h2>Inputs</h2>
        {form === null ? null : <button className="button small" type="button" onClick={turn}>{asForm ? "Write JSON" : "Use the form"}</button>}
        <button className="button small" type="button" onClick={last}>As the last run</button>
        <span className="hint" role="status">{said}</span>
      </div>
      {asForm ? fields.length === 0 ? <p className="quiet">This entry takes no inputs.</p>
        : <SchemaForm id={id} fields={fields} typed={typed} faults={faults} onType={(name, text) => { setTyped(new Map(typed).set(name, text)); }} />
        : (
          <label><span className="label">JSON{(entry?.inputs ?? null) === null ? ", of any shape: the entry has no schema of its inputs" : ""}</span>
            <textarea className="field" rows={Math.min(20, Math.max(6, json.split("\n").length + 1))} spellCheck={false} value={json} onChange={(event) => { setJson(event.target.value); }} aria-invalid={faults.whole.length > 0} /></label>
        )}
      <label className="start-words"><span className="label">Keywords, to find the run by</span><input className="field" value={words} placeholder="customer:c-17" autoComplete="off" spellCheck={false} onChange={(event) => { setWords(event.target.value); }} /></label>
      <div role="alert">{faults.whole.map((one) => <p className="fault" key={one}>{one}</p>)}{faults.byField.size > 0 ? <p className="fault">Not started: {faults.byField.size === 1 ? "one field is" : `${faults.byField.size} fields are`} invalid.</p> : null}</div>
      <button className="button first" type="submit" disabled={busy}>{busy ? "Starting…" : "Start the run"}</button>
    </form>
  );
}

function faultOfJson(text: string): string {
  try {
    exactOf(text);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function refused(error: unknown, fields: readonly FormField[]): Faults {
  if (error instanceof Refusal && error.texts("violations").length > 0) return faultsOf(error.texts("violations"), fields);
  const { why, mend } = explained(error);
  return { whole: [`${why} ${mend}`.trim()], byField: new Map() };
}

/** The inputs of the newest run; undefined without one. */
async function lastInputs(workflow: string): Promise<Value | undefined> {
  const { runs } = await requestPlain("GET", `/runs?workflow=${encodeURIComponent(workflow)}&limit=1`) as { readonly runs: readonly { readonly id: string }[] };
  if (runs[0] === undefined) return undefined;
  const run = exactOf(await requestText(runPath(runs[0].id)));
  return (isMapping(run) ? run.get("inputs") : null) ?? null;
}
