/** Shows the cost of a run, and how it differs from another. */
import { useEffect, useState, useSyncExternalStore, type ReactElement, type SyntheticEvent } from "react";
import { runPath } from "../../ui/addresses.ts";
import { dollars, lasting, shortId } from "../../ui/words/formats.ts";
import { Bones, Fault } from "../../ui/loading/notices.tsx";
import { Status } from "../../ui/status.tsx";
import { requestPlain } from "../../wire/api.ts";
import { compared, loudest, nameOf, said, turnsOf } from "../../runstate/counts.ts";
import { RunStore, type RunLook } from "../../runstate/store.ts";
import type { NodeSummary } from "../../runstate/types.ts";
import type { CostOut } from "../../wire/contract.ts";

export function Cost({ id, sequence }: { readonly id: string; readonly sequence: number }): ReactElement {
  const [bill, setBill] = useState<CostOut | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let left = false;
    requestPlain("GET", `${runPath(id)}/cost`).then((made) => { if (!left) { setBill(made as CostOut); setError(null); } }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [id, sequence, attempt]);
  if (error !== null && bill === null) return <div className="scrolled"><Fault error={error} again={() => { setError(null); setAttempt(attempt + 1); }} /></div>;
  if (bill === null) return <Bones label="The cost is loading" />;
  return (
    <div className="scrolled sheet" tabIndex={0} role="group" aria-label="Cost of the run">
      <p><b>{dollars(bill.usd_per_run)}</b> <span className="quiet">{bill.basis} · {bill.prices.region}, {bill.prices.date}</span></p>
      <table className="costs"><thead><tr><th scope="col">What</th><th scope="col" className="number">Count</th><th scope="col" className="number">Cost</th><th scope="col">Note</th></tr></thead>
        <tbody>{bill.lines.map((line) => <tr key={line.what + line.note}><td>{line.what}</td><td className="number">{line.count.toLocaleString("en")}</td><td className="number">{dollars((line.count * line.usd) / line.per)}</td><td className="quiet">{line.note}</td></tr>)}</tbody></table>
      <h2>Estimated cost elsewhere</h2>
      <table className="costs"><tbody>{bill.beside.map((other) => <tr key={other.name}><td>{other.name}</td><td className="number">{dollars(other.usd_per_run)}</td><td className="number">{typeof other.times === "number" ? `${other.times}×` : ""}</td><td className="quiet">{other.note}</td></tr>)}</tbody></table>
      <ul className="notes">{bill.notes.map((note) => <li key={note}>{note}</li>)}</ul>
    </div>
  );
}

interface Comparing {
  readonly id: string;
  readonly look: RunLook;
  readonly other: string;
  readonly all: boolean; // also the nodes that ended alike
  readonly onAll: (all: boolean) => void;
  readonly onNode: (path: string) => void;
}

export function Compare({ onOther, ...comparing }: Comparing & { readonly onOther: (id: string) => void }): ReactElement {
  const { id, other } = comparing;
  const [typed, setTyped] = useState(other);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    onOther(typed.trim());
  };
  return (
    <div className="scrolled sheet">
      <form className="compare-pick" onSubmit={submit}>
        <label className="label" htmlFor="compare-with">Another run, by its id</label>
        <span className="panel-pick"><input id="compare-with" className="field" value={typed} spellCheck={false} placeholder="run_…" onChange={(event) => { setTyped(event.target.value); }} /><button className="button" type="submit" disabled={typed.trim() === "" || typed.trim() === id}>Compare</button></span>
      </form>
      {other === "" ? null : <Differences key={other} {...comparing} />}
    </div>
  );
}

function Differences({ id, look, other, all, onAll, onNode }: Comparing): ReactElement {
  const [store] = useState(() => new RunStore(other));
  useEffect(() => {
    store.open();
    return () => { store.close(); };
  }, [store]);
  const beside = useSyncExternalStore(store.subscribe, store.snapshot);
  if (beside.head === null || beside.at === 0 || look.at === 0) return beside.error === null ? <Bones label="The runs are loading" /> : <Fault error={beside.error} again={() => { store.open(); }} />;
  const rows = compared(look.nodes, beside.nodes);
  const differing = rows.filter(({ differs }) => differs);
  return (
    <>
      {look.head === null || look.head.workflow === beside.head.workflow ? null : <p className="hint">The other run is of another workflow, {beside.head.workflow}: nodes are compared by their names.</p>}
      <p>{differing.length === 0 ? "All nodes ended with the same status." : `${differing.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} nodes ended differently.`} <button type="button" className="button small" aria-pressed={all} onClick={() => { onAll(!all); }}>{all ? "Differences only" : "Show all"}</button></p>
      <table className="differences">
        <thead><tr><th scope="col">Node</th><th scope="col" title={id}>{shortId(id)}</th><th scope="col" className="number">Duration</th><th scope="col" title={other}>{shortId(other)}</th><th scope="col" className="number">Duration</th></tr></thead>
        <tbody>
          <tr><td><b>Run</b></td><td><Status status={look.head?.status ?? ""} /></td><td className="number">{lasted(look)}</td><td><Status status={beside.head.status} /></td><td className="number">{lasted(beside)}</td></tr>
          {(all ? rows : differing).slice(0, MAX_SHOWN).map(({ path, left, right, differs }) => (
            <tr key={path} className={differs ? "differs" : ""}>
              <td><button type="button" className="link" onClick={() => { onNode(path); }}>{nameOf(path)}</button> <span className="quiet">{turnsOf(path)}</span></td>
              <td><Status status={loudest(left?.counts ?? {})}>{said(left?.counts ?? {})}</Status></td><td className="number">{took(left)}</td><td><Status status={loudest(right?.counts ?? {})}>{said(right?.counts ?? {})}</Status></td><td className="number">{took(right)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {(all ? rows : differing).length > MAX_SHOWN ? <p className="hint">The first {MAX_SHOWN} are shown.</p> : null}
    </>
  );
}

const MAX_SHOWN = 500;

function lasted({ ended, head, lasted }: RunLook): string {
  return lasting(ended && head !== null ? head.duration_ms : lasted);
}

function took(node: NodeSummary | null): string {
  return node === null || node.begin_ms === null || node.end_ms === null ? "" : lasting(node.end_ms - node.begin_ms);
}
