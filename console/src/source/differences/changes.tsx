/** Differences by node and by line, as the panes of a draft and the versions of a workflow show them. */
import "./changes.css";
import type { MouseEvent, ReactElement } from "react";
import type { Json } from "../../editing/values/values.ts";
import { Icon, type Mark } from "../../ui/icons.tsx";
import type { FieldChange, LineChange, NodeChange } from "../../wire/draft/served.ts";
import { fieldName, isShort, valueText } from "./texts.ts";

const MAX_LINES = 4_000;
const MARKS: Readonly<Record<string, Mark>> = { added: "plus", removed: "minus" };

/** What is known of a node where the differences are shown: the mark of its kind, and where its name leads. */
export interface Known {
  readonly mark: Mark;
  readonly href: string;
  readonly open: (event: MouseEvent) => void;
}

export function NodeChanges({ nodes, document, knownOf }: {
  readonly nodes: readonly NodeChange[]; readonly document: readonly FieldChange[]; readonly knownOf: (node: NodeChange) => Known | null;
}): ReactElement {
  return (
    <ul className="changes">
      {document.length === 0 ? null : <li className="change"><h2><Icon mark="workflow" /> Workflow</h2><Fields fields={document} /></li>}
      {nodes.map((node) => {
        const known = knownOf(node);
        return (
          <li key={`${node.key} ${node.path.join("/")}`} className={`change ${node.change}`}>
            <h2>
              <Icon mark={MARKS[node.change] ?? known?.mark ?? "set"} />
              <span>{node.path.slice(0, -1).map((id) => <span key={id} className="quiet">{id} › </span>)}
                {known === null ? nameOf(node) : <a href={known.href} onClick={known.open}>{nameOf(node)}</a>}
              </span>
              <span className="change-word">{node.formerId === "" ? node.change : `renamed from ${node.formerId}`}</span>
            </h2>
            <Fields fields={node.fields} />
          </li>
        );
      })}
    </ul>
  );
}

function nameOf(node: NodeChange): string {
  return node.path.at(-1) ?? node.key;
}

function Fields({ fields }: { readonly fields: readonly FieldChange[] }): ReactElement | null {
  if (fields.length === 0) return null;
  return (
    <dl className="fields">
      {fields.map((field) => (
        <div key={field.path.join("\u0000")}>
          <dt className="cut" title={field.path.join(".")}>{fieldName(field.path)}</dt>
          <dd>
            {field.before === undefined ? null : <ValueOf value={field.before} word="before" />}
            {field.after === undefined ? null : <ValueOf value={field.after} word="now" />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ValueOf({ value, word }: { readonly value: Json; readonly word: "before" | "now" }): ReactElement {
  const text = valueText(value);
  return <pre className={`value ${word === "before" ? "went" : "came"}${isShort(text) ? "" : " long"}`}><span className="hidden">{word}: </span>{text === "" ? <span className="quiet">empty</span> : text}</pre>;
}

// -- by line ---------------------------------------------------------------------------------------------------------------------

const WORDS: Readonly<Record<string, string>> = { "+": "added: ", "-": "removed: " };

export function linesDiffer(lines: readonly LineChange[]): boolean {
  return lines.some((line) => line.op === "+" || line.op === "-");
}

export function LineChanges({ lines }: { readonly lines: readonly LineChange[] }): ReactElement {
  return (
    <div className="lines" tabIndex={0} role="region" aria-label="Lines">
      <table>
        <thead className="hidden"><tr><th scope="col">Line before</th><th scope="col">Line now</th><th scope="col">Text</th></tr></thead>
        <tbody>
          {lines.slice(0, MAX_LINES).map((line, place) => (
            <tr key={place} className={line.op === "+" ? "came" : line.op === "-" ? "went" : line.op === "…" ? "left" : ""}>
              <td>{line.before}</td><td>{line.after}</td>
              <td><span className="line-mark" aria-hidden="true">{line.op}</span><span className="hidden">{WORDS[line.op]}</span>{line.op === "…" ? line.text || "unchanged lines" : line.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > MAX_LINES ? <p className="hint">{lines.length - MAX_LINES} more lines are not shown.</p> : null}
    </div>
  );
}
