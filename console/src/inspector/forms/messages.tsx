/** The messages that a workflow declares: each folds, with its sources, its key and its data. */
import { useState, type ReactElement } from "react";
import { decoded, escaped, isMapping, type Value } from "../../editing/values/encoding.ts";
import { at, isObject, textAt, type Json } from "../../editing/values/values.ts";
import { Icon } from "../../ui/icons.tsx";
import type { Bench } from "./control.ts";
import { MESSAGES, messageNames, nameFault, removeMessage, renameMessage } from "./declared.ts";
import { below, freeName } from "./entering.ts";
import type { Field } from "./fields.ts";
import { One } from "./one.tsx";
import { inside, type Placed } from "./placing.ts";

const NEW = "update"; // the name of a message that is added
const NOTHING: ReadonlyMap<string, Value> = new Map();

export function Messages({ bench, field, value, placed }: { readonly bench: Bench; readonly field: Field; readonly value: Json | undefined; readonly placed: readonly Placed[] }): ReactElement {
  const [opened, open] = useState<string | null>(null);
  const read = value === undefined ? NOTHING : decoded(value);
  const names = isMapping(read) ? [...read.keys()] : [];
  const add = (): void => {
    const name = freeName(new Set(messageNames(bench.desk.view)), NEW);
    bench.enter(below(MESSAGES, escaped(name)), undefined, NOTHING);
    open(name);
  };
  return (
    <div className="one" role="group" aria-label="messages">
      <div className="one-head"><span className="label">messages</span></div>
      {names.map((name) => (
        <details key={name} className="message-form" open={opened === name || undefined} onToggle={(event) => { if (!event.currentTarget.open && opened === name) open(null); }}>
          <summary><b className="cut">{name}</b><span className="quiet cut">{briefOf(at(value, [escaped(name)]))}</span>{inside(placed, `messages.${name}`).length === 0 ? null : <Icon mark="error" size={12} />}</summary>
          <Message bench={bench} fields={field.fields[0]?.fields ?? []} name={name} names={names} value={at(value, [escaped(name)])} onRename={open} />
        </details>
      ))}
      <div><button className="button small" type="button" disabled={!bench.canEdit} onClick={add}><Icon mark="plus" size={12} />Add a message</button></div>
      <p className="hint">What may reach a run while it is under way. A node of the kind receive waits for one.</p>
    </div>
  );
}

function Message({ bench, fields, name, names, value, onRename }: {
  readonly bench: Bench; readonly fields: readonly Field[]; readonly name: string; readonly names: readonly string[]; readonly value: Json | undefined; readonly onRename: (name: string) => void;
}): ReactElement {
  const id = `message-${name}`;
  return (
    <div className="form-more">
      <Name bench={bench} name={name} names={names} id={id} onRename={onRename} />
      {fields.map((one) => (
        <One key={one.name} field={one} bench={bench} spot={below(MESSAGES, escaped(name), one.name)} value={at(value, [one.name])} label={`${one.name} of ${name}`} place={`messages.${name}.${one.name}`} id={`${id}-${one.name}`} />
      ))}
      <div><button className="button small danger" type="button" disabled={!bench.canEdit} onClick={() => { bench.edit(removeMessage(bench.desk.view, name, bench.desk.fresh)); }}>Remove the message</button></div>
    </div>
  );
}

/** Another name is that in the nodes that wait for the message, too. */
function Name({ bench, name, names, id, onRename }: { readonly bench: Bench; readonly name: string; readonly names: readonly string[]; readonly id: string; readonly onRename: (name: string) => void }): ReactElement {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? name;
  const fault = shown === name ? null : nameFault(shown, names);
  const finish = (): void => {
    setTyped(null);
    if (shown === name || fault !== null) return;
    onRename(shown);
    bench.edit(renameMessage(bench.desk.view, name, shown, bench.desk.fresh));
  };
  return (
    <div className="one">
      <div className="one-head"><label className="label needed" htmlFor={id}>name</label></div>
      <input className="field" id={id} value={shown} readOnly={!bench.canEdit} aria-invalid={fault !== null} aria-describedby={`${id}-fault`} spellCheck={false} autoComplete="off" onChange={(event) => { setTyped(event.target.value); }} onBlur={finish} onKeyDown={(event) => { if (event.key === "Enter") finish(); }} />
      <p className="fault" id={`${id}-fault`} role="status">{fault}</p>
    </div>
  );
}

/** Where it comes from, in a line. */
function briefOf(message: Json | undefined): string {
  const webhook = at(message, ["webhook"]);
  return [isObject(webhook) ? `webhook ${textAt(webhook, "path")}` : "", at(message, ["event"]) === undefined ? "" : "event"].filter(Boolean).join(", ");
}
