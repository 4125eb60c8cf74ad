/** What differs between two texts of a source, which comes before what differs between the graphs. */
import "./source.css";
import { useMemo, type ReactElement } from "react";
import { LineChanges } from "../panes/differences.tsx";
import { Icon } from "../ui/icons.tsx";
import { lineChanges } from "./changes.ts";
import { titleOf, type Made } from "./made.ts";

/** Either may be missing: a version that was written as a document has no source. Nothing where both have the same. */
export function SourceChanges({ before, after }: { readonly before: Made | null; readonly after: Made | null }): ReactElement | null {
  const lines = useMemo(() => lineChanges(before?.source ?? "", after?.source ?? ""), [before, after]);
  const shown = after ?? before;
  if (shown === null || lines.length === 0) return null;
  return (
    <section className="source-changes" aria-label="Source">
      <h2><Icon mark="code" /> {titleOf(shown)}</h2>
      {after === null ? <p className="quiet">The source was left: from here on the workflow is a document of its own.</p> : <LineChanges lines={lines} label="Lines of the source" />}
    </section>
  );
}
