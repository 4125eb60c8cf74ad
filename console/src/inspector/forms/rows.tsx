/** Values by name: a row for each, in their order, with its name, its value and a way to take it out. */
import { useState, type ComponentType, type ReactElement } from "react";
import { isObject, type Json } from "../../editing/values/values.ts";
import { Icon } from "../../ui/icons.tsx";
import { escaped, isMapping, decoded } from "../../editing/values/encoding.ts";
import type { OneProps, Shown } from "./control.ts";
import { below, freeName } from "./entering.ts";
import type { Field } from "./fields.ts";

/** `row` is the field that each value is shown as, by `Value`: a row may have rows of its own. */
export function Rows({ row, nameLike, Value, ...props }: Shown & { readonly row: Field; readonly nameLike: string; readonly Value: ComponentType<OneProps> }): ReactElement {
  const { bench, spot, value, label, place, id } = props;
  const held = isObject(value) ? value : new Map<string, Json>();
  const names = [...(value === undefined ? [] : keysOf(value))];
  const add = (): void => {
    const name = freeName(new Set(names), nameLike);
    bench.enter(below(spot, escaped(name)), undefined, row.control === "expression" ? (names.length > 0 ? "else" : "true") : "");
    requestAnimationFrame(() => {
      const made = document.getElementById(`${id}-${names.length}-name`);
      if (made instanceof HTMLInputElement) made.select();
      made?.focus();
    });
  };
  return (
    <div className="form-rows" role="group" aria-label={label} aria-describedby={props.about}>
      {names.map((name, number) => (
        <div className="form-row" key={number}>
          <Name {...props} name={name} names={names} id={`${id}-${number}-name`} />
          <Value {...props} field={row} spot={below(spot, escaped(name))} value={held.get(escaped(name))} label={`${label} ${name}`} place={`${place}.${name}`} id={`${id}-${number}`} about={undefined} bare />
          <button className="tool" type="button" title="Take out" aria-label={`Take out ${name}`} disabled={!bench.canEdit} onClick={() => { bench.enter(below(spot, escaped(name)), held.get(escaped(name)), undefined); }}><Icon mark="close" size={12} /></button>
        </div>
      ))}
      <button className="button small" type="button" id={names.length === 0 ? id : undefined} disabled={!bench.canEdit} onClick={add}><Icon mark="plus" size={12} />Add</button>
    </div>
  );
}

function keysOf(value: Json): Iterable<string> {
  const read = decoded(value);
  return isMapping(read) ? read.keys() : [];
}

/** Another name keeps the value and its place. */
function Name({ bench, spot, value, name, names, id }: Shown & { readonly name: string; readonly names: readonly string[] }): ReactElement {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? name;
  const isTaken = shown !== name && (shown === "" || names.includes(shown));
  const finish = (): void => {
    setTyped(null);
    if (typed === null || typed === name || isTaken || value === undefined) return;
    const read = decoded(value);
    if (isMapping(read)) bench.enter(spot, value, new Map([...read].map(([key, one]) => [key === name ? typed : key, one])));
  };
  return (
    <input className="field" id={id} value={shown} aria-label="Name" aria-invalid={isTaken} readOnly={!bench.canEdit} spellCheck={false} autoComplete="off" onChange={(event) => { setTyped(event.target.value); }}
      onBlur={finish} onKeyDown={(event) => { if (event.key === "Enter") finish(); }} />
  );
}
