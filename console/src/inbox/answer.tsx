/** One open question: what is asked, the form of its answer, and a button for each decision. */
import { useId, useMemo, useState, type ReactElement, type SyntheticEvent } from "react";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { shortId } from "../ui/words/formats.ts";
import { When } from "../ui/words/times.tsx";
import type { Value } from "../editing/values/encoding.ts";
import { explained, Refusal, requestWritten } from "../wire/api.ts";
import type { ApprovalOut } from "../wire/contract.ts";
import { jsonOf, writtenOf } from "../wire/exact.ts";
import { Details } from "./details.tsx";
import { answerOf, faultsOf, fieldsOf, verbOf, type Field } from "../ui/forms/answer_fields.ts";

export type Approval = Omit<ApprovalOut, "run">;

interface Fault {
  readonly whole: readonly string[];
  readonly byField: ReadonlyMap<string, string>;
}

const LONG_MESSAGE = 160; // characters, above which a heading is a wall
const NO_FAULT: Fault = { whole: [], byField: new Map() };

export function Answer({ asked, decidingAs, onDecided }: { readonly asked: Approval; readonly decidingAs: string | null; readonly onDecided: (said: string) => void }): ReactElement {
  const fields = useMemo(() => fieldsOf(asked.fields), [asked.fields]);
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(new Map());
  const [comment, setComment] = useState("");
  const [by, setBy] = useState("");
  const [busy, setBusy] = useState("");
  const [fault, setFault] = useState(NO_FAULT);
  const id = useId();
  const decide = (exit: string): void => {
    if (busy !== "" || asked.resume === null) return;
    setBusy(exit);
    setFault(NO_FAULT);
    const body = new Map<string, Value>([
      ["decision", exit], ["answer", answerOf(fields, typed)], ...(comment.trim() === "" ? [] : [["comment", comment.trim()] as const]),
      ...(decidingAs !== null || by.trim() === "" ? [] : [["by", by.trim()] as const]),
    ]);
    requestWritten("POST", new URL(asked.resume, location.origin).pathname, jsonOf(body)).then(
      () => { onDecided(`${asked.workflow}: ${exit.replaceAll("_", " ")}.`); },
      (error: unknown) => {
        if (isOver(error)) onDecided(`${asked.workflow}: ${explained(error).why}`);
        else {
          setBusy("");
          setFault(said(error, fields));
        }
      },
    );
  };
  const submit = (event: SyntheticEvent): void => { event.preventDefault(); };
  return (
    <article className="question" aria-labelledby={`${id}-message`}>
      <div className="question-what">
      <header className="question-head">
        <a href={hrefOf(runPath(asked.run_id))} onClick={follow(runPath(asked.run_id))}>{asked.name || asked.workflow}</a>
        <span className="quiet">{asked.version === null ? "" : `v${asked.version} · `}{asked.node} · <code title={asked.run_id}>{shortId(asked.run_id)}</code>{asked.asked_by === null ? "" : ` · asked by ${asked.asked_by}`}</span>
        <span className="head-gap" />
        {asked.deadline === null ? <span className="quiet">asked <When at={asked.since} /></span> : <span className="due">due <When at={asked.deadline} /></span>}
      </header>
      <h2 id={`${id}-message`} className={asked.message.length > LONG_MESSAGE ? "long" : ""}>{asked.message === "" ? `${asked.node} asks for a decision` : asked.message}</h2>
      <Details of={asked.details} />
      {asked.approvers.length === 0 ? null : <p className="hint">Sent to {asked.approvers.join(", ")}</p>}
      </div>
      <form onSubmit={submit}>
        {fields.map((field) => <Input key={field.name} id={`${id}-${field.name}`} field={field} value={typed.get(field.name) ?? field.initial} fault={fault.byField.get(field.name) ?? ""}
          onChange={(value) => { setTyped(new Map(typed).set(field.name, value)); }} />)}
        <label className="question-comment"><span className="label">Comment, kept in the audit log</span>
          <textarea className="field prose" rows={1} maxLength={500} value={comment} onChange={(event) => { setComment(event.target.value); }} /></label>
        {decidingAs !== null ? null : <label><span className="label">Your name</span><input className="field" maxLength={200} autoComplete="name" value={by} onChange={(event) => { setBy(event.target.value); }} /></label>}
        <div role="alert">{fault.whole.map((one) => <p className="fault" key={one}>{one}</p>)}</div>
        <div className="question-buttons">
          {asked.exits.map((exit, place) => (
            <button key={exit} className={place === 0 ? "button first" : exit === "rejected" ? "button danger" : "button"} type="button" disabled={busy !== "" || asked.resume === null} onClick={() => { decide(exit); }}>
              {busy === exit ? "Sending…" : verbOf(exit)}</button>
          ))}
        </div>
      </form>
    </article>
  );
}

/** Whether there is nothing to answer any more: another person was faster, the deadline has passed, or the run has ended. */
function isOver(error: unknown): boolean {
  return error instanceof Refusal && [404, 409, 410].includes(error.status);
}

function said(error: unknown, fields: readonly Field[]): Fault {
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
