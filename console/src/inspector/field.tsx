/** A field of YAML text, with the names that its schema has and the text has not. */
import { useRef, useState, type KeyboardEvent, type ReactElement } from "react";
import { at, textAt, isList, isObject, type Json, type JsonObject } from "../editing/values/values.ts";
import type { Desk } from "../canvas/desk.ts";
import { useKeptCaret } from "../ui/forms/caret.ts";
import { begun, renewed, typing, type Place, type Typed } from "./typing.ts";

const PAUSE_MS = 400; // typing without a pause is one action to undo
const LEAST_ROWS = 4;
const MOST_ROWS = 28;

/** `isBare`: the label is only said, since what is above the field names it. */
export default function YamlField({ desk, label, isBare = false, value, place, schema, canEdit, attend }: {
  readonly desk: Desk; readonly label: string; readonly value: Json | undefined; readonly place: Place; readonly schema: JsonObject | null; readonly canEdit: boolean;
  readonly attend: (there: boolean) => void; readonly isBare?: boolean;
}): ReactElement {
  const [typed, setTyped] = useState<Typed>(() => begun(value, place.hidden));
  const area = useRef<HTMLTextAreaElement>(null);
  const last = useRef(0);
  const shown = renewed(typed, value, place.hidden);
  if (shown !== typed) setTyped(shown);
  useKeptCaret(area, shown.text);

  const take = (text: string): void => {
    const made = typing(shown, text, valueAt(desk, place), place, desk.fresh); // others may have changed it since it was drawn
    const now = performance.now();
    setTyped(made.typed);
    if (made.operation !== null) desk.edit(made.operation, { typed: true, join: now - last.current < PAUSE_MS });
    last.current = now;
  };
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const field = event.currentTarget;
    if (event.key === "Enter" && !event.metaKey && !event.ctrlKey && canEdit) {
      event.preventDefault();
      indent(field);
      take(field.value);
    } else if (event.key === "Escape") {
      document.querySelector<HTMLElement>("[data-keys]")?.focus();
    } else if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "z" && shown.fault === null) {
      event.preventDefault();
      if (event.shiftKey) desk.redo();
      else desk.undo();
    }
  };
  const missing = schema === null ? [] : missingIn(schema, shown.text);
  const id = `yaml-${place.key}-${place.path.join("-")}`;
  return (
    <div className="yaml">
      <label className={isBare ? "hidden" : "label"} htmlFor={id}>{label}</label>
      <textarea ref={area} id={id} className="field" spellCheck={false} autoCapitalize="off" autoComplete="off" readOnly={!canEdit} value={shown.text}
        rows={Math.min(MOST_ROWS, Math.max(LEAST_ROWS, shown.text.split("\n").length))} aria-invalid={shown.fault !== null} aria-describedby={`${id}-fault`}
        onChange={(event) => { take(event.target.value); }} onKeyDown={pressed} onFocus={() => { attend(true); }}
        onBlur={() => { attend(false); desk.draft.flush(); }} />
      <p id={`${id}-fault`} className="fault" role="status">{shown.fault}</p>
      {missing.length > 0 && canEdit ? (
        <ul className="yaml-names" aria-label={`More ${label.toLowerCase()}`}>
          {missing.map(({ name, about, required }) => (
            <li key={name}>
              <button type="button" className={required ? "required" : ""} title={about} onClick={() => {
                const text = shown.text.trimEnd();
                take(`${text === "" ? "" : `${text}\n`}${name}: `);
                area.current?.focus();
                requestAnimationFrame(() => { area.current?.setSelectionRange(area.current.value.length, area.current.value.length); });
              }}>{name}</button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

/** The value as it stands now. */
function valueAt(desk: Desk, { key, path }: Place): Json | undefined {
  const entity = desk.view.get(key);
  return entity === undefined ? undefined : at(entity, path);
}

interface Missing {
  readonly name: string;
  readonly about: string;
  readonly required: boolean;
}

/** Required ones first. */
function missingIn(schema: JsonObject, text: string): Missing[] {
  const [properties, needed] = [schema.get("properties"), schema.get("required")];
  if (!isObject(properties)) return [];
  const required = new Set(isList(needed) ? needed : []);
  const made = [...properties].filter(([name]) => name !== "body" && !text.split("\n").some((line) => line.startsWith(`${name}:`))).map(([name, about]) => ({
    name, required: required.has(name), about: isObject(about) ? textAt(about, "description") || textAt(about, "title") : "",
  }));
  return made.sort((left, right) => Number(right.required) - Number(left.required));
}

/** A new line with the indent of the one before, two spaces more after a colon. */
function indent(field: HTMLTextAreaElement): void {
  const before = field.value.slice(0, field.selectionStart);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const spaces = /^ */.exec(line)?.[0] ?? "";
  field.setRangeText(`\n${spaces}${/:\s*$/.test(line) ? "  " : ""}`, field.selectionStart, field.selectionEnd, "end");
}
