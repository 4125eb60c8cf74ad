/** The source next to the graph: what is chosen there is marked here, and the line of the cursor chooses there. */
import "./source.css";
import { useEffect, useMemo, useRef, type ReactElement } from "react";
import { titleOf } from "./made.ts";
import type { Source } from "./source.ts";
import { Viewer } from "./viewer.ts";

export default function SourcePane({ source, chosen, choose, note }: {
  readonly source: Source; readonly chosen: string | null; readonly choose: (tail: string) => void; readonly note?: ReactElement;
}): ReactElement {
  const { made } = source;
  const host = useRef<HTMLDivElement>(null);
  const viewer = useRef<Viewer>(null);
  const held = useRef({ source, chosen, choose });
  held.current = { source, chosen, choose };
  const { first, text } = source;
  useEffect(() => {
    if (host.current === null || made.source === "") return;
    const opened = new Viewer({
      host: host.current, text, label: `Source, ${titleOf(made)}`, number: (line) => held.current.source.number(line), isPython: made.language === "python", lifted: held.current.source.lifted(),
      went(line) {
        const { source: now, chosen: before, choose: pick } = held.current;
        const tail = now.at(line, before);
        if (tail !== null && tail !== before) pick(tail);
      },
    });
    viewer.current = opened;
    return () => {
      viewer.current = null;
      opened.close();
    };
  }, [made, first, text]);
  const span = useMemo(() => chosen === null ? null : source.of(chosen), [source, chosen]);
  useEffect(() => { viewer.current?.show(span); }, [span, made, first, text]);
  const place = chosen === null ? null : source.place(chosen);
  const file = chosen === null ? "" : source.otherFile(chosen);
  return (
    <section className="source" aria-label="Source">
      <div className="source-head">
        <b className="cut">{titleOf(made)}</b>
        {made.name === "" || made.name === titleOf(made) ? null : <span className="quiet cut">{made.name}</span>}
        <span className="head-gap" />
        <span className="quiet source-at" role="status">{file === "" ? "" : `${file}, `}{place === null ? "" : place[0] === place[1] ? `line ${place[0]}` : `lines ${place[0]}–${place[1]}`}{chosen !== null && source.isLifted(chosen) ? ", lifted" : ""}</span>
      </div>
      {note === undefined ? null : <div className="source-note">{note}</div>}
      {made.source === "" ? <p className="source-none quiet">The source text of this version is not stored.</p> : <div ref={host} className="source-text" />}
      {span === null && place !== null && made.source !== "" ? <p className="source-foot quiet">This node comes from a part whose source text is not stored.</p> : null}
    </section>
  );
}
