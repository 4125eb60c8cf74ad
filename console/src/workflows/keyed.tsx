/** Finds the runs of a key: the live one, and those that had it before. */
import { useState, type ReactElement, type SyntheticEvent } from "react";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { shortId } from "../ui/words/formats.ts";
import { Status } from "../ui/status.tsx";
import { When } from "../ui/words/times.tsx";
import { explained, requestPlain } from "../wire/api.ts";
import type { KeyRunsOut } from "../wire/contract.ts";

export function KeyedRuns({ workflow }: { readonly workflow: string }): ReactElement {
  const [key, setKey] = useState("");
  const [found, setFound] = useState<KeyRunsOut | null>(null);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setBusy(true);
    setFault("");
    requestPlain("GET", `/workflows/${encodeURIComponent(workflow)}/keys/${encodeURIComponent(key.trim())}`).then((answer) => { setFound(answer as KeyRunsOut); }, (error: unknown) => {
      setFound(null);
      setFault(explained(error).why);
    }).finally(() => { setBusy(false); });
  };
  return (
    <>
      <form className="keyed-find" role="search" onSubmit={submit}>
        <input className="field" type="search" required aria-label="Find the runs of a key" placeholder="Find the runs of a key" autoComplete="off" spellCheck={false} value={key} onChange={(event) => { setKey(event.target.value); }} />
        <button className="button" type="submit" disabled={busy || key.trim() === ""}>Find</button>
      </form>
      <div role="status">{fault !== "" ? <p className="fault">{fault}</p> : found === null ? null : found.runs.length === 0 ? <p className="quiet">No run has had the key <code>{found.key}</code> lately.</p> : (
        <ul className="keyed-runs">{found.runs.map(({ run_id: id, status, created_at: at }) => (
          <li key={id}><Status status={status} /><a href={hrefOf(runPath(id))} onClick={follow(runPath(id))} title={id}><code>{shortId(id)}</code></a>{id === found.live ? <b>live</b> : null}<span className="quiet"><When at={at} /></span></li>
        ))}</ul>
      )}</div>
    </>
  );
}
