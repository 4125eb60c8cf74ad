/** A question over the page. The focus goes to what is marked `data-first`, and back to where it was; Escape closes it. */
import "./dialog.css";
import { useEffect, useRef, type ReactElement, type ReactNode } from "react";
import { Icon } from "./icons.tsx";

export function Dialog({ title, close, wide = false, children }: {
  readonly title: string; readonly close: () => void; readonly wide?: boolean; readonly children: ReactNode;
}): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    shown?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} className={wide ? "dialog wide" : "dialog"} aria-label={title} onCancel={(event) => { event.preventDefault(); close(); }}>
      <div className="dialog-head"><h2>{title}</h2><button className="tool" type="button" aria-label="Close" onClick={close}><Icon mark="close" /></button></div>
      {children}
    </dialog>
  );
}
