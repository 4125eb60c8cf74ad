/** Below the canvas: what is wrong with the draft, and what became of operations that were not done as asked. */
import { useState, type ReactElement } from "react";
import type { Report } from "../../editing/client/notices.ts";
import type { DropCode, RefusalCode } from "../../editing/tables.ts";
import { textAt } from "../../editing/values/values.ts";
import { Icon } from "../../ui/icons.tsx";
import { FixButton } from "../../inspector/fix_button.tsx";
import { Prose } from "../../ui/words/prose.tsx";
import { nameOf } from "../../wire/names.ts";
import type { Finding, OpenDraft } from "../../wire/draft/open_draft.ts";
import type { Desk, Look } from "../desk.ts";
import { findingWords, worstOf } from "../model/findings.ts";

export function Findings({ desk, look }: { readonly desk: Desk; readonly look: Look }): ReactElement {
  const [open, setOpen] = useState(false);
  const { listed } = look;
  const severity = worstOf(listed);
  if (severity === null) return <footer className="findings"><span className="quiet">{look.graph.blocks.size === 0 ? "An empty draft" : look.checked ? "No findings" : "Checking…"}</span></footer>;
  return (
    <footer className="findings">
      <button type="button" className={`findings-sum ${severity}`} aria-expanded={open} onClick={() => { setOpen(!open); }}>
        <Icon mark={severity} size={14} />
        <b>{findingWords(listed)}</b>
        {open ? null : <span className="cut quiet"><Prose text={sentence(desk, listed[0])} /></span>}
      </button>
      {open ? (
        <ul>
          {listed.map((finding, place) => (
            <li key={place}>
              <button type="button" className={finding.severity} onClick={() => { if (finding.key !== null) desk.select([finding.key.slice(finding.key.indexOf("/") + 1)], true); }}>
                <Icon mark={finding.severity} size={14} /><span><Prose text={`${sentence(desk, finding)}.`} /> <span className="quiet"><Prose text={finding.mend} /></span></span>
              </button>
              <FixButton desk={desk} finding={finding} canEdit={look.draft.canEdit} />
            </li>
          ))}
        </ul>
      ) : null}
    </footer>
  );
}

function sentence(desk: Desk, finding: Finding | undefined): string {
  if (finding === undefined) return "";
  const block = finding.key === null ? undefined : desk.view.get(finding.key);
  const name = block === undefined ? "" : textAt(block, "id");
  return name === "" ? finding.message : `${name}: ${finding.message}`;
}

const SHOWN = 3;

/** Notices of the last operations, over the canvas, until they are dismissed. */
export function Tidings({ desk, look, openDraft }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft }): ReactElement | null {
  const { notices, listed } = look.draft;
  const { session } = openDraft;
  if (notices.length === 0 && listed.length === 0 && look.remark === "") return null;
  return (
    <ul className="tidings" aria-live="polite">
      {look.remark === "" ? null : (
        <li>
          <span>{look.remark}</span>
          <button className="tool" type="button" aria-label="Dismiss" onClick={() => { desk.remark(""); }}><Icon mark="close" /></button>
        </li>
      )}
      {listed.length === 0 ? null : (
        <li>
          <span>{listed.length} {listed.length === 1 ? "edit was" : "edits were"} made in a draft that no longer exists.</span>
          <button className="button small" type="button" onClick={() => { for (const one of listed) session.apply(one); }}>Apply here</button>
          <button className="button small danger" type="button" onClick={() => { for (const one of listed) session.discard(one); }}>Discard</button>
        </li>
      )}
      {notices.slice(-SHOWN).map((told) => (
        <li key={told.id}>
          <span>{explained(told)}</span>
          {told.restore === null ? null : <button className="button small" type="button" onClick={() => { session.restore(told.id); }}>Restore</button>}
          {told.code === "changed_since" ? <button className="button small" type="button" onClick={() => { session.overwrite(told.id); }}>Overwrite</button> : null}
          <button className="tool" type="button" aria-label="Dismiss" onClick={() => { session.dismiss(told.id); }}><Icon mark="close" /></button>
        </li>
      ))}
    </ul>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  gone: "deleted the item that you were changing", taken_along: "deleted a node that one of your edges was tied to", changed_since: "changed it since: your undo would overwrite that",
  superseded: "replaced the text that you were typing in",
};

const TOO_MUCH = "This change is too large for one step: make it in the YAML pane.";

const CODES: Readonly<Record<string, string>> = {
  name_taken: "Another node in this body has this name.", already_there: "This already exists.", other_body: "An edge can only connect two nodes of the same body.",
  pin_too_large: "The output is too large for a pin.", pins_too_large: "The pins of this draft have reached their size limit.",
  parent_cycle: "A container cannot be inside itself.", not_allowed: "This cannot be changed.", too_many_blocks: "The draft has reached its limit of nodes.",
  too_deep: "Containers cannot be nested deeper.",
  value_too_deep: "A value is nested too deeply.", no_text: "A text has an unpaired surrogate, which cannot be stored.",
  malformed: "The server could not read this change.", gesture_too_large: TOO_MUCH, too_large: TOO_MUCH, gone: "The item to change no longer exists.",
  superseded: "The text was replaced meanwhile.", changed_since: "It has changed since: this would overwrite the change.", taken_along: "Your edge was deleted with its node.",
} satisfies Readonly<Record<DropCode | RefusalCode, string> & Record<string, string>>;

function explained({ code, by }: Report): string {
  const verb = WORDS[code];
  if (by !== null && verb !== undefined) return `${nameOf(by)} ${verb}.`;
  return CODES[code] ?? `The change was rejected: ${code}.`;
}
