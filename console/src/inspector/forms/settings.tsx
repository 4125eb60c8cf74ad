/** Retries, time limits, joins, contracts and limits of a node, or of a workflow, as a form: in groups that fold. */
import { useMemo, type ReactElement } from "react";
import type { Desk, Look } from "../../canvas/desk.ts";
import type { Block } from "../../canvas/model/graph.ts";
import type { Kind } from "../../canvas/model/kinds.ts";
import type { JsonObject } from "../../editing/values/values.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import { Fold } from "../fold.tsx";
import { Bench } from "./control.ts";
import { choosing, messageNames } from "./declared.ts";
import { settingsOf, type Field } from "./fields.ts";
import { Frame, useBench } from "./frame.tsx";
import { Messages } from "./messages.tsx";
import { One } from "./one.tsx";
import { inside, placedIn, placedInWorkflow, type Placed } from "./placing.ts";

type Groups = readonly (readonly [title: string, names: readonly string[]])[];

const OF_A_NODE: Groups = [
  ["Attempts and time", ["retry", "timeout_ms", "delivery"]],
  ["Branches that meet here", ["join", "merge", "on_parent_failure", "default"]],
  ["Contracts", ["inputs", "input_contract", "output_contract"]],
  ["Limits across runs", ["concurrency", "rate"]],
  ["Moderation", ["moderation", "moderation_on_error"]],
];
const OF_A_WORKFLOW: Groups = [
  ["Values", ["variables", "env"]],
  ["Key and messages", ["key", "on_conflict", "messages", "cancel_on"]],
  ["Failures", ["on_failure", "on_failure_notify"]],
  ["Limits of a run", ["timeout", "max_steps"]],
  ["Limits across runs", ["concurrency", "rate"]],
  ["Records", ["numbered", "retention"]],
];
const CANCELS = "cancel_on";
const UNGROUPED = ""; // all other fields, which do not fold

interface Edited {
  readonly desk: Desk;
  readonly look: Look;
  readonly openDraft: OpenDraft;
  readonly entity: JsonObject;
  readonly hidden: ReadonlySet<string>; // fields of the entity that are edited elsewhere
  readonly asYaml: () => void;
}

export default function Settings({ block, kind, ...edited }: Edited & { readonly block: Block; readonly kind: Kind }): ReactElement {
  const { desk, look, openDraft } = edited;
  const fields = useMemo(() => settingsOf(kind.settings), [kind]);
  const bench = useBench(desk, look, openDraft, block);
  const placed = useMemo(() => placedIn(look.graph, block.tail, look.findings.get(block.tail) ?? []), [look.graph, look.findings, block.tail]);
  return <Grouped {...edited} at={`block/${block.tail}`} bench={bench} fields={fields} groups={OF_A_NODE} placed={placed} />;
}

export function OfWorkflow(edited: Edited): ReactElement {
  const { desk, look, openDraft } = edited;
  const { canEdit } = look.draft;
  const names = messageNames(look.draft.view).join(" ");
  const fields = useMemo(() => withMessages(settingsOf(desk.settings), names === "" ? [] : names.split(" ")), [desk.settings, names]);
  const bench = useMemo(() => new Bench(desk, openDraft, "doc", canEdit), [desk, openDraft, canEdit]);
  const placed = useMemo(() => placedInWorkflow(look.findings), [look.findings]);
  return <Grouped {...edited} at="doc" bench={bench} fields={fields} groups={OF_A_WORKFLOW} placed={placed} />;
}

/** A message that cancels is one of those that there are. */
function withMessages(fields: readonly Field[], names: readonly string[]): readonly Field[] {
  return fields.map((field) => (field.name === CANCELS ? choosing(field, names) : field));
}

function Grouped({ desk, openDraft, at, bench, fields, groups, placed, entity, hidden, asYaml }: Edited & {
  readonly at: string; readonly bench: Bench; readonly fields: readonly Field[]; readonly groups: Groups; readonly placed: readonly Placed[];
}): ReactElement {
  const others = [...entity.keys()].filter((name) => !hidden.has(name) && !fields.some((field) => field.name === name));
  const one = (field: Field): ReactElement => (at === "doc" && field.name === "messages" ? <Messages key={field.name} bench={bench} field={field} value={entity.get(field.name)} placed={placed} /> : (
    <One key={field.name} field={field} bench={bench} spot={{ key: at, path: [field.name] }} value={entity.get(field.name)} label={field.name} place={field.name} id={`set-${field.name}`} />
  ));
  return (
    <Frame desk={desk} openDraft={openDraft} at={at} label="Settings" placed={placed}>
      {grouped(fields, groups).map(([title, inner]) => (title === UNGROUPED ? inner.map(one) : <Group key={title} title={title} fields={inner} entity={entity} placed={placed} one={one} />))}
      {others.length === 0 ? null : <p className="hint">Also set: {others.join(", ")}.</p>}
      <button type="button" className="link settings-yaml" onClick={asYaml}>Edit as YAML</button>
    </Frame>
  );
}

function Group({ title, fields, entity, placed, one }: {
  readonly title: string; readonly fields: readonly Field[]; readonly entity: JsonObject; readonly placed: readonly Placed[]; readonly one: (field: Field) => ReactElement;
}): ReactElement {
  const set = fields.filter(({ name }) => entity.has(name)).length;
  const isWrong = fields.some(({ name }) => inside(placed, name).length > 0);
  return <Fold title={title} count={set} isWrong={isWrong}><div className="form-more">{fields.map(one)}</div></Fold>;
}

function grouped(fields: readonly Field[], groups: Groups): (readonly [string, readonly Field[]])[] {
  const named = new Set(groups.flatMap(([, names]) => names));
  const made = groups.map(([title, names]) => [title, names.flatMap((name) => fields.filter((field) => field.name === name))] as const);
  return [[UNGROUPED, fields.filter(({ name }) => !named.has(name))] as const, ...made].filter(([, inner]) => inner.length > 0);
}
