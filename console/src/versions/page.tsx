/** One published version, which never changes: what it was made from, next to its graph. */
import "./version.css";
import { useCallback, useEffect, useMemo, useState, type ReactElement } from "react";
import { RunGraph } from "../runs/view/graph/graph.tsx";
import { RunOutline } from "../runs/view/graph/outline.tsx";
import type { NodeSummary } from "../runstate/types.ts";
import { titleOf, type Made } from "../source/made.ts";
import { SourcePane } from "../source/part.tsx";
import { Source } from "../source/source.ts";
import { draftPath, follow, go, hrefOf, useAddress, versionPath, workflowPath } from "../ui/addresses.ts";
import { Bar } from "../ui/bar/bar.tsx";
import { useDrafts } from "../ui/drafts.ts";
import { Icon } from "../ui/icons.tsx";
import { Bones, Failed } from "../ui/loading/notices.tsx";
import { useSmall } from "../ui/theme/switching.ts";
import { When } from "../ui/words/times.tsx";
import { explained, Refusal, requestObject } from "../wire/api.ts";
import { drawn, newestOf, textOf, versionAt, type Version } from "./version.ts";

const NONE: ReadonlyMap<string, NodeSummary> = new Map();

export default function VersionPage({ workflow, number }: { readonly workflow: string; readonly number: number }): ReactElement {
  const [version, setVersion] = useState<Version | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let left = false;
    versionAt(workflow, number).then((found) => { if (!left) setVersion(found); }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [workflow, number, attempt]);
  useEffect(() => { document.title = `${workflow} v${number} · Stepless`; }, [workflow, number]);
  return (
    <div className="page whole">
      <Bar at="workflows" />
      {error !== null ? <Failed what={`Could not load version ${number} of ${workflow}.`} error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />
        : version === null ? <Bones lines={10} label="The version is loading" /> : <Shown version={version} />}
    </div>
  );
}

function Shown({ version }: { readonly version: Version }): ReactElement {
  const newest = useNewest(version);
  const { query } = useAddress();
  const here = versionPath(version.workflow, version.number);
  const [list, changes] = [workflowPath(version.workflow), `${workflowPath(version.workflow, "versions")}?from=${version.number - 1}&to=${version.number}`];
  return (
    <main className="version">
      <header className="version-head">
        <a className="head-home" href={hrefOf(list)} onClick={follow(list)} aria-label={`The workflow ${version.workflow}`}><Icon mark="back" /></a>
        <h1 className="cut">{version.name}</h1>
        <span className="version-number">v{version.number}</span>
        <span className="quiet cut">published <When at={version.at} /></span>
        <span className="head-gap" />
        {version.number === 1 ? null : <a className="button small" href={hrefOf(changes)} onClick={follow(changes)}>Changes since v{version.number - 1}</a>}
        {newest === version.number ? <Drafting workflow={version.workflow} /> : <a className="button small" href={hrefOf(versionPath(version.workflow, newest))} onClick={follow(versionPath(version.workflow, newest))}>Newest is v{newest}</a>}
      </header>
      <Beside version={version} chosen={query.get("node") ?? ""} choose={(path) => { go(path === "" ? here : `${here}?node=${encodeURIComponent(path)}`, true); }} />
    </main>
  );
}

/** The number of the newest version; until it is known, that of this one. */
function useNewest({ workflow, number }: Version): number {
  const [newest, setNewest] = useState(number);
  useEffect(() => {
    let left = false;
    newestOf(workflow).then((found) => { if (!left) setNewest(found); }, () => undefined); // then the list ends with this version
    return () => { left = true; };
  }, [workflow]);
  return newest;
}

function Drafting({ workflow }: { readonly workflow: string }): ReactElement | null {
  const hasDrafts = useDrafts();
  const [fault, setFault] = useState<string | null>(null);
  const open = (): void => {
    requestObject("POST", draftPath(workflow), new Map([["from", "version"]])).then(
      () => { go(draftPath(workflow)); },
      (error: unknown) => {
        if (error instanceof Refusal && error.status === 409) go(draftPath(workflow)); // it is open already
        else setFault(explained(error).why);
      },
    );
  };
  if (!hasDrafts) return null;
  return <>{fault === null ? null : <span className="fault" role="alert">{fault}</span>}<button className="button small" type="button" onClick={open}>Open a draft</button></>;
}

// -- the source next to the graph -------------------------------------------------------------------------------------------------

function Beside({ version, chosen, choose }: { readonly version: Version; readonly chosen: string; readonly choose: (path: string) => void }): ReactElement {
  const { graph, source } = useMemo(() => drawn(version), [version]);
  const written = useWritten(version);
  const isSmall = useSmall();
  const shown = useMemo(() => source ?? (written === null ? null : new Source(written, [])), [source, written]);
  const picked = useCallback((path: string) => { choose(path); }, [choose]);
  return (
    <div className="beside">
      <div className="beside-text">
        {shown === null ? <Bones lines={16} label="The text is loading" /> : (
          <SourcePane source={shown} chosen={chosen === "" ? null : chosen} choose={picked} {...(version.made === null ? {} : { note: <Compiled made={version.made} /> })} />
        )}
      </div>
      <div className="beside-graph">{isSmall ? <RunOutline graph={graph} nodes={NONE} chosen={chosen} onChoose={picked} /> : <RunGraph graph={graph} nodes={NONE} chosen={chosen} onChoose={picked} isPlain />}</div>
    </div>
  );
}

function Compiled({ made }: { readonly made: Made }): ReactElement {
  const file = titleOf(made);
  return <p>Compiled from <b>{file}</b>. To change the workflow, change the file, and publish it: <code>stepless publish {file}</code>.</p>;
}

/** The author's text, as if it were a source, of a version that was not compiled. */
function useWritten(version: Version): Made | null {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    if (version.made !== null) return;
    let left = false;
    textOf(version).then((found) => { if (!left) setText(found); }, (error: unknown) => { if (!left) setText(`# ${explained(error).why}\n`); });
    return () => { left = true; };
  }, [version]);
  return useMemo(() => text === null ? null : { language: "yaml", file: version.workflow, name: "", source: text, parts: [] }, [text, version]);
}
