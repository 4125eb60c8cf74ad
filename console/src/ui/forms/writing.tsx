/** A value that a person writes: in a form, where a JSON Schema describes it, or as JSON. Either way can be left for the other. */
import { useState, type ReactElement } from "react";
import type { Value } from "../../editing/values/encoding.ts";
import { explained, Refusal } from "../../wire/api.ts";
import { textOf, valueOf as exactOf } from "../../wire/exact.ts";
import { faultsOf, NO_FAULTS, shapeOf, textsOf, wholeOf, type Faults, type FormField, type Shape } from "./schema_fields.ts";
import { SchemaForm } from "./schema_form.tsx";

const NOTHING: ReadonlyMap<string, string> = new Map();
const NO_FIELDS: readonly FormField[] = [];
const MOST_ROWS = 20;
const LEAST_ROWS = 6;
const NO_PLACE = "The form has no field for some of these values. They stay as JSON.";

/** `subject` begins a sentence about the value, such as "The data is". */
export interface Written {
  readonly schema: unknown;
  readonly begun: string; // the JSON at the beginning
  readonly name: string; // of the control of a plain value
  readonly subject: string;
}

export interface Writing {
  readonly shape: Shape | null;
  readonly asForm: boolean;
  readonly typed: ReadonlyMap<string, string>;
  readonly json: string;
  readonly faults: Faults;
  readonly type: (name: string, text: string) => void;
  readonly write: (json: string) => void;
  readonly turn: () => void;
  readonly fill: (value: Value) => void;
  /** What is written, null for nothing; undefined where it is no JSON, which is shown then. */
  readonly read: () => Value | undefined;
  /** Shows why the server refused it. */
  readonly refuse: (error: unknown) => void;
}

export function useWriting({ schema, begun, name, subject }: Written): Writing {
  const shape = shapeOf(schema, name);
  const [asForm, setAsForm] = useState(shape !== null);
  const [typed, setTyped] = useState(NOTHING);
  const [json, setJson] = useState(begun);
  const [faults, setFaults] = useState<Faults>(NO_FAULTS);
  const isForm = asForm && shape !== null;
  const say = (...whole: readonly string[]): void => { setFaults({ whole, byField: new Map() }); };
  const fill = (value: Value): void => {
    setFaults(NO_FAULTS);
    const made = shape === null ? null : textsOf(shape, value);
    if (made === null) setJson(textOf(value));
    else setTyped(made);
    setAsForm(made !== null);
  };
  const turn = (): void => {
    setFaults(NO_FAULTS);
    if (isForm) {
      setJson(textOf(wholeOf(shape, typed)));
      setAsForm(false);
      return;
    }
    const value = jsonIn(json);
    const made = shape === null || value instanceof SyntaxError ? null : textsOf(shape, value);
    if (made === null) say(NO_PLACE);
    else {
      setTyped(made);
      setAsForm(true);
    }
  };
  const read = (): Value | undefined => {
    setFaults(NO_FAULTS);
    const value = isForm ? wholeOf(shape, typed) : jsonIn(json);
    if (!(value instanceof SyntaxError)) return value;
    say(`${subject} not JSON: ${value.message}`);
    return undefined;
  };
  const refuse = (error: unknown): void => {
    if (error instanceof Refusal && error.texts("violations").length > 0) setFaults(faultsOf(error.texts("violations"), isForm ? shape.fields : NO_FIELDS));
    else {
      const { why, mend } = explained(error);
      say(`${why} ${mend}`.trim());
    }
  };
  return { shape, asForm: isForm, typed, json, faults, type: (field, text) => { setTyped(new Map(typed).set(field, text)); }, write: setJson, turn, fill, read, refuse };
}

/** The value of a text; nothing at all is null. */
function jsonIn(text: string): Value | SyntaxError {
  try {
    return text.trim() === "" ? null : exactOf(text);
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    throw error;
  }
}

/** The button that leaves the form for JSON, and back; none where no form is offered. */
export function Turn({ writing }: { readonly writing: Writing }): ReactElement | null {
  return writing.shape === null ? null : <button className="button small" type="button" onClick={writing.turn}>{writing.asForm ? "Write JSON" : "Use the form"}</button>;
}

/** `none` is said where the form has no fields; `label` is that of the JSON. */
export function Controls({ id, writing, none, label }: { readonly id: string; readonly writing: Writing; readonly none: string; readonly label: string }): ReactElement {
  const { shape, asForm, typed, json, faults, type, write } = writing;
  if (asForm && shape !== null) return shape.fields.length === 0 ? <p className="quiet">{none}</p> : <SchemaForm id={id} fields={shape.fields} typed={typed} faults={faults} onType={type} />;
  return (
    <label><span className="label">{label}</span>
      <textarea className="field" rows={Math.min(MOST_ROWS, Math.max(LEAST_ROWS, json.split("\n").length + 1))} spellCheck={false} value={json} onChange={(event) => { write(event.target.value); }} aria-invalid={faults.whole.length > 0} /></label>
  );
}

/** What is wrong with the whole, and how many fields are; `undone` says what did not happen. */
export function WritingFaults({ faults, undone }: { readonly faults: Faults; readonly undone: string }): ReactElement {
  const count = faults.byField.size;
  return (
    <div className="writing-faults" role="alert">{faults.whole.map((one) => <p className="fault" key={one}>{one}</p>)}
      {count > 0 ? <p className="fault">{undone}: {count === 1 ? "one field is" : `${count} fields are`} invalid.</p> : null}</div>
  );
}
