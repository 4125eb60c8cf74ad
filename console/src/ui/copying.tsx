/** A button that copies a text, and says for a moment that it did. */
import { useEffect, useState, type ReactElement } from "react";
import { Icon } from "./icons.tsx";

const SAID_MS = 1_500;

export function CopyButton({ text, what, children }: { readonly text: string; readonly what: string; readonly children?: string }): ReactElement {
  const [state, setState] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (state === "") return;
    const timer = setTimeout(() => { setState(""); }, SAID_MS);
    return () => { clearTimeout(timer); };
  }, [state]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(() => { setState("copied"); }, () => { setState("failed"); });
  };
  const label = state === "copied" ? "Copied" : state === "failed" ? "Not copied" : `Copy ${what}`;
  return (
    <button className={children === undefined ? "tool copy" : "button small copy"} type="button" title={label} aria-label={children === undefined ? label : undefined} onClick={(event) => { event.stopPropagation(); copy(); }} tabIndex={children === undefined ? -1 : 0}>
      <Icon mark={state === "copied" ? "check" : "copy"} size={14} />{children === undefined ? null : state === "" ? children : label}
    </button>
  );
}
