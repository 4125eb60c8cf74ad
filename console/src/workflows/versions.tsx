/** Lists the versions, who published them and why, and shows the diff of any two. */
import { useEffect, useState, type ReactElement } from "react";
import { LineChanges, linesDiffer, NodeChanges } from "../source/differences/changes.tsx";
import { sumWords } from "../source/differences/texts.ts";
import { sourceTexts, withoutLines, withoutSource } from "../source/differences/source_lines.ts";
import { SourceChanges } from "../source/differences/source_changes.tsx";
import { follow, go, hrefOf, useAddress, versionPath, workflowPath } from "../ui/addresses.ts";
import { nameOf } from "../wire/names.ts";
import { Bones, Failed } from "../ui/loading/notices.tsx";
import { When } from "../ui/words/times.tsx";
import { explained, requestPlain } from "../wire/api.ts";
import { versionsDifference, type Difference } from "../wire/draft/served.ts";
import type { DraftHead } from "./health.ts";
import { OpenDraft } from "./opening.tsx";
import type { VersionsOut } from "../wire/contract.ts";


type Page = VersionsOut;

const MAX_CHOICES = 200;

export function Versions({ workflow, newest, draft }: { readonly workflow: string; readonly newest: number; readonly draft: DraftHead | null }): ReactElement {
  const { query } = useAddress();
  const [from, to] = [numberOf(query.get("from")), numberOf(query.get("to"))];
  if (from !== null && to !== null) return <Compared workflow={workflow} newest={newest} from={from} to={to} byLine={query.get("by") === "line"} />;
  return <List workflow={workflow} draft={draft} />;
}

function numberOf(text: string | null): number | null {
  const made = Number(text);
  return text !== null && Number.isSafeInteger(made) && made > 0 ? made : null;
}

function comparePath(workflow: string, from: number, to: number, byLine = false): string {
  return `${workflowPath(workflow, "versions")}?from=${from}&to=${to}${byLine ? "&by=line" : ""}`;
}

