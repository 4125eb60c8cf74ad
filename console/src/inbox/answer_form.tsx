/** The form of an answer: the fields of a question, a comment, and a button for each decision. */
import { useId, useMemo, useState, type ReactElement, type SyntheticEvent } from "react";
import type { Value } from "../editing/values/encoding.ts";
import { explained, Refusal } from "../wire/api.ts";
import type { ApprovalOut } from "../wire/contract.ts";
import { writtenOf } from "../wire/exact.ts";
import { answerOf, faultsOf, fieldsOf, verbOf, type Field } from "../ui/forms/answer_fields.ts";

export type Approval = Omit<ApprovalOut, "run">;

export interface Fault {
  readonly whole: readonly string[];
  readonly byField: ReadonlyMap<string, string>;
}

export const NO_FAULT: Fault = { whole: [], byField: new Map() };

export type Body = ReadonlyMap<string, Value>;

/** `busy` is the exit that is being sent; `children` stand above the buttons. */
export function AnswerForm({ asked, decidingAs, busy, fault, decide, children }: {
  readonly asked: Approval; readonly decidingAs: string | null; readonly busy: string; readonly fault: Fault;
  readonly decide: (exit: string, body: Body, fields: readonly Field[]) => void; readonly children?: ReactElement | null;
}): ReactElement {
  const fields = useMemo(() => fieldsOf(asked.fields), [asked.fields]);
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(new Map());
  const [comment, setComment] = useState("");
  const [by, setBy] = useState("");
  const id = useId();
  const press = (exit: string): void => {
    if (busy !== "" || asked.resume === null) return;
    decide(exit, new Map<string, Value>([
      ["decision", exit], ["answer", answerOf(fields, typed)], ...(comment.trim() === "" ? [] : [["comment", comment.trim()] as const]),
      ...(decidingAs !== null || by.trim() === "" ? [] : [["by", by.trim()] as const]),
    ]), fields);
  };
  const submit = (event: SyntheticEvent): void => { event.preventDefault(); };
  return (
    <form onSubmit={submit}>
      {fields.map((field) => <Input key={field.name} id={`${id}-${field.name}`} field={field} value={typed.get(field.name) ?? field.initial} fault={fault.byField.get(field.name) ?? ""}
        onChange={(value) => { setTyped(new Map(typed).set(field.name, value)); }} />)}
      <label className="question-comment"><span className="label">Comment, kept in the audit log</span>
        <textarea className="field prose" rows={1} maxLength={500} value={comment} onChange={(event) => { setComment(event.target.value); }} /></label>
      {decidingAs !== null ? null : <label><span className="label">Your name</span><input className="field" maxLength={200} autoComplete="name" value={by} onChange={(event) => { setBy(event.target.value); }} /></label>}
      <div role="alert">{fault.whole.map((one) => <p className="fault" key={one}>{one}</p>)}</div>
      {children}
      <div className="question-buttons">
        {asked.exits.map((exit, place) => (
          <button key={exit} data-exit={exit} className={place === 0 ? "button first" : exit === "rejected" ? "button danger" : "button"} type="button" disabled={busy !== "" || asked.resume === null} onClick={() => { press(exit); }}>
            {busy === exit ? "Sending…" : verbOf(exit)}</button>
        ))}
      </div>
    </form>
  );
}

export function faultOf(error: unknown, fields: readonly Field[]): Fault {
  if (error instanceof Refusal && error.texts("violations").length > 0) return faultsOf(error.texts("violations"), fields);
  const { why, mend } = explained(error);
  return { whole: [`${why} ${mend}`.trim()], byField: new Map() };
}

function Input({ id, field, value, fault, onChange }: { readonly id: string; readonly field: Field; readonly value: string; readonly fault: string; readonly onChange: (value: string) => void }): ReactElement {
  const shared = { id, "aria-invalid": fault !== "", "aria-describedby": `${id}-said` };
  const lines = field.control === "lines" || field.control === "json";
  return (
    <div>
      {field.control === "check" ? (
        <label className="question-check"><input type="checkbox" {...shared} checked={value === "true"} onChange={(event) => { onChange(event.target.checked ? "true" : "false"); }} /> {field.label}</label>
      ) : (
        <>
          <label className="label" htmlFor={id}>{field.label}</label>
          {field.control === "choice" ? (
            <select className="field" {...shared} value={value} onChange={(event) => { onChange(event.target.value); }}>
              <option value="">Choose…</option>
              {field.choices.map((choice) => <option key={writtenOf(choice)} value={writtenOf(choice)}>{typeof choice === "string" ? choice : writtenOf(choice)}</option>)}
            </select>
          ) : lines ? <textarea className={field.control === "json" ? "field" : "field prose"} rows={3} spellCheck={field.control !== "json"} {...shared} value={value} onChange={(event) => { onChange(event.target.value); }} />
            : <input className="field" inputMode={field.control === "whole" ? "numeric" : field.control === "number" ? "decimal" : "text"} {...shared} value={value} onChange={(event) => { onChange(event.target.value); }} />}
        </>
      )}
      <p id={`${id}-said`} className={fault === "" ? "hint" : "fault"}>{fault === "" ? field.hint : fault}</p>
    </div>
  );
}
