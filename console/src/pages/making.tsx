/** The button that begins a workflow, where the server has drafts. Its dialog is loaded when it is asked for. */
import { useState, type ReactElement } from "react";
import { useDrafts } from "../ui/drafts.ts";
import { dialog } from "../ui/loading/part.tsx";

const Making = dialog(async () => (await import("./making_dialog.tsx")).default);

export function NewWorkflow({ label = "New workflow" }: { readonly label?: string }): ReactElement | null {
  const [open, setOpen] = useState(false);
  if (!useDrafts()) return null;
  return (
    <>
      <button className="button first" type="button" onClick={() => { setOpen(true); }}>{label}</button>
      {open ? <Making close={() => { setOpen(false); }} /> : null}
    </>
  );
}
