/** The fields of a node other than its parameters, and of a workflow other than its nodes, in a form or as YAML text. */
import type { ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import { leaveBy } from "../canvas/actions/changing.ts";
import { exitsToLeaveBy, type Block } from "../canvas/model/graph.ts";
import type { Kind } from "../canvas/model/kinds.ts";
import { run } from "../canvas/commands.ts";
import { isObject, type Json, type JsonObject } from "../editing/values/values.ts";
import { Bones } from "../ui/loading/notices.tsx";
import { part } from "../ui/loading/part.tsx";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import { Fold } from "./fold.tsx";
import { placedInWorkflow, within } from "./forms/placing.ts";
import { Text, useAsYaml } from "./parameters.tsx";

const LOADING = (): ReactElement => <Bones lines={4} label="The form is loading" />;
const Form = part(async () => (await import("../canvas/page/aside.ts")).Settings, LOADING);
const FormOfWorkflow = part(async () => (await import("../canvas/page/aside.ts")).OfWorkflow, LOADING);
const OF_A_BLOCK: ReadonlySet<string> = new Set(["id", "type", "parent", "order", "after", "rest", "with", "enabled", "at"]);
const OF_THE_DOCUMENT: ReadonlySet<string> = new Set(["id", "nodes", "edges", "rest", "made_by"]);

export function Settings({ desk, look, openDraft, block, kind, asYaml, choose }: {
  readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly block: Block; readonly kind: Kind | undefined; readonly asYaml: boolean; readonly choose: (yaml: boolean) => void;
}): ReactElement {
  const { canEdit, view } = look.draft;
  const key = `block/${block.tail}`;
  const entity: JsonObject = view.get(key) ?? new Map<string, Json>();
  const names = kind?.settings?.get("properties");
  const isWrong = isObject(names) && (look.findings.get(block.tail) ?? []).some((one) => names.has(within(look.graph, block.tail, one.path).split(".")[0] ?? ""));
  return (
    <Fold title="Retries, time limits and other settings" count={[...entity.keys()].filter((name) => !OF_A_BLOCK.has(name)).length} isWrong={isWrong}>
      {kind === undefined || kind.settings === null || asYaml ? (
        <Text desk={desk} label="Settings" value={entity} place={{ key, path: [], hidden: OF_A_BLOCK }} schema={null} canEdit={canEdit} openDraft={openDraft} />
      ) : (
        <Form desk={desk} look={look} openDraft={openDraft} block={block} kind={kind} entity={entity} hidden={OF_A_BLOCK} asYaml={() => { choose(true); }} />
      )}
      <label className="check">
        <input type="checkbox" checked={block.enabled} disabled={!canEdit} onChange={() => { run(desk, "disable"); }} /> Enabled
      </label>
      {block.enabled || exitsToLeaveBy(block).length < 2 ? null : (
        <label className="check">
          Leaves by{" "}
          <select className="field" value={exitOf(entity)} disabled={!canEdit} onChange={(event) => { desk.edit(leaveBy(block.tail, event.target.value)); }}>
            {exitOf(entity) === "" ? <option value="">choose an exit</option> : null}
            {exitsToLeaveBy(block).map((exit) => <option key={exit} value={exit}>{exit}</option>)}
          </select>
        </label>
      )}
    </Fold>
  );
}

/** The exit by which a disabled node leaves, "" where its author has named none. */
function exitOf(entity: JsonObject): string {
  const enabled = entity.get("enabled");
  const exit = isObject(enabled) ? enabled.get("exit") : undefined;
  return typeof exit === "string" ? exit : "";
}

/** What the whole workflow has: loaded when it is unfolded. */
export function WorkflowSettings({ desk, look, openDraft, entity }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly entity: JsonObject }): ReactElement {
  const [asYaml, choose] = useAsYaml();
  const isWrong = placedInWorkflow(look.findings).length > 0;
  return (
    <Fold title="Name, messages, variables and limits" count={[...entity.keys()].filter((name) => !OF_THE_DOCUMENT.has(name)).length} isWrong={isWrong} shut>
      {desk.settings === null || asYaml ? (
        <>
          <Text desk={desk} label="Settings" isBare value={entity} place={{ key: "doc", path: [], hidden: OF_THE_DOCUMENT }} schema={null} canEdit={look.draft.canEdit} openDraft={openDraft} />
          {desk.settings === null ? null : <button type="button" className="link settings-yaml" onClick={() => { choose(false); }}>Edit in a form</button>}
        </>
      ) : (
        <FormOfWorkflow desk={desk} look={look} openDraft={openDraft} entity={entity} hidden={OF_THE_DOCUMENT} asYaml={() => { choose(true); }} />
      )}
    </Fold>
  );
}
