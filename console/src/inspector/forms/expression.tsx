/** A field in which an expression is written, with its value over the last run below it. */
import { useEffect, useRef, useState, type ReactElement } from "react";
import type { Json } from "../../editing/values/values.ts";
import { explained, Refusal } from "../../wire/api.ts";
import { valueText } from "../../source/differences/texts.ts";
import { ExpressionLine } from "../expressions/line.ts";
import { Prose } from "../../ui/words/prose.tsx";
import { Previewing } from "../expressions/previewing.ts";
import { evaluate, readScope, type Asked, type Scope, type Worth } from "../expressions/scope.ts";
import type { Shown } from "./control.ts";
import { shownScalar } from "./entering.ts";

const FRESH_MS = 3_000;
const known = new Map<string, { readonly at: number; readonly scope: Promise<Scope | null> }>();

/** The scope of a block; null on a server without this route. It is read again when it is older than three seconds. */
function scopeOf(draft: string, node: string): Promise<Scope | null> {
  const name = `${draft} ${node}`;
  const held = known.get(name);
  if (held !== undefined && performance.now() - held.at < FRESH_MS) return held.scope;
  const scope = readScope(draft, node).catch(() => null);
  known.clear();
  known.set(name, { at: performance.now(), scope });
  return scope;
}

/** `worth` is null while nothing is known; `why`: the server did not say. */
interface Seen {
  readonly worth: Worth | null;
  readonly why: string;
}

export default function Expression({ bench, value, label, ghost, isExpression, isLong, place, focused, enter }: Shown & {
  readonly ghost: string; readonly isExpression: boolean; readonly isLong: boolean; readonly focused: boolean; readonly enter: (text: string, base: Json | undefined) => void;
}): ReactElement {
  const host = useRef<HTMLDivElement>(null);
  const line = useRef<ExpressionLine>(null);
  const scope = useRef<Scope | null>(null);
  const [seen, setSeen] = useState<Seen | null>(null);
  const [active, setActive] = useState(focused);
  const text = shownScalar(value);
  const { desk, openDraft, node, canEdit } = bench;
  const held = useRef(value);
  const typed = useRef(enter);
  useEffect(() => {
    held.current = value;
    typed.current = enter;
  });

  useEffect(() => {
    if (host.current === null) return;
    const made = new ExpressionLine({
      host: host.current, text: shownScalar(held.current), label, ghost, isExpression, isLong, canEdit: desk.snapshot().draft.canEdit, scope: () => scope.current,
      typed: (now) => { typed.current(now, held.current); },
    });
    line.current = made;
    if (focused) made.focus(true);
    return () => {
      line.current = null;
      made.close();
    };
  }, [desk, label, ghost, isExpression, isLong, focused]); // the text that it begins with; later ones arrive
  useEffect(() => { line.current?.arrive(text); }, [text]);
  useEffect(() => { line.current?.allow(canEdit); }, [canEdit]);

  const asking = useRef<Previewing<Asked, Seen>>(null);
  useEffect(() => {
    const made = new Previewing<Asked, Seen>({
      ask: (asked, signal) => evaluate(asked, signal).then((worth) => ({ worth, why: "" }), (error: unknown) => {
        if (signal.aborted) throw error;
        return { worth: null, why: error instanceof Refusal && error.status === 404 && error.code.startsWith("http_") ? "" : explained(error).why };
      }),
      later: (ms, run) => {
        const timer = window.setTimeout(run, ms);
        return () => { window.clearTimeout(timer); };
      },
      show: setSeen,
    });
    asking.current = made;
    return () => { made.close(); };
  }, []);
  const draft = openDraft.draft;
  useEffect(() => {
    const isElse = isExpression && text.trim() === "else"; // a word of its own among cases
    asking.current?.ask(active && !isElse && text.trim() !== "" ? { draft, node, source: text, isExpression, place } : null);
  }, [active, draft, node, text, isExpression, place]);

  const attend = (): void => {
    setActive(true);
    void scopeOf(draft, node).then((read) => {
      scope.current = read;
      line.current?.known();
    });
  };
  return (
    <div className="x" onFocus={attend} onBlur={() => { setActive(false); }}>
      <div ref={host} className={seen?.worth?.fault === null || seen?.worth === undefined || seen.worth === null ? "x-host field" : "x-host field wrong"} />
      {active && seen !== null ? <Preview seen={seen} show={(offset, length) => { line.current?.show(offset, length); }} /> : null}
    </div>
  );
}

function Preview({ seen: { worth, why }, show }: { readonly seen: Seen; readonly show: (offset: number, length: number) => void }): ReactElement | null {
  if (worth === null) return why === "" ? null : <p className="x-worth quiet" role="status">{why}</p>;
  const { fault } = worth;
  if (fault !== null) {
    return (
      <p className="x-worth fault" role="status">
        <button type="button" className="link" onMouseDown={(event) => { event.preventDefault(); }} onClick={() => { show(fault.offset, fault.length); }}><Prose text={capital(fault.message)} /></button> <span className="quiet"><Prose text={capital(fault.mend)} /></span>
      </p>
    );
  }
  const nothing = worth.unread.length > 0;
  return (
    <p className="x-worth" role="status">
      {nothing ? null : <output>{worth.preview === null ? `= ${worth.value === "" ? "an empty text" : valueText(worth.value) || "null"}` : `= ${worth.preview}…`}</output>}
      {nothing ? <span className="quiet">{worth.run === null ? "The value is shown here once the workflow has run." : `The last run has no value of ${worth.unread.join(", ")}.`}</span> : null}
      {!nothing && worth.nulls.length > 0 ? <span className="quiet"> {worth.nulls.join(", ")} {worth.nulls.length === 1 ? "is" : "are"} null.</span> : null}
    </p>
  );
}

function capital(sentence: string): string {
  const begun = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  return begun === "" || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
