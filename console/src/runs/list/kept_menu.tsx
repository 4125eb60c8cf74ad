/** Filters that are kept by name: chosen, kept, forgotten, and shared by their address. */
import { useState, type ReactElement, type SyntheticEvent } from "react";
import { hrefOf } from "../../ui/addresses.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Menu, type MenuSection } from "../../ui/menu.tsx";
import { isFiltered, toAddress, type Filters } from "./filters.ts";
import { filtersOf, keep, keptFilters, MAX_NAME_CHARACTERS, nameOf, type Kept } from "./kept.ts";

const SAID_MS = 1_500;
const CHOOSE = "choose "; // before a name: what a person called their filters is no key of this menu

export function KeptMenu({ filters, onChange }: { readonly filters: Filters; readonly onChange: (filters: Filters) => void }): ReactElement {
  const [kept, setKept] = useState(() => keptFilters());
  const [at, setAt] = useState<{ readonly x: number; readonly y: number } | null>(null);
  const [naming, setNaming] = useState(false);
  const [said, setSaid] = useState("");
  const name = nameOf(filters, kept);
  const change = (under: string, to: Filters | null): void => {
    keep(under, to);
    setKept(keptFilters());
  };
  const share = (): void => {
    const say = (text: string): void => {
      setSaid(text);
      setTimeout(() => { setSaid(""); }, SAID_MS);
    };
    navigator.clipboard.writeText(location.origin + hrefOf(`/${toAddress(filters)}`)).then(() => { say("Link copied"); }, () => { say("Not copied"); });
  };
  const choose = (key: string): void => {
    setAt(null);
    if (key === "keep") setNaming(true);
    else if (key === "share") share();
    else if (key === "forget") change(name, null);
    else onChange(filtersOf(kept.get(key.slice(CHOOSE.length)) ?? ""));
  };
  return (
    <>
      <button className={name === "" ? "button small kept" : "button small kept set"} type="button" aria-haspopup="menu" aria-expanded={at !== null}
        onClick={({ currentTarget }) => {
          const { left, bottom } = currentTarget.getBoundingClientRect();
          setAt(at === null ? { x: left, y: bottom + 4 } : null);
        }}><span className="cut" role="status">{said || name || "Saved filters"}</span></button>
      {at === null ? null : <Menu label="Saved filters" {...at} sections={sections(filters, kept, name)} choose={choose} close={() => { setAt(null); }} />}
      {naming ? <Naming kept={kept} close={() => { setNaming(false); }} take={(given) => { setNaming(false); change(given, filters); }} /> : null}
    </>
  );
}

function sections(filters: Filters, kept: Kept, name: string): readonly MenuSection[] {
  const disabled = !isFiltered(filters);
  return [
    [...kept.keys()].sort((left, right) => left.localeCompare(right)).map((one) => ({ key: CHOOSE + one, title: one })),
    [{ key: "keep", title: "Save these filters…", disabled }, { key: "share", title: "Copy a link to these filters", disabled }],
    name === "" ? [] : [{ key: "forget", title: `Forget “${name}”`, danger: true }],
  ];
}

function Naming({ kept, take, close }: { readonly kept: Kept; readonly take: (name: string) => void; readonly close: () => void }): ReactElement {
  const [typed, setTyped] = useState("");
  const name = typed.trim();
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (name !== "") take(name);
  };
  return (
    <Dialog title="Save these filters" close={close}>
      <form onSubmit={submit}>
        <div className="dialog-body">
          <label><span className="label">Name</span><input className="field" data-first maxLength={MAX_NAME_CHARACTERS} value={typed} onChange={(event) => { setTyped(event.target.value); }} /></label>
          <p className="hint">{kept.has(name) ? "Replaces the filters of this name." : "Kept in this browser. To share filters, copy their link."}</p>
        </div>
        <div className="dialog-foot"><button className="button" type="button" onClick={close}>Cancel</button><button className="button first" type="submit" disabled={name === ""}>Save</button></div>
      </form>
    </Dialog>
  );
}
