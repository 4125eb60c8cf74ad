/** Answers several questions of one node with one form. Each answer is sent, and recorded, alone. */
import { useEffect, useRef, useState, type ReactElement } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { counted } from "../ui/words/formats.ts";
import { titleOf } from "./answer.tsx";
import { AnswerForm, faultOf, NO_FAULT, type Approval, type Body } from "./answer_form.tsx";
import { keyOf } from "./questions.ts";
import { each, type Result } from "./sending.ts";
import type { Field } from "../ui/forms/answer_fields.ts";

/** `first` is the exit whose button has the focus. `onClose` is told which are answered, or can no longer be. */
export function Together({ questions, first, decidingAs, onClose }: {
  readonly questions: readonly Approval[]; readonly first: string; readonly decidingAs: string | null; readonly onClose: (results: readonly Result[]) => void;
}): ReactElement | null {
  const [busy, setBusy] = useState("");
  const [fault, setFault] = useState(NO_FAULT);
  const [results, setResults] = useState<readonly Result[]>([]);
  const [isDone, setIsDone] = useState(false);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => { body.current?.querySelector<HTMLElement>(`[data-exit="${CSS.escape(first)}"]`)?.focus(); }, [first]);
  const [asked] = questions;
  if (asked === undefined) return null;
  const close = (): void => { if (busy === "" || isDone) onClose(results); };
  const decide = (exit: string, given: Body, fields: readonly Field[]): void => {
    setBusy(exit);
    setFault(NO_FAULT);
    void each(questions, given, (made) => { setResults(made); }).then(({ refused }) => {
      if (refused === null) setIsDone(true);
      else {
        setBusy("");
        setFault(faultOf(refused, fields));
      }
    });
  };
  const failed = results.filter(({ said }) => said !== "");
  return (
    <Dialog title={`Answer ${counted(questions.length, "question")}`} close={close} wide>
      <div className="dialog-body together" ref={body}>
        <p className="quiet">{asked.name || asked.workflow}, {asked.node}. The answer and the comment are recorded with each.</p>
        <ul className="together-list" tabIndex={0} aria-label="Questions">{questions.map((one) => <li key={keyOf(one)} className="cut" title={titleOf(one)}>{titleOf(one)}</li>)}</ul>
        {isDone ? (
          <div role="status">
            <p>{counted(results.length - failed.length, "answer")} recorded.</p>
            {failed.map((one) => <p className="fault" key={keyOf(one.asked)}>{titleOf(one.asked)}: {one.said}</p>)}
          </div>
        ) : <div className="question"><AnswerForm asked={asked} decidingAs={decidingAs} busy={busy} fault={fault} decide={decide}>
          {busy === "" ? null : <p role="status">{results.length.toLocaleString("en")} of {questions.length.toLocaleString("en")}</p>}</AnswerForm></div>}
      </div>
      <div className="dialog-foot"><button className="button" type="button" disabled={busy !== "" && !isDone} onClick={close}>{isDone ? "Close" : "Cancel"}</button></div>
    </Dialog>
  );
}
