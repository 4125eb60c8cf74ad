/** The controls of a form from a JSON Schema. Defaults stand in empty controls as ghosts. */
import "./schema_form.css";
import type { ReactElement } from "react";
import { writtenOf } from "../../wire/exact.ts";
import { saysId } from "../../wire/names.ts";
import { shown, type Faults, type FormField } from "./schema_fields.ts";

export function SchemaForm({ id, fields, typed, faults, onType }: {
  readonly id: string; readonly fields: readonly FormField[]; readonly typed: ReadonlyMap<string, string>; readonly faults: Faults;
  readonly onType: (name: string, text: string) => void;
}): ReactElement {
  return (
    <div className="schema-form">
      {fields.map((field) => (
        <Control key={field.name} id={`${id}-${field.name}`} field={field} value={typed.get(field.name) ?? ""} fault={faults.byField.get(field.name) ?? ""} onType={(text) => { onType(field.name, text); }} />
      ))}
    </div>
  );
}

function Control({ id, field, value, fault, onType }: {
  readonly id: string; readonly field: FormField; readonly value: string; readonly fault: string; readonly onType: (text: string) => void;
}): ReactElement {
  const { control, ghost } = field;
  const shared = {
    id, value, "aria-invalid": fault !== "", "aria-required": field.required, "aria-describedby": `${id}-said`,
    onChange: (event: { readonly target: { readonly value: string } }) => { onType(event.target.value); },
  };
  const lines = control === "lines" || control === "json";
  return (
    <div className={lines ? "schema-field whole" : "schema-field"}>
      <label className="label" htmlFor={id}>{field.label}{field.required ? <span className="schema-star" aria-hidden="true"> *</span> : null}{saysId(field.label, field.name) ? null : <code> {field.name}</code>}</label>
      {control === "choice" ? (
        <select className={value === "" ? "field ghost" : "field"} {...shared}>
          <option value="">{ghost === "" ? "not set" : `default: ${ghost}`}</option>
          {field.choices.map((choice) => <option key={writtenOf(choice)} value={writtenOf(choice)}>{shown(choice)}</option>)}
        </select>
      ) : lines ? <textarea className={control === "json" ? "field" : "field prose"} rows={3} placeholder={ghost || (control === "json" ? "JSON" : "")} spellCheck={control !== "json"} {...shared} />
        : <input className="field" autoComplete="off" placeholder={ghost} inputMode={control === "whole" ? "numeric" : control === "number" ? "decimal" : "text"} {...shared} />}
      <p id={`${id}-said`} className={fault === "" ? "hint" : "fault"}>{fault === "" ? field.hint : fault}</p>
    </div>
  );
}
