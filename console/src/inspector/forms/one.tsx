/** One field: its label, the switch ƒ, the control that fits its schema, its help and what is wrong with it. */
import { createContext, useContext, useState, type ReactElement, type ReactNode } from "react";
import { isObject, type Json } from "../../editing/values/values.ts";
import { Icon } from "../../ui/icons.tsx";
import { part } from "../../ui/loading/part.tsx";
import { FixButton } from "../fix_button.tsx";
import { Prose } from "../../ui/words/prose.tsx";
import { decoded } from "../../editing/values/encoding.ts";
import type { OneProps, Shown } from "./control.ts";
import { below, shownScalar } from "./entering.ts";
import { fits, isReference, takesReferences, variantOf, type Field, type Variant } from "./fields.ts";
import { inside, type Placed } from "./placing.ts";
import { Rows } from "./rows.tsx";
import { Check, Choice, NumberInput, Scalar, Several, Text, Texts } from "./simple.tsx";

const Expression = part(async () => (await import("../../panes/text/texts.ts")).Expression, ({ value }) => <div className="x-host field"><div className="x-early">{shownScalar(value)}</div></div>);
const YamlField = part(async () => (await import("../field.tsx")).default, () => <div className="field" />);
const NONE: ReadonlySet<string> = new Set();

/** What is wrong with the node, at its places. */
export const Wrong = createContext<readonly Placed[]>([]);

/** How a field is shown: as an expression, as its control, or as YAML because its control cannot show the value. */
type Form = "formula" | "control" | "yaml";

function formOf(field: Field, value: Json | undefined, chosen: boolean | null): Form {
  if (field.control === "expression") return fits(field, value) ? "formula" : "yaml";
  const isOffered = isReference(value) || (field.control === "any" && field.required && value === undefined);
  if (takesReferences(field) && (chosen ?? isOffered)) return "formula";
  return field.control === "any" || (!fits(field, value) && !isReference(value)) ? "yaml" : "control";
}

export function One(props: OneProps): ReactElement {
  const { field, value, label, id, place, bare = false, bench } = props;
  const placed = inside(useContext(Wrong), place);
  const [chosen, setChosen] = useState<boolean | null>(null); // by the switch ƒ
  const form = formOf(field, value, chosen);
  const about = field.about === "" || bare ? undefined : `${id}-about`;
  const here = placed.filter((one) => bare || !isOfInner(one, field, place));
  const shared: Shown & { readonly field: Field } = { ...props, about, isWrong: here.some(({ finding }) => finding.severity === "error") };
  const switcher = takesReferences(field) ? <Switch isOn={form === "formula"} label={label} canEdit={bench.canEdit} turn={setChosen} /> : null;
  const help = about === undefined ? null : <p className="hint" id={about}><Prose text={field.about} /></p>;
  const control = <Control {...shared} form={form} isNew={chosen === true} />;
  return (
    <div className={bare ? "one bare" : "one"}>
      {bare ? null : <Head field={field} id={id} control={field.control === "check" && form === "control" ? <Check {...shared} label={field.name} /> : null} switcher={switcher} />}
      {field.control === "object" ? help : null}
      {!bare && field.control === "check" && form === "control" ? null : <div className="one-control">{control}{bare ? switcher : null}</div>}
      {field.control === "object" ? null : help}
      {here.map(({ finding }, number) => (
        <div className="finding" key={number}>
          <p className={`fault ${finding.severity}`}><Icon mark={finding.severity} size={12} /> <Prose text={finding.message} />. <span className="quiet"><Prose text={finding.mend} /></span></p>
          <FixButton desk={bench.desk} finding={finding} canEdit={bench.canEdit} />
        </div>
      ))}
    </div>
  );
}

/** A switch has its own label: it stands in its place. */
function Head({ field, id, control, switcher }: { readonly field: Field; readonly id: string; readonly control: ReactElement | null; readonly switcher: ReactElement | null }): ReactElement {
  return (
    <div className="one-head">
      {control ?? <label className={field.required ? "label needed" : "label"} htmlFor={id}>{field.name}</label>}
      {switcher}
    </div>
  );
}

function Switch({ isOn, label, canEdit, turn }: { readonly isOn: boolean; readonly label: string; readonly canEdit: boolean; readonly turn: (on: boolean) => void }): ReactElement {
  return (
    <button type="button" className="formula" title={isOn ? "Enter a value" : "Write an expression"} aria-label={`Expression for ${label}`} aria-pressed={isOn} disabled={!canEdit} onClick={() => { turn(!isOn); }}>ƒ</button>
  );
}

/** Findings inside of an object are shown at its own fields. */
function isOfInner({ place }: Placed, field: Field, at: string): boolean {
  return place !== at && (field.control === "map" || field.control === "cases" || field.control === "object" || field.control === "variants");
}

