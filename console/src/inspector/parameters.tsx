/** The parameters of a node, in a form or as YAML text, and what else is wrong with it. */
import { useState, type ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import type { Block, Graph } from "../canvas/model/graph.ts";
import type { Kind } from "../canvas/model/kinds.ts";
import { isObject, type Json } from "../editing/values/values.ts";
import { Icon } from "../ui/icons.tsx";
import { Bones } from "../ui/loading/notices.tsx";
import { part } from "../ui/loading/part.tsx";
import type { Finding, OpenDraft } from "../wire/draft/open_draft.ts";
import Form from "./forms/form.tsx";
import { within } from "./forms/placing.ts";
import { FixButton } from "./fix_button.tsx";
import { Prose } from "../ui/words/prose.tsx";
import type { Place } from "./typing.ts";

const YamlField = part(async () => (await import("./field.tsx")).default, () => <Bones lines={3} label="The field is loading" />);
const AS = "stepless.parameters"; // whether a person edits them in a form, kept by the browser

/** Whether a person edits nodes as YAML text, and how they choose so. */
export function useAsYaml(): readonly [asYaml: boolean, choose: (yaml: boolean) => void] {
  const [asYaml, setAsYaml] = useState(() => localStorage.getItem(AS) === "yaml");
  return [asYaml, (yaml) => {
    localStorage.setItem(AS, yaml ? "yaml" : "form");
    setAsYaml(yaml);
  }];
}

/** A form unless the person chose text last, or the kind or the value is one that no form can show. */
export function Parameters({ desk, look, block, kind, value, place, openDraft, asYaml, choose }: {
  readonly desk: Desk; readonly look: Look; readonly block: Block; readonly kind: Kind | undefined; readonly value: Json | undefined; readonly place: Place; readonly openDraft: OpenDraft;
  readonly asYaml: boolean; readonly choose: (yaml: boolean) => void;
}): ReactElement {
  const canShow = kind?.schema !== undefined && kind.schema !== null && (value === undefined || isObject(value));
  const findings = look.findings.get(block.tail) ?? [];
  if (!canShow || asYaml) {
    return (
      <>
        <Findings desk={desk} findings={findings} canEdit={look.draft.canEdit} />
        <section className="parameters" aria-label="Parameters">
          {canShow ? <As asForm={false} choose={choose} /> : null}
          <Text desk={desk} label="Parameters" isBare={canShow} value={value} place={place} schema={kind?.schema ?? null} canEdit={look.draft.canEdit} openDraft={openDraft} />
        </section>
      </>
    );
  }
  return (
    <>
      <Findings desk={desk} canEdit={look.draft.canEdit} findings={findings.filter((one) => !isAtField(look.graph, block.tail, one, kind))} />
      <section className="parameters" aria-label="Parameters">
        <As asForm choose={choose} />
        <Form key={`${place.key} ${kind.name}`} desk={desk} look={look} openDraft={openDraft} block={block} kind={kind} value={value} at={place} hidden={place.hidden} asYaml={() => { choose(true); }} />
      </section>
    </>
  );
}

/** The two ways to edit parameters. */
function As({ asForm, choose }: { readonly asForm: boolean; readonly choose: (yaml: boolean) => void }): ReactElement {
  return (
    <div className="parameters-head">
      <h2>Parameters</h2>
      <div className="as" role="group" aria-label="Parameters as">
        <button type="button" aria-pressed={asForm} onClick={() => { choose(false); }}>Form</button>
        <button type="button" aria-pressed={!asForm} onClick={() => { choose(true); }}>YAML</button>
      </div>
    </div>
  );
}

function Findings({ desk, findings, canEdit }: { readonly desk: Desk; readonly findings: readonly Finding[]; readonly canEdit: boolean }): ReactElement | null {
  if (findings.length === 0) return null;
  return (
    <ul className="inspector-findings">
      {findings.map((one, place) => (
        <li key={place} className={one.severity}><Icon mark={one.severity} size={14} /><span><Prose text={one.message} />. <span className="quiet"><Prose text={one.mend} /></span> <FixButton desk={desk} finding={one} canEdit={canEdit} /></span></li>
      ))}
    </ul>
  );
}

/** Whether a form shows a finding at one of its fields. */
function isAtField(graph: Graph, tail: string, finding: Finding, kind: Kind): boolean {
  const [start, name] = within(graph, tail, finding.path).split(".");
  const settings = kind.settings?.get("properties");
  return start === "with" ? name !== undefined && kind.parts.has(name) : isObject(settings) && settings.has(start ?? "");
}

export function Text({ openDraft, ...field }: {
  readonly desk: Desk; readonly label: string; readonly value: Json | undefined; readonly place: Place; readonly schema: ReadonlyMap<string, Json> | null;
  readonly canEdit: boolean; readonly openDraft: OpenDraft; readonly isBare?: boolean;
}): ReactElement {
  return (
    <YamlField key={`${field.place.key} ${field.place.path.join(".")}`} {...field} attend={(there) => { openDraft.line.at({ field: there ? field.place.key : null }); }} />
  );
}
