/** Controls of one value: texts, numbers, switches and choices. */
import { useRef, useState, type ReactElement } from "react";
import type { Json } from "../../editing/values/values.ts";
import { useKeptCaret } from "../../ui/forms/caret.ts";
import { isSequence, decoded, type Value } from "../../editing/values/encoding.ts";
import type { Shown } from "./control.ts";
import { numberOf, scalarOf, shownScalar } from "./entering.ts";
import { lasting } from "../../ui/words/formats.ts";
import type { Field } from "./fields.ts";

const MOST_ROWS = 14;

function attributes({ id, about, isWrong, bench, bare, label }: Shown): Record<string, unknown> {
  return { ...(bare === true ? { "aria-label": label } : {}), id, "aria-describedby": about, "aria-invalid": isWrong === true, readOnly: !bench.canEdit };
}

/** A text as it is. An optional one that is left empty is taken out when the field is left. */
export function Text(props: Shown & { readonly field: Field }): ReactElement {
  const { bench, spot, value, field } = props;
  const area = useRef<HTMLTextAreaElement & HTMLInputElement>(null);
  const text = shownScalar(value);
  useKeptCaret(area, text);
  const shared = {
    ...attributes(props), "aria-required": field.required, ref: area, className: field.control === "lines" ? "field prose" : "field", value: text, placeholder: field.ghost, spellCheck: field.control === "lines", autoComplete: "off",
    autoCapitalize: "off",
    onChange: (event: { readonly target: { readonly value: string } }) => { bench.enter(spot, value, event.target.value, true); },
    onBlur: () => { if (text === "" && value === "" && !field.required) bench.enter(spot, value, undefined); },
  };
  return field.control === "lines" ? <textarea {...shared} rows={Math.min(MOST_ROWS, Math.max(2, text.split("\n").length))} /> : <input {...shared} />;
}

/** A value that is read from its text when it is complete; until then it says what is wrong. */
function Read(props: Shown & { readonly ghost: string; readonly mode: "numeric" | "decimal" | "text"; readonly read: (text: string) => Value | null; readonly wanted: string; readonly unit?: string }): ReactElement {
  const { bench, spot, value, id } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? shownScalar(value);
  const isFaulty = typed !== null && typed.trim() !== "" && props.read(typed) === null;
  return (
    <>
      <input {...attributes(props)} className="field" value={text} inputMode={props.mode} placeholder={props.ghost} autoComplete="off" spellCheck={false} aria-invalid={isFaulty || props.isWrong === true}
        onChange={(event) => {
          const now = event.target.value;
          setTyped(now);
          const read = now.trim() === "" ? undefined : props.read(now);
          if (read !== null) bench.enter(spot, value, read, true);
        }}
        onBlur={() => { if (!isFaulty) setTyped(null); }} />
      {props.unit === undefined ? null : <span className="unit" aria-hidden="true">{props.unit}</span>}
      {isFaulty ? <p className="fault" id={`${id}-typed`} role="status">{props.wanted}</p> : null}
    </>
  );
}

export function NumberInput(props: Shown & { readonly field: Field }): ReactElement {
  const whole = props.field.control === "whole";
  const ms = props.field.name.endsWith("_ms") ? Number(shownScalar(props.value) || props.field.ghost) : 0;
  return <Read {...props} {...(ms >= 1_000 ? { unit: lasting(ms) } : {})} ghost={props.field.ghost} mode={whole ? "numeric" : "decimal"} read={(text) => numberOf(text, whole)} wanted={whole ? "This is a whole number, such as 3." : "This is a number, such as 0.5."} />;
}

export function Scalar(props: Shown & { readonly ghost: string }): ReactElement {
  return <Read {...props} mode="text" read={scalarOf} wanted="" />;
}

export function Check({ field, ...props }: Shown & { readonly field: Field }): ReactElement {
  const { bench, spot, value, id, about, label } = props;
  const on = value === undefined ? field.ghost === "true" : value === true;
  return (
    <label className="check">
      <input type="checkbox" id={id} aria-describedby={about} checked={on} disabled={!bench.canEdit}
        onChange={() => { bench.enter(spot, value, String(!on) === field.ghost && !field.required ? undefined : !on); }} /> {label}
    </label>
  );
}

export function Choice({ field, ...props }: Shown & { readonly field: Field }): ReactElement {
  const { bench, spot, value, id, about } = props;
  const choices = value === undefined || field.choices.includes(value) ? field.choices : [...field.choices, value];
  return (
    <select className="field" id={id} aria-describedby={about} aria-invalid={props.isWrong === true} disabled={!bench.canEdit} value={value === undefined ? "" : JSON.stringify(value)}
      onChange={(event) => { bench.enter(spot, value, event.target.value === "" ? undefined : JSON.parse(event.target.value) as Value); }}>
      {value === undefined || !field.required ? <option value="">{field.ghost === "" ? "" : field.ghost}</option> : null}
      {choices.map((choice) => <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>{typeof choice === "string" ? choice : JSON.stringify(choice)}</option>)}
    </select>
  );
}

/** Some of a few words, in the order of the choices. What is the default is not written. */
export function Several({ field, ...props }: Shown & { readonly field: Field }): ReactElement {
  const { bench, spot, value, id, about, label } = props;
  const usual = field.ghost === "" ? [] : field.ghost.split(" ");
  const held = value === undefined ? usual : listed(value);
  const words = [...field.choices.map(String), ...held.filter((one) => !field.choices.includes(one))]; // what is none of the choices can be taken out
  const turn = (word: string): void => {
    const wanted = words.filter((one) => held.includes(one) !== (one === word));
    bench.enter(spot, value, wanted.length === usual.length && usual.every((one) => wanted.includes(one)) ? undefined : wanted);
  };
  return (
    <fieldset className="several" id={id} aria-label={label} aria-describedby={about} disabled={!bench.canEdit}>
      {words.map((word) => (
        <label className="check" key={word}><input type="checkbox" checked={held.includes(word)} onChange={() => { turn(word); }} /> {word}</label>
      ))}
    </fieldset>
  );
}

/** A list of texts, one a line; each keeps its place while others edit the list. */
export function Texts({ field, ...props }: Shown & { readonly field: Field }): ReactElement {
  const { bench, spot, value } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? listed(value).join("\n");
  return (
    <textarea {...attributes(props)} className="field prose" rows={Math.min(MOST_ROWS, Math.max(2, shown.split("\n").length))} placeholder={field.ghost || "one a line"} spellCheck={false} value={shown}
      onChange={(event) => {
        const lines = event.target.value.split("\n").map((line) => line.trim()).filter((line) => line !== "");
        setTyped(event.target.value);
        bench.enter(spot, value, lines.length === 0 && !field.required ? undefined : field.single && lines.length === 1 ? lines[0] : lines, true);
      }}
      onBlur={() => { setTyped(null); }} />
  );
}

function listed(value: Json | undefined): readonly string[] {
  const read = value === undefined ? [] : decoded(value);
  return isSequence(read) ? read.filter((one) => typeof one === "string") : typeof read === "string" ? [read] : [];
}
