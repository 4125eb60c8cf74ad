/** What a node has beside its parameters, in a form or as YAML text. */
import { lazy, Suspense, type ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import type { Block } from "../canvas/model/graph.ts";
import type { Kind } from "../canvas/model/kinds.ts";
import { run } from "../canvas/commands.ts";
import { isObject, type Json, type JsonObject } from "../editing/values.ts";
import { Bones } from "../ui/notices.tsx";
import type { Room } from "../wire/room.ts";
import { Fold } from "./fold.tsx";
import { within } from "./forms/placing.ts";
import { Text } from "./parameters.tsx";

const Form = lazy(async () => ({ default: (await import("../canvas/page/aside.ts")).Settings }));
const OF_A_BLOCK: ReadonlySet<string> = new Set(["id", "type", "parent", "order", "after", "rest", "with", "enabled", "at"]);

export function Settings({ desk, look, room, block, kind, asYaml, choose }: {
  readonly desk: Desk; readonly look: Look; readonly room: Room; readonly block: Block; readonly kind: Kind | undefined; readonly asYaml: boolean; readonly choose: (yaml: boolean) => void;
}): ReactElement {
  const { canEdit, view } = look.draft;
  const key = `block/${block.tail}`;
  const entity: JsonObject = view.get(key) ?? new Map<string, Json>();
  const names = kind?.settings?.get("properties");
  const isWrong = isObject(names) && (look.findings.get(block.tail) ?? []).some((one) => names.has(within(look.graph, block.tail, one.path).split(".")[0] ?? ""));
  return (
    <Fold title="Retries, time limits and the rest" count={[...entity.keys()].filter((name) => !OF_A_BLOCK.has(name)).length} isWrong={isWrong}>
      {kind === undefined || kind.settings === null || asYaml ? (
        <Text desk={desk} label="Settings" value={entity} place={{ key, path: [], hidden: OF_A_BLOCK }} schema={null} canEdit={canEdit} room={room} />
      ) : (
        <Suspense fallback={<Bones lines={4} label="The form is loading" />}>
          <Form desk={desk} look={look} room={room} block={block} kind={kind} entity={entity} hidden={OF_A_BLOCK} asYaml={() => { choose(true); }} />
        </Suspense>
      )}
      <label className="check">
        <input type="checkbox" checked={block.enabled} disabled={!canEdit} onChange={() => { run(desk, "disable"); }} /> Enabled
      </label>
    </Fold>
  );
}
