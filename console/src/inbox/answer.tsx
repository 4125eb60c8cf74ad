/** One open question: a row that unfolds into what it is about, and the form of its answer. */
import { useId, useRef, useState, type ReactElement } from "react";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { Icon } from "../ui/icons.tsx";
import { shortId } from "../ui/words/formats.ts";
import { When } from "../ui/words/times.tsx";
import { explained } from "../wire/api.ts";
import { AnswerForm, faultOf, NO_FAULT, type Approval, type Body } from "./answer_form.tsx";
import { Details } from "./details.tsx";
import { isOver, send } from "./sending.ts";
import type { Field } from "../ui/forms/answer_fields.ts";

export function titleOf(asked: Approval): string {
  return asked.message === "" ? `${asked.node} asks for a decision` : asked.message;
}

export function Question({ asked, decidingAs, isOpen, isChosen, onOpen, onChoose, onDecided }: {
  readonly asked: Approval; readonly decidingAs: string | null; readonly isOpen: boolean; readonly isChosen: boolean;
  readonly onOpen: () => void; readonly onChoose: () => void; readonly onDecided: (said: string) => void;
}): ReactElement {
  const [busy, setBusy] = useState("");
  const [fault, setFault] = useState(NO_FAULT);
  const item = useRef<HTMLLIElement>(null);
  const id = useId();
  const title = titleOf(asked);
  const done = (said: string): void => {
    const next = item.current?.nextElementSibling ?? item.current?.previousElementSibling;
    next?.querySelector<HTMLElement>(".question-open")?.focus();
    onDecided(`${asked.workflow}: ${said}`);
  };
  const decide = (exit: string, body: Body, fields: readonly Field[]): void => {
    setBusy(exit);
    setFault(NO_FAULT);
    send(asked, body).then(() => { done(`${exit.replaceAll("_", " ")}.`); }, (error: unknown) => {
      if (isOver(error)) done(explained(error).why);
      else {
        setBusy("");
        setFault(faultOf(error, fields));
      }
    });
  };
  return (
    <li ref={item} className={`question${isOpen ? " open" : ""}${isChosen ? " chosen" : ""}`}>
      <div className="question-row">
        <label className="question-tick"><input type="checkbox" checked={isChosen} disabled={asked.resume === null} onChange={onChoose} aria-label={`Choose ${title}`} /></label>
        <button type="button" className="question-open" aria-expanded={isOpen} aria-controls={`${id}-body`} onClick={onOpen}>
          <Icon mark="chevron" size={14} /><span className="cut" id={`${id}-title`} title={isOpen ? undefined : title}>{title}</span></button>
        <span className="question-of cut"><a href={hrefOf(runPath(asked.run_id))} onClick={follow(runPath(asked.run_id))} title={`${asked.workflow}, ${asked.run_id}`}>{asked.name || asked.workflow}</a></span>
        <span className="question-who cut quiet" title={asked.asked_by ?? undefined}>{asked.asked_by ?? ""}</span>
        <span className={asked.deadline === null ? "question-when quiet" : "question-when due"}>{asked.deadline === null ? <>asked <When at={asked.since} /></> : <>due <When at={asked.deadline} /></>}</span>
      </div>
      {isOpen ? (
        <article id={`${id}-body`} className="question-body" aria-labelledby={`${id}-title`}>
          <div className="question-what">
            <h2>{title}</h2>
            <p className="hint">{asked.version === null ? "" : `v${asked.version} · `}{asked.node} · <code title={asked.run_id}>{shortId(asked.run_id)}</code> · asked{asked.asked_by === null ? "" : ` by ${asked.asked_by}`} <When at={asked.since} />
              {asked.approvers.length === 0 ? "" : ` · sent to ${asked.approvers.join(", ")}`}</p>
            <Details of={asked.details} />
          </div>
          {asked.resume === null ? <p className="hint">You are none of the approvers of this question.</p> : <AnswerForm asked={asked} decidingAs={decidingAs} busy={busy} fault={fault} decide={decide} />}
        </article>
      ) : null}
    </li>
  );
}
