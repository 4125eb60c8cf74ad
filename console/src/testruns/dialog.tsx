/** Asks for a test run: its inputs, as a form where the entry says what they are, where it begins and where it stops. */
import "./testruns.css";
import { useEffect, useId, useMemo, useState, useSyncExternalStore, type ReactElement, type SyntheticEvent } from "react";
import { answerOf, fieldsOf, type Field } from "../ui/forms/answer_fields.ts";
import type { Desk, Look } from "../canvas/desk.ts";
import { settled } from "../panes/settled.ts";
import { Dialog } from "../ui/dialog.tsx";
import { isMapping, type Value } from "../editing/values/encoding.ts";
import { explained, Refusal } from "../wire/api.ts";
import { jsonOf, textOf, valueOf } from "../wire/exact.ts";
import { findingsRead, type OpenDraft } from "../wire/draft/open_draft.ts";
import { endedRuns, entriesOf, keepInputs, keptInputs, namesOf, propertiesOf, schemaOf, startTest } from "./asking.ts";
import { pathOf, type Tested, type TestRuns } from "./store.ts";

export default function TestDialog({ desk, look, openDraft, tests, stop, from, close }: {
  readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly tests: TestRuns; readonly stop: string; readonly from: string; readonly close: () => void;
}): ReactElement {
  const { tested } = useSyncExternalStore(tests.subscribe, tests.snapshot);
  const entries = useMemo(() => entriesOf(look.graph), [look.graph]);
  const [entry, setEntry] = useState(entries[0] ?? "");
  const properties = useMemo(() => propertiesOf(schemaOf(look.graph, look.draft.view, entry)), [look.graph, look.draft.view, entry]);
  const runs = useRuns(openDraft.draft, tested);
  const [source, setSource] = useState(tested?.id ?? "");
  const [text, setText] = useState(() => keptInputs(openDraft.draft) ?? "{}");
  const [asForm, setAsForm] = useState(properties !== null && isFlat(text));
  const [stopAfter, setStop] = useState(stop);
  const [begin, setBegin] = useState(from);
  const [withPins, setWithPins] = useState(true);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const names = namesOf(look.graph);
  const pins = [...look.graph.blocks.keys()].filter((tail) => look.draft.view.has(`pin/${tail}`)).length;
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setError(null);
    let inputs: Value;
    try {
      inputs = valueOf(text.trim() === "" ? "{}" : text);
    } catch (fault) {
      setError(new Error(`The inputs are not JSON: ${fault instanceof Error ? fault.message : ""}`));
      return;
    }
    keepInputs(openDraft.draft, text);
    desk.insist();
    setBusy(true);
    settled(openDraft).then((seq) => startTest(openDraft.draft, { seq, inputs, stopAfter, fromRun: source, from: source && begin, entry, withPins })).then((made) => {
      void tests.show(made);
      close();
    }, (fault: unknown) => {
      if (fault instanceof Refusal && fault.status === 422) { desk.found(findingsRead(fault.objects("findings"))); desk.insist(); }
      setError(fault);
      setBusy(false);
    });
  };
  return (
    <Dialog title="Test run" close={close}>
      <form onSubmit={submit}>
        <div className="dialog-body">
          <p className="quiet">Runs the draft as it is now, on the real engine. Nothing is published.</p>
          <div>
            <div className="test-inputs"><span className="label" id="test-inputs">Inputs</span>
              {properties === null ? null : <button type="button" className="button small" disabled={!asForm && !isFlat(text)} onClick={() => { setAsForm(!asForm); }}>{asForm ? "As JSON" : "As a form"}</button>}</div>
            {asForm && properties !== null ? <Form properties={properties} text={text} say={setText} />
              : <textarea className="field" rows={7} data-first aria-labelledby="test-inputs" spellCheck={false} value={text} onChange={(event) => { setText(event.target.value); }} />}
          </div>
          <div className="pair">
            {entries.length === 0 ? null : <Choice label="Entry" none="all of them" options={entries.map(same)} value={entry} choose={setEntry} />}
            <Choice label="Stop after" none="the end" options={names.map(same)} value={stopAfter} choose={setStop} />
            <Choice label="With the outputs of" none="no run" options={runs} value={source} choose={setSource} />
            <Choice label="Begin at" none="the start" options={names.map(same)} value={begin} choose={setBegin} disabled={source === ""} />
          </div>
          <p className="hint">{hintOf(source, begin)}</p>
          {pins === 0 ? null : <label className="check"><input type="checkbox" checked={withPins} onChange={(event) => { setWithPins(event.target.checked); }} /> Use {pins === 1 ? "the pinned output" : `the ${pins} pinned outputs`}</label>}
          {error === null ? null : <Refused desk={desk} look={look} error={error} close={close} />}
        </div>
        <div className="dialog-foot">
          <button className="button" type="button" onClick={close}>Cancel</button>
          <button className="button first" type="submit" disabled={busy}>{busy ? "Starting" : "Start the test run"}</button>
        </div>
      </form>
    </Dialog>
  );
}

/** The runs whose outputs a test run can take: the one that is shown, and those of the workflow. */
function useRuns(workflow: string, tested: Tested | null): readonly (readonly [id: string, said: string])[] {
  const [runs, setRuns] = useState<readonly (readonly [string, string])[]>([]);
  useEffect(() => {
    let left = false;
    endedRuns(workflow).then((found) => { if (!left) setRuns(found); }, () => undefined); // the one that is shown can be had nevertheless
    return () => { left = true; };
  }, [workflow]);
  return tested === null ? runs : [[tested.id, "the current test run"], ...runs];
}