function Control({ form, isNew, ...props }: Shown & { readonly field: Field; readonly form: Form; readonly isNew: boolean }): ReactElement {
  const { field, value } = props;
  if (form === "formula") return <Formula {...props} isNew={isNew} />;
  if (form === "yaml") return <Yaml {...props} />;
  switch (field.control) {
    case "whole":
    case "number":
      return <NumberInput {...props} />;
    case "scalar":
      return <Scalar {...props} ghost={field.ghost} />;
    case "check":
      return <Check {...props} />;
    case "choice":
      return <Choice {...props} />;
    case "set":
      return <Several {...props} />;
    case "texts":
      return <Texts {...props} />;
    case "map":
      return <Rows {...props} Value={One} row={field.fields[0] ?? ANY_VALUE} nameLike="name" />;
    case "cases":
      return <Rows {...props} Value={One} row={CASE} nameLike="case" />;
    case "object":
      return <Inner {...props} fields={field.fields} />;
    case "variants":
      return <Variants {...props} />;
    default:
      return <Text {...props} value={value} />;
  }
}

/** An empty expression of an optional field is no value. */
function Formula({ field, isNew, ...props }: Shown & { readonly field: Field; readonly isNew: boolean }): ReactElement {
  const { bench, spot } = props;
  const isExpression = field.control === "expression";
  const enter = (text: string, base: Json | undefined): void => {
    const wanted = text === "" && !field.required ? undefined : isExpression ? literal(text, base) : text;
    bench.enter(spot, base, wanted, true);
  };
  return (
    <Expression {...props} ghost={isExpression ? field.ghost : ""} isExpression={isExpression} isLong={field.control === "lines" || field.control === "any"} focused={isNew} enter={enter} />
  );
}

/** A whole number stays one where it was one: `times: 3`. */
function literal(text: string, base: Json | undefined): string | number {
  return typeof base === "number" && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

const PLAIN = { about: "", required: true, choices: [], ghost: "", single: false, fields: [], variants: [] } as const;
const ANY_VALUE: Field = { ...PLAIN, name: "", control: "scalar", part: "template" };
const WHOLE: Field = { ...PLAIN, name: "", control: "whole", part: "literal" };
const CASE: Field = { ...PLAIN, name: "", control: "expression", part: "cases" };

function Yaml({ bench, spot, value, label }: Shown): ReactElement {
  return (
    <YamlField desk={bench.desk} label={`${label} as YAML`} isBare value={value} place={{ key: spot.key, path: spot.path, hidden: NONE, isAny: true }} schema={null} canEdit={bench.canEdit} attend={() => undefined} />
  );
}

export function Inner({ bench, spot, value, place, id, label, fields }: Shown & { readonly fields: readonly Field[] }): ReactNode {
  const held = isObject(value) ? value : new Map<string, Json>();
  return (
    <div className="inner" role="group" aria-label={label}>
      {fields.map((one) => <One key={one.name} field={one} bench={bench} spot={below(spot, one.name)} value={held.get(one.name)} label={one.name} place={`${place}.${one.name}`} id={`${id}-${one.name}`} />)}
    </div>
  );
}

function Variants({ field, ...props }: Shown & { readonly field: Field }): ReactElement {
  const { bench, spot, value, id } = props;
  const held = variantOf(field, value);
  const choose = (name: string): void => {
    const found = field.variants.find((one) => one.name === name);
    bench.enter(spot, value, found === undefined ? undefined : begun(found, value));
  };
  return (
    <>
      <select className="field" id={id} aria-describedby={props.about} disabled={!bench.canEdit} value={held?.name ?? ""} onChange={(event) => { choose(event.target.value); }}>
        {held === null || !field.required ? <option value="">{field.ghost}</option> : null}
        {field.variants.map(({ name }) => <option key={name}>{name}</option>)}
      </select>
      {held?.number === true ? <NumberInput {...props} field={WHOLE} id={`${id}-number`} about={undefined} bare /> : null}
      {held === null || held.fields.length === 0 ? null : <Inner {...props} fields={held.fields} />}
    </>
  );
}

/** A value of this form, with what the one before has in common with it. */
function begun(variant: Variant, value: Json | undefined): string | number | ReadonlyMap<string, ReturnType<typeof decoded>> {
  if (typeof variant.word === "string") return variant.word;
  if (variant.number) return 1;
  const held = isObject(value) ? value : new Map<string, Json>();
  return new Map(variant.fields.flatMap((one) => {
    const kept = held.get(one.name);
    if (kept !== undefined) return [[one.name, decoded(kept)] as const];
    return one.required ? [[one.name, one.choices.length > 0 ? shownScalar(one.choices[0]) : ""] as const] : [];
  }));
}
