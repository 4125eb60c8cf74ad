/** Starts a run: a form from the `inputs` of the entry, or JSON. The server checks what is given before it starts anything. */
import { useId, useState, type ReactElement, type SyntheticEvent } from "react";
import { at, textAt, type JsonObject } from "../editing/values/values.ts";
import { isMapping, type Value } from "../editing/values/encoding.ts";
import { follow, go, hrefOf, runPath, useAddress, workflowPath } from "../ui/addresses.ts";
import { Controls, Turn, useWriting, WritingFaults } from "../ui/forms/writing.tsx";
import { shortId } from "../ui/words/formats.ts";
import { explained, Refusal, requestPlain, requestText, requestWritten } from "../wire/api.ts";
import { jsonOf, valueOf as exactOf } from "../wire/exact.ts";
import type { Entry } from "./document.ts";

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
  const writing = useWriting({ schema: entry?.inputs, begun: BEGUN[entry?.kind ?? ""] ?? "{}", name: "inputs", subject: "The inputs are" });
  const [words, setWords] = useState("");
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const [live, setLive] = useState<Live | null>(null);
  const last = (): void => {
    setSaid("");
    lastInputs(workflow).then((inputs) => {
      if (inputs === undefined) setSaid("There is no earlier run to take inputs from.");
      else writing.fill(inputs);
    }, (error: unknown) => { setSaid(explained(error).why); });
  };
  const start = (event: SyntheticEvent): void => {
    event.preventDefault();
    const inputs = writing.read();
    setLive(null);
    if (inputs === undefined) return;
    setBusy(true);
    const keywords = words.split(/[\s,]+/).filter(Boolean);
    const body = new Map<string, Value>([
      ["inputs", inputs], ...(several && entry !== null ? [["entry", entry.id] as const] : []), ...(keywords.length === 0 ? [] : [["keywords", keywords] as const]),
    ]);
    requestWritten("POST", `/workflows/${encodeURIComponent(workflow)}/runs?check=inputs`, jsonOf(body)).then(
      (made) => {
        if (at(made, ["joined"]) !== true) go(runPath(textAt(made, "run_id")));
        else {
          setBusy(false);
          setLive(joined(made));
        }
      },
      (error: unknown) => {
        setBusy(false);
        if (error instanceof Refusal && error.code === "key_taken") setLive(taken(error));
        else writing.refuse(error);
      },
    );
  };
  return (
    <form onSubmit={start} noValidate>
      <div className="workflow-line">
        <h2>Inputs</h2>
        <Turn writing={writing} />
        <button className="button small" type="button" onClick={last}>As the last run</button>
        <span className="hint" role="status">{said}</span>
      </div>
      <Controls id={id} writing={writing} none="This entry takes no inputs." label={(entry?.inputs ?? null) === null ? "JSON, of any shape: the entry has no schema of its inputs" : "JSON"} />
      <label className="start-words"><span className="label">Keywords, to find the run by</span><input className="field" value={words} placeholder="customer:c-17" autoComplete="off" spellCheck={false} onChange={(event) => { setWords(event.target.value); }} /></label>
      <WritingFaults faults={writing.faults} undone="Not started" />
      <div role="status">{live === null ? null : <p className="start-live">{live.said} <a href={hrefOf(runPath(live.run))} onClick={follow(runPath(live.run))} title={live.run}>Open run <code>{shortId(live.run)}</code></a></p>}</div>
      <button className="button first" type="submit" disabled={busy}>{busy ? "Starting…" : "Start the run"}</button>
    </form>
  );
}

/** The live run that has the key of a start. */
interface Live {
  readonly run: string;
  readonly said: string;
}

function joined(made: JsonObject): Live {
  return { run: textAt(made, "run_id"), said: `A run with the key ${textAt(made, "key")} is live, so no other was started. It keeps its own inputs.` };
}

function taken(error: Refusal): Live {
  return { run: textAt(error.facts, "run_id"), said: "Not started: a run with the same key is live." };
}

/** The inputs of the newest run; undefined without one. */
async function lastInputs(workflow: string): Promise<Value | undefined> {
  const { runs } = await requestPlain("GET", `/runs?workflow=${encodeURIComponent(workflow)}&limit=1`) as { readonly runs: readonly { readonly id: string }[] };
  if (runs[0] === undefined) return undefined;
  const run = exactOf(await requestText(runPath(runs[0].id)));
  return (isMapping(run) ? run.get("inputs") : null) ?? null;
}