function List({ workflow, draft }: { readonly workflow: string; readonly draft: DraftHead | null }): ReactElement {
  const [found, setFound] = useState<Page | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [before, setBefore] = useState<number | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    requestPlain("GET", `/workflows/${encodeURIComponent(workflow)}/versions${before === null ? "" : `?before=${before}`}`, undefined, leaving.signal).then((answer) => {
      const made = answer as Page;
      setFound((old) => ({ versions: [...(before === null ? [] : (old?.versions ?? []).filter((one) => one.version >= before)), ...made.versions], next_before: made.next_before }));
      setError(null);
    }, (failed: unknown) => { if (!leaving.signal.aborted) setError(failed); });
    return () => { leaving.abort(); };
  }, [workflow, before, attempt]);
  const again = (): void => { setError(null); setAttempt(attempt + 1); };
  if (found === null) return error === null ? <Bones lines={8} label="The versions are loading" /> : <Failed what="Could not load the versions." error={error} again={again} />;
  const next = found.next_before;
  return (
    <section aria-label="Versions">
      <table className="versions">
        <thead><tr><th scope="col">Version</th><th scope="col">Published</th><th scope="col">By</th><th scope="col">Message</th><th scope="col"><span className="hidden">Do</span></th></tr></thead>
        <tbody>
          {found.versions.map((one) => {
            const changes = comparePath(workflow, one.version - 1, one.version);
            return (
              <tr key={one.version}>
                <td className="versions-number"><a href={hrefOf(versionPath(workflow, one.version))} onClick={follow(versionPath(workflow, one.version))}><b>v{one.version}</b></a></td>
                <td className="versions-when"><When at={one.published_at} /></td>
                <td className="versions-by">{one.by === null ? <span className="quiet" title="Published by a file or a program, not from a draft">a file or program</span> : nameOf(one.by)}</td>
                <td className="versions-message">{one.message === null ? <span className="quiet">no message</span> : one.message}</td>
                <td className="versions-do">
                  {one.version > 1 ? <a className="button small" href={hrefOf(changes)} onClick={follow(changes)} aria-label={`Changes in v${one.version}`}>Changes</a> : null}
                  <OpenDraft workflow={workflow} version={one.version} draft={draft}>Open a draft</OpenDraft>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {error === null ? null : <p className="fault" role="alert">{explained(error).why} <button className="button small" type="button" onClick={again}>Try again</button></p>}
      {next === null ? null : <p><button className="button" type="button" onClick={() => { setBefore(next); }}>Older versions</button></p>}
    </section>
  );
}

function Compared({ workflow, newest, from, to, byLine }: {
  readonly workflow: string; readonly newest: number; readonly from: number; readonly to: number; readonly byLine: boolean;
}): ReactElement {
  const [found, setFound] = useState<{ readonly key: string; readonly made: Omit<Difference, "seq"> } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const key = `${from} ${to}`;
  useEffect(() => {
    let left = false;
    versionsDifference(workflow, from, to).then((made) => {
      if (left) return;
      setFound({ key, made });
      setError(null);
    }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [workflow, from, to, key, attempt]);
  const list = workflowPath(workflow, "versions");
  const made = found?.key === key ? found.made : null;
  return (
    <section aria-label="Differences" className="compared">
      <div className="workflow-line">
        <Choice label="From" value={from} newest={newest} choose={(next) => { go(comparePath(workflow, next, to, byLine)); }} />
        <Choice label="to" value={to} newest={newest} choose={(next) => { go(comparePath(workflow, from, next, byLine)); }} />
        <nav className="pane-ways" aria-label="Differences">
          {[false, true].map((line) => {
            const path = comparePath(workflow, from, to, line);
            return <a key={String(line)} href={hrefOf(path)} onClick={follow(path)} aria-current={line === byLine ? "page" : undefined}>{line ? "By line" : "By node"}</a>;
          })}
        </nav>
        <span className="head-gap" />
        <span className="quiet" role="status">{made === null ? "" : sumWords(made.nodes, made.document.length) || "No node changed"}</span>
        <a className="button small" href={hrefOf(list)} onClick={follow(list)}>All versions</a>
      </div>
      {error !== null ? <Failed what="Could not load the differences." error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />
        : made === null ? <Bones lines={10} label="The differences are loading" /> : <Changes made={made} byLine={byLine} />}
    </section>
  );
}

function Changes({ made, byLine }: { readonly made: Omit<Difference, "seq">; readonly byLine: boolean }): ReactElement {
  if (byLine && linesDiffer(made.lines)) return <LineChanges lines={made.lines} />;
  const [fields, nodes, texts] = [withoutSource(made.document), withoutLines(made.nodes), sourceTexts(made.document)];
  if (!byLine && (nodes.length + fields.length > 0 || texts !== null)) {
    return <>{texts === null ? null : <SourceChanges texts={texts} title="Source" />}<NodeChanges nodes={nodes} document={fields} knownOf={() => null} /></>;
  }
  const onlyText = !byLine && linesDiffer(made.lines);
  return (
    <div className="empty-page">
      <h2>{onlyText ? "Only the text differs" : "No differences"}</h2>
      <p>{onlyText ? "Comments, blank lines or the order of lines changed: see them by line." : "Choose two versions to see what changed from one to the other."}</p>
    </div>
  );
}

function Choice({ label, value, newest, choose }: { readonly label: string; readonly value: number; readonly newest: number; readonly choose: (version: number) => void }): ReactElement {
  const known = Array.from({ length: Math.min(newest, MAX_CHOICES) }, (_, at) => newest - at);
  return (
    <label className="pane-against">{label}
      <select className="field" value={value} onChange={(event) => { choose(Number(event.target.value)); }}>
        {(known.includes(value) ? known : [...known, value]).map((version) => <option key={version} value={version}>v{version}</option>)}
      </select>
    </label>
  );
}
