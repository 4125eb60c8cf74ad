/** What differs between two versions: the source first, then the nodes. */
import { useEffect, useState, type ReactElement } from "react";
import { LineChanges } from "../panes/differences.tsx";
import { lineChanges } from "../source/changes.ts";
import { SourceChanges } from "../source/diff.tsx";
import { follow, hrefOf, versionPath } from "../ui/addresses.ts";
import { Icon, markOf, type Mark } from "../ui/icons.tsx";
import { Bones, Failed } from "../ui/notices.tsx";
import { changedNodes, textOf, versionAt, type Changed, type Version } from "./version.ts";

const MARKS: Readonly<Partial<Record<Changed["change"], Mark>>> = { added: "plus", removed: "minus" };

interface Found {
  readonly former: Version;
  readonly texts: readonly [before: string, after: string] | null;
}

async function found(version: Version, against: number): Promise<Found> {
  const former = await versionAt(version.workflow, against);
  const isCompiled = version.made !== null || former.made !== null;
  return { former, texts: isCompiled ? null : await Promise.all([textOf(former), textOf(version)]) };
}

export default function Changes({ version, against }: { readonly version: Version; readonly against: number }): ReactElement {
  const [read, setRead] = useState<Found | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let left = false;
    found(version, against).then((made) => { if (!left) setRead(made); }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [version, against, attempt]);
  if (error !== null) return <Failed what="The changes are not shown." error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />;
  if (read === null) return <Bones lines={12} label="The changes are loading" />;
  return <div className="pane-body version-changes" tabIndex={0} role="region" aria-label={`Changes since v${against}`}><Difference version={version} read={read} /></div>;
}

function Difference({ version, read: { former, texts } }: { readonly version: Version; readonly read: Found }): ReactElement {
  const nodes = changedNodes(former.document, version.document);
  const lines = texts === null ? [] : lineChanges(...texts);
  const moved = former.made?.source !== version.made?.source;
  if (nodes.length === 0 && lines.length === 0 && !moved) return <div className="pane-empty"><h2>Nothing differs</h2></div>;
  const here = versionPath(version.workflow, version.number);
  return (
    <>
      {moved ? <SourceChanges before={former.made} after={version.made} /> : null}
      {lines.length === 0 ? null : <section className="source-changes"><LineChanges lines={lines} /></section>}
      {nodes.length === 0 ? <p className="quiet">The graph is the same.</p> : (
        <ul className="changes">
          {nodes.map(({ path, type, change, fields }) => (
            <li key={path} className={`change ${change}`}>
              <h2>
                <Icon mark={MARKS[change] ?? markOf(type)} />
                {change === "removed" ? path : <a href={hrefOf(`${here}?node=${encodeURIComponent(path)}`)} onClick={follow(`${here}?node=${encodeURIComponent(path)}`)}>{path}</a>}
                <span className="change-word">{change}{fields.length === 0 ? "" : `: ${fields.join(", ")}`}</span>
              </h2>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
