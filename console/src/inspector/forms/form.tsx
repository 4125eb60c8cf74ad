/** The parameters of a node as a form: what is required first, what is not set folded. */
import { useMemo, useState, type ReactElement } from "react";
import type { Desk, Look } from "../../canvas/desk.ts";
import type { Block } from "../../canvas/model/graph.ts";
import type { Kind } from "../../canvas/model/kinds.ts";
import { isObject, type Json, type Path } from "../../editing/values/values.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import { escaped } from "../../editing/values/encoding.ts";
import { below } from "./entering.ts";
import { choosing, messageNames } from "./declared.ts";
import { fieldsOf, type Field } from "./fields.ts";
import { Frame, useBench } from "./frame.tsx";
import { One } from "./one.tsx";
import { placedIn } from "./placing.ts";

/** `value` is `with`, or what an entity of a container has in its place; `hidden` are names in it that are edited elsewhere. */
export default function Form({ desk, look, openDraft, block, kind, value, at, hidden, asYaml }: {
  readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly block: Block; readonly kind: Kind; readonly value: Json | undefined;
  readonly at: { readonly key: string; readonly path: Path }; readonly hidden: ReadonlySet<string>; readonly asYaml: () => void;
}): ReactElement {
  const names = kind.name === "receive" ? messageNames(look.draft.view).join(" ") : "";
  const fields = useMemo(() => fieldsOf(kind).map((field) => (names !== "" && field.name === "message" ? choosing(field, names.split(" ")) : field)), [kind, names]);
  const bench = useBench(desk, look, openDraft, block);
  const placed = useMemo(() => placedIn(look.graph, block.tail, look.findings.get(block.tail) ?? []), [look.graph, look.findings, block.tail]);
  const held = isObject(value) ? value : new Map<string, Json>();
  const [first] = useState(() => shownAtOnce(fields, held));
  const open = fields.filter((field) => first.has(field.name) || placed.some(({ place }) => place.startsWith(`with.${field.name}`)));
  const folded = fields.filter((field) => !open.includes(field));
  const set = folded.filter((field) => held.has(escaped(field.name))).length;
  const others = [...held.keys()].filter((name) => !hidden.has(name) && !fields.some((field) => escaped(field.name) === name));
  const one = (field: Field): ReactElement => (
    <One key={field.name} field={field} bench={bench} spot={below(at, escaped(field.name))} value={held.get(escaped(field.name))} label={field.name} place={`with.${field.name}`} id={`with-${field.name}`} />
  );
  return (
    <Frame desk={desk} openDraft={openDraft} at={at.key} label="Parameters" placed={placed}>
      {fields.length === 0 ? <p className="hint">This kind has no parameters.</p> : null}
      {open.map(one)}
      {folded.length === 0 ? null : (
        <details open={open.length === 0}>
          <summary>{open.length === 0 ? "Optional" : `More: ${folded.map((field) => field.name).join(", ")}`}{set > 0 ? ` (${set} set)` : ""}</summary>
          <div className="form-more">{folded.map(one)}</div>
        </details>
      )}
      {others.length === 0 ? null : <p className="hint">Also set: {others.join(", ")}. <button type="button" className="link" onClick={asYaml}>Edit as YAML</button></p>}
    </Frame>
  );
}

/** What is required or has a value when the node is opened; all, where these are few. What is entered later does not move. */
function shownAtOnce(fields: readonly Field[], held: ReadonlyMap<string, Json>): ReadonlySet<string> {
  const shown = fields.filter((field) => field.required || held.has(escaped(field.name)));
  return new Set((fields.length <= 3 ? fields : shown).map((field) => field.name));
}
