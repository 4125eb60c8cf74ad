/** What nodes have beside their parameters, as a form: retries, time limits, joins, contracts, limits, in groups that fold. */
import { useMemo, type ReactElement } from "react";
import type { Desk, Look } from "../../canvas/desk.ts";
import type { Block } from "../../canvas/model/graph.ts";
import type { Kind } from "../../canvas/model/kinds.ts";
import type { JsonObject } from "../../editing/values.ts";
import type { Room } from "../../wire/room.ts";
import { Fold } from "../fold.tsx";
import { settingsOf, type Field } from "./fields.ts";
import { Frame, useBench } from "./frame.tsx";
import { One } from "./one.tsx";
import { inside, placedIn, type Placed } from "./placing.ts";

const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ["Attempts and time", ["retry", "timeout_ms", "delivery"]],
  ["Branches that meet here", ["join", "merge", "on_parent_failure", "default"]],
  ["Contracts", ["inputs", "input_contract", "output_contract"]],
  ["Limits across runs", ["concurrency", "rate"]],
  ["Moderation", ["moderation", "moderation_on_error"]],
];
const UNGROUPED = ""; // all other fields, which do not fold

/** `hidden` are the fields of the entity that are edited elsewhere. */
export default function Settings({ desk, look, room, block, kind, entity, hidden, asYaml }: {
  readonly desk: Desk; readonly look: Look; readonly room: Room; readonly block: Block; readonly kind: Kind; readonly entity: JsonObject; readonly hidden: ReadonlySet<string>; readonly asYaml: () => void;
}): ReactElement {
  const fields = useMemo(() => settingsOf(kind), [kind]);
  const bench = useBench(desk, look, room, block);
  const placed = useMemo(() => placedIn(look.graph, block.tail, look.findings.get(block.tail) ?? []), [look.graph, look.findings, block.tail]);
  const key = `block/${block.tail}`;
  const others = [...entity.keys()].filter((name) => !hidden.has(name) && !fields.some((field) => field.name === name));
  const one = (field: Field): ReactElement => (
    <One key={field.name} field={field} bench={bench} spot={{ key, path: [field.name] }} value={entity.get(field.name)} label={field.name} place={field.name} id={`set-${field.name}`} />
  );
  return (
    <Frame desk={desk} room={room} at={key} label="Settings" placed={placed}>
      {grouped(fields).map(([title, inner]) => (title === UNGROUPED ? inner.map(one) : <Group key={title} title={title} fields={inner} entity={entity} placed={placed} one={one} />))}
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

function grouped(fields: readonly Field[]): (readonly [string, readonly Field[]])[] {
  const named = new Set(GROUPS.flatMap(([, names]) => names));
  const made = GROUPS.map(([title, names]) => [title, names.flatMap((name) => fields.filter((field) => field.name === name))] as const);
  return [[UNGROUPED, fields.filter(({ name }) => !named.has(name))] as const, ...made].filter(([, inner]) => inner.length > 0);
}
