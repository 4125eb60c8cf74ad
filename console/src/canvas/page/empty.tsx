/** Shows on a canvas without nodes how to begin. */
import { useMemo, type ReactElement } from "react";
import { run } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { Clipboard } from "../keyboard/clipboard.ts";
import { keyNames } from "../../ui/words/keynames.ts";

export function Empty({ desk, canEdit }: { readonly desk: Desk; readonly canEdit: boolean }): ReactElement {
  const clipboard = useMemo(() => new Clipboard(desk), [desk]);
  const example = async (): Promise<void> => {
    const { default: text } = await import("../../source/examples/approval.yaml?raw");
    await clipboard.pasted(text);
    desk.select([]);
    desk.viewer?.open();
  };
  return (
    <div className="empty">
      <h2>This draft has no nodes yet</h2>
      <p className="quiet">A workflow starts with an entry: <b>webhook</b>, <b>schedule</b>, <b>event</b> or <b>manual</b>. <span className="with-keys">Drag one here, or press <kbd>A</kbd> and type its name. <kbd>?</kbd> lists all keys.</span></p>
      <div className="empty-acts">
        <button className="button first" type="button" disabled={!canEdit} onClick={() => { run(desk, "add"); }}>Add a node</button>
        <button className="button" type="button" disabled={!canEdit} onClick={() => { void example(); }}>Start with an example</button>
        <button className="button" type="button" disabled={!canEdit} title="YAML or JSON with nodes, or an export of Sim or n8n" onClick={() => { void clipboard.read(); }}>Paste <kbd className="with-keys">{keyNames("⌘ V")}</kbd></button>
      </div>
    </div>
  );
}
