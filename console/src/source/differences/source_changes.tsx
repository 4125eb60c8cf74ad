/** Shows the diff of two texts of a source, before the diff of the graphs. */
import "../source.css";
import { useMemo, type ReactElement } from "react";
import { LineChanges } from "./changes.tsx";
import { Icon } from "../../ui/icons.tsx";
import { lineChanges, type Texts } from "./source_lines.ts";

/** Either may be missing: what was written as a document has no source. */
export function SourceChanges({ texts: [before, after], title }: { readonly texts: Texts; readonly title: string }): ReactElement {
  const lines = useMemo(() => lineChanges(before ?? "", after ?? ""), [before, after]);
  return (
    <section className="source-changes" aria-label="Source">
      <h2><Icon mark="code" /> {title}</h2>
      {after === null ? <p className="quiet">The source was removed: from now on, the workflow is edited as a document.</p> : <LineChanges lines={lines} />}
    </section>
  );
}
