/** The button that begins a workflow, where the server has drafts. Its dialog is loaded when it is asked for. */
import { useState, type ReactElement } from "react";
import { useDrafts } from "../ui/drafts.ts";
import type { Way } from "./making_dialog.tsx";
import { dialog } from "../ui/loading/part.tsx";

const Making = dialog(async () => (await import("./making_dialog.tsx")).default);

/** `first`: how it begins, unless a person chooses another way. */
export function NewWorkflow({ label = "New workflow", first = "empty", plain = false }: { readonly label?: string; readonly first?: Way; readonly plain?: boolean }): ReactElement | null {
  const [open, setOpen] = useState(false);
  if (!useDrafts()) return null;
  return (
    <>
      <button className={plain ? "button" : "button first"} type="button" onClick={() => { setOpen(true); }}>{label}</button>
      {open ? <Making first={first} close={() => { setOpen(false); }} /> : null}
    </>
  );
}
