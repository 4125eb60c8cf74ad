/** The drafts that are open, and the workflows of which one can be opened. */
import "./drafts.css";
import { useEffect, useState, type ReactElement, type SyntheticEvent } from "react";
import { isList, isObject, textAt, type Json } from "../editing/values.ts";
import { draftPath, follow, go, hrefOf, versionPath } from "../ui/addresses.ts";
import { Bar } from "../ui/bar.tsx";
import { nameOf } from "../ui/names.ts";
import { Bones, Failed } from "../ui/notices.tsx";
import { When } from "../ui/times.tsx";
import { explained, Refusal, requestObject } from "../wire/api.ts";

interface Draft {
  readonly workflow: string;
  readonly by: string;
  readonly at: string;
}

interface Workflow {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly at: string;
}

interface Lists {
  readonly drafts: readonly Draft[];
  readonly workflows: readonly Workflow[];
}

const MOST_PAGES = 20;

/** All pages of a list, up to a bound. */
async function listed(path: string, name: string): Promise<ReadonlyMap<string, Json>[]> {
  const found: ReadonlyMap<string, Json>[] = [];
  let cursor = "";
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await requestObject("GET", `${path}${cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`}`);
    const items = answer.get(name);
    found.push(...(isList(items) ? items : []).filter(isObject));
    cursor = textAt(answer, "cursor");
    if (cursor === "") break;
  }
  return found;
}

async function lists(): Promise<Lists> {
  const [drafts, workflows] = await Promise.all([listed("/drafts", "drafts"), listed("/workflows", "workflows")]);
  return {
    drafts: drafts.map((one) => ({ workflow: textAt(one, "workflow"), by: textAt(one, "created_by"), at: textAt(one, "created_at") })),
    workflows: workflows.map((one) => ({ id: textAt(one, "id"), name: textAt(one, "name"), version: Number(one.get("version")), at: textAt(one, "published_at") })),
  };
}

export function Drafts(): ReactElement {
  const [found, setFound] = useState<Lists | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let left = false;
    lists().then((made) => { if (!left) setFound(made); }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [attempt]);
  useEffect(() => { document.title = "Workflows · Stepless"; }, []);
  if (error !== null) {
    return <div className="page"><Bar at="workflows" /><Failed what="The drafts are not shown." error={error} again={() => { setError(null); setAttempt(attempt + 1); }} /></div>;
  }
  return (
    <div className="page">
      <Bar at="workflows" />
      <main>
        <div className="page-title"><h1>Workflows</h1><NewDraft /></div>
        {found === null ? <Bones lines={9} label="The workflows are loading" /> : <Table found={found} />}
      </main>
    </div>
  );
}

function Table({ found }: { readonly found: Lists }): ReactElement {
  const drafts = new Map(found.drafts.map((draft) => [draft.workflow, draft]));
  const fresh = found.drafts.filter((draft) => !found.workflows.some((one) => one.id === draft.workflow));
  if (found.workflows.length === 0 && fresh.length === 0) {
    return <div className="page-empty"><h2>There are no workflows yet</h2><p className="quiet">Begin one here, or publish a file: <code>stepless dev</code> publishes those of its folder.</p></div>;
  }
  return (
    <table>
      <thead><tr><th scope="col">Workflow</th><th scope="col">Version</th><th scope="col">Draft</th><th scope="col"><span className="hidden">Open</span></th></tr></thead>
      <tbody>
        {fresh.map((draft) => <Line key={draft.workflow} id={draft.workflow} name={draft.workflow} version={null} at="" draft={draft} />)}
        {found.workflows.map((one) => <Line key={one.id} id={one.id} name={one.name} version={one.version} at={one.at} draft={drafts.get(one.id) ?? null} />)}
      </tbody>
    </table>
  );
}

function Line({ id, name, version, at, draft }: {
  readonly id: string; readonly name: string; readonly version: number | null; readonly at: string; readonly draft: Draft | null;
}): ReactElement {
  const [fault, setFault] = useState<string | null>(null);
  const open = (): void => {
    requestObject("POST", draftPath(id), new Map<string, Json>([["from", "version"]])).then(
      () => { go(draftPath(id)); }, (error: unknown) => { setFault(explained(error).why); },
    );
  };
  return (
    <tr>
      <td>{draft === null ? <b>{name || id}</b> : <a href={hrefOf(draftPath(id))} onClick={follow(draftPath(id))}>{name || id}</a>}{name === id || name === "" ? null : <span className="quiet"> {id}</span>}</td>
      <td>{version === null ? <span className="quiet">not published</span> : <><a href={hrefOf(versionPath(id, version))} onClick={follow(versionPath(id, version))} aria-label={`Version ${version} of ${name || id}`}>v{version}</a> <span className="quiet"><When at={at} /></span></>}</td>
      <td>{draft === null ? <span className="quiet">none</span> : <>by {nameOf(draft.by) || "someone"} <span className="quiet"><When at={draft.at} /></span></>}</td>
      <td>
        {draft === null ? <button className="button small" type="button" onClick={open}>Open a draft</button>
          : <a className="button small" href={hrefOf(draftPath(id))} onClick={follow(draftPath(id))}>Edit</a>}
        {fault === null ? null : <span className="fault" role="alert">{fault}</span>}
      </td>
    </tr>
  );
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

function NewDraft(): ReactElement {
  const [id, setId] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const make = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!ID.test(id)) {
      setFault("An id has letters, digits, _ and -, and at most 64 characters.");
      return;
    }
    requestObject("POST", draftPath(id), new Map<string, Json>([["from", "empty"]])).then(
      () => { go(draftPath(id)); },
      (error: unknown) => { setFault(error instanceof Refusal && error.status === 409 ? "There is a draft of this workflow already." : explained(error).why); },
    );
  };
  return (
    <form className="page-new" onSubmit={make}>
      <label className="hidden" htmlFor="new-id">Id of a new workflow</label>
      <input id="new-id" className="field" placeholder="id of a new workflow" value={id} spellCheck={false} autoComplete="off" aria-invalid={fault !== null} aria-describedby="new-fault"
        onChange={(event) => { setId(event.target.value); setFault(null); }} />
      <button className="button first" type="submit" disabled={id === ""}>New workflow</button>
      <p id="new-fault" className="fault" role="status">{fault}</p>
    </form>
  );
}
