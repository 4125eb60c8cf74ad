/** Lines that go and come, with their numbers before and now. */
import type { ReactElement } from "react";
import type { LineChange } from "../wire/served.ts";

const MAX_LINES = 4_000;
const WORDS: Readonly<Record<string, string>> = { "+": "added: ", "-": "removed: " };

export function Lines({ lines, label = "Lines" }: { readonly lines: readonly LineChange[]; readonly label?: string }): ReactElement {
  return (
    <div className="lines" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead className="hidden"><tr><th scope="col">Line before</th><th scope="col">Line now</th><th scope="col">Text</th></tr></thead>
        <tbody>
          {lines.slice(0, MAX_LINES).map((line, place) => (
            <tr key={place} className={line.op === "+" ? "came" : line.op === "-" ? "went" : line.op === "…" ? "left" : ""}>
              <td>{line.before}</td><td>{line.after}</td>
              <td><span className="line-mark" aria-hidden="true">{line.op}</span><span className="hidden">{WORDS[line.op]}</span>{line.op === "…" ? line.text || "lines that are the same" : line.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > MAX_LINES ? <p className="hint">{lines.length - MAX_LINES} more lines are not shown.</p> : null}
    </div>
  );
}