function hintOf(source: string, begin: string): string {
  if (source === "") return "Choose a run that has ended to begin at a node with its outputs.";
  return begin === "" ? "" : `Nodes that do not come after ${begin} keep their outputs from that run.`;
}

const same = (name: string): readonly [string, string] => [name, name];

function Choice({ label, none, options, value, choose, disabled = false }: {
  readonly label: string; readonly none: string; readonly options: readonly (readonly [string, string])[]; readonly value: string; readonly choose: (name: string) => void; readonly disabled?: boolean;
}): ReactElement {
  const id = useId();
  return (
    <div>
      <label className="label" htmlFor={id}>{label}</label>
      <select id={id} className="field" value={value} disabled={disabled} onChange={(event) => { choose(event.target.value); }}><option value="">{none}</option>{options.map(([one, said]) => <option key={one} value={one}>{said}</option>)}</select>
    </div>
  );
}

/** Why it did not start. Nodes that could do what they cannot do in a run of the published version can be pinned; of each, the
    server says why. */
function Refused({ desk, look, error, close }: { readonly desk: Desk; readonly look: Look; readonly error: unknown; readonly close: () => void }): ReactElement {
  const { why, mend } = explained(error);
  const isUnknown = error instanceof Refusal && error.code === "unpublished_effect";
  const paths = isUnknown ? error.texts("violations") : [];
  const reasons = isUnknown ? error.texts("reasons") : [];
  const findings = error instanceof Refusal ? error.objects("findings").length : 0;
  const tailOf = (path: string): string | undefined => [...look.graph.blocks.keys()].find((tail) => pathOf(look.graph, tail) === path);
  return (
    <div className="test-refused" role="alert">
      <p className="fault">{isUnknown ? "The test run could do what a run of the published version cannot." : findings > 0 ? `Fix ${findings === 1 ? "the error" : `${findings} errors`} first.` : why}</p>
      <p>{isUnknown ? "Pin their outputs, stop before them, or ask an admin to run or publish the draft." : findings > 0 ? "The list below the canvas has all of them." : mend}</p>
      {reasons.length === 0 ? null : <ul>{reasons.map((reason) => <li key={reason}>{reason}</li>)}</ul>}
      {paths.length === 0 ? null : (
        <p className="inspector-row">{paths.map((path) => {
          const tail = tailOf(path);
          return tail === undefined ? null : <button key={path} type="button" className="button small" onClick={() => { close(); desk.select([tail], true); desk.change({ question: { is: "pin", tail } }); }}>Pin {path}…</button>;
        })}</p>
      )}
    </div>
  );
}

/** One control for each property. What is typed is kept as JSON. */
function Form({ properties, text, say }: { readonly properties: Readonly<Record<string, unknown>>; readonly text: string; readonly say: (text: string) => void }): ReactElement {
  const fields = useMemo(() => fieldsOf(properties), [properties]);
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(() => typedFrom(fields, text));
  const type = (name: string, value: string): void => {
    const next = new Map([...typed, [name, value]]);
    setTyped(next);
    say(textOf(answerOf(fields, next)));
  };
  return <div className="test-form">{fields.map((field, place) => <Control key={field.name} field={field} first={place === 0} value={typed.get(field.name) ?? field.initial} type={(value) => { type(field.name, value); }} />)}</div>;
}

function Control({ field, first, value, type }: { readonly field: Field; readonly first: boolean; readonly value: string; readonly type: (value: string) => void }): ReactElement {
  const id = useId();
  const shared = { id, ...(first ? { "data-first": true } : {}), "aria-describedby": `${id}-hint` };
  const hint = field.hint === "" ? null : <p className="hint" id={`${id}-hint`}>{field.hint}</p>;
  if (field.control === "check") {
    return <div><label className="check"><input {...shared} type="checkbox" checked={value === "true"} onChange={(event) => { type(String(event.target.checked)); }} /> {field.label}</label>{hint}</div>;
  }
  return (
    <div>
      <label className="label" htmlFor={id}>{field.label}</label>
      {field.control === "choice" ? (
        <select {...shared} className="field" value={value} onChange={(event) => { type(event.target.value); }}><option value="">(none)</option>{field.choices.map((one) => <option key={JSON.stringify(one)} value={JSON.stringify(one)}>{String(one)}</option>)}</select>
      ) : field.control === "lines" || field.control === "json" ? <textarea {...shared} className="field" rows={3} spellCheck={false} value={value} placeholder={field.control === "json" ? "JSON" : ""} onChange={(event) => { type(event.target.value); }} />
        : <input {...shared} className="field" value={value} inputMode={field.control === "text" ? "text" : "decimal"} spellCheck={false} autoComplete="off" onChange={(event) => { type(event.target.value); }} />}
      {hint}
    </div>
  );
}

/** Whether a form can show these inputs. */
function isFlat(text: string): boolean {
  try {
    return isMapping(valueOf(text.trim() === "" ? "{}" : text));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function typedFrom(fields: readonly Field[], text: string): Map<string, string> {
  const held = valueOf(text.trim() === "" ? "{}" : text);
  if (!isMapping(held)) return new Map();
  return new Map(fields.flatMap((field): [string, string][] => {
    const value = held.get(field.name);
    if (value === undefined) return [];
    return [[field.name, typeof value === "string" && (field.control === "text" || field.control === "lines") ? value : jsonOf(value)]];
  }));
}
