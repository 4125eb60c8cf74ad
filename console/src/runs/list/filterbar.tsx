/** The filters of the list, each in the address. Text is taken over when a person pauses, presses Enter or leaves the field. */
import { useEffect, useRef, useState, type ReactElement } from "react";
import { Icon } from "../../ui/icons.tsx";
import { wordOf } from "../../ui/status.tsx";
import { STORED } from "../../wire/tables/statuses.ts";
import { KeptMenu } from "./kept_menu.tsx";
import { ADDED, faultsOf, isFiltered, NO_FILTERS, WAITS, type Filters } from "./filters.ts";

const PAUSE_MS = 400;
const SINCES = [["1h", "Last hour"], ["24h", "Last 24 hours"], ["7d", "Last 7 days"], ["30d", "Last 30 days"]] as const;
const WAIT_WORDS: Readonly<Record<string, string>> = { answer: "an answer", message: "a message", time: "a time", retry: "a retry", child: "a child run", limit: "a limit", held: "a release", start: "its start" };

export function FilterBar({ filters, workflows, onChange }: {
  readonly filters: Filters; readonly workflows: readonly string[]; readonly onChange: (filters: Filters) => void;
}): ReactElement {
  const [more, setMore] = useState(ADDED.some(({ at }) => filters[at] !== ""));
  const faults = faultsOf(filters);
  const set = (change: Partial<Filters>): void => { onChange({ ...filters, ...change }); };
  const known = filters.workflow === "" || workflows.includes(filters.workflow) ? workflows : [filters.workflow, ...workflows];
  return (
    <search className="filters" aria-label="Filters">
      <Words name="search" label="Search words" placeholder="Search id, error, question…" value={filters.search} fault={faults.get("search")} onTake={(search) => { set({ search }); }} wide />
      <Choice label="Workflow" value={filters.workflow} options={known.map((id) => [id, id])} any="Any workflow" onTake={(workflow) => { set({ workflow }); }} />
      <Choice label="Status" value={filters.status} options={STORED.map((one) => [one, wordOf(one)])} any="Any status" onTake={(status) => { set({ status }); }} />
      <Choice label="Waits for" value={filters.waiting} options={WAITS.map((one) => [one, `Waits for ${WAIT_WORDS[one] ?? one}`])} any="Any wait" onTake={(waiting) => { set({ waiting }); }} />
      <Choice label="Since" value={filters.since} options={SINCES.some(([one]) => one === filters.since) || filters.since === "" ? SINCES : [[filters.since, `Since ${filters.since}`], ...SINCES]} any="Any time" onTake={(since) => { set({ since }); }} />
      <Words name="tag" label="Tags" placeholder="Tag" value={filters.tags.join(" ")} fault={faults.get("tags")} onTake={(text) => { set({ tags: [...new Set(text.split(/[\s,]+/).filter(Boolean))] }); }} />
      {more ? (
        ADDED.map(({ at, label, placeholder }) => (
          <Words key={at} name={at} label={label} placeholder={placeholder} value={filters[at]} fault={faults.get(at)} onTake={(text) => { set({ [at]: text }); }} />
        ))
      ) : <button className="button small" type="button" onClick={() => { setMore(true); }}><Icon mark="plus" size={14} />Error, duration</button>}
      {isFiltered(filters) ? <button className="button small clear" type="button" onClick={() => { onChange(NO_FILTERS); setMore(false); }}><Icon mark="close" size={14} />Clear</button> : null}
      <KeptMenu filters={filters} onChange={(next) => { onChange(next); setMore(ADDED.some(({ at }) => next[at] !== "")); }} />
    </search>
  );
}

function Choice({ label, value, options, any, onTake }: {
  readonly label: string; readonly value: string; readonly options: readonly (readonly [string, string])[]; readonly any: string; readonly onTake: (value: string) => void;
}): ReactElement {
  return (
    <select className={value === "" ? "field choice" : "field choice set"} aria-label={label} value={value} onChange={(event) => { onTake(event.target.value); }}>
      <option value="">{any}</option>
      {options.map(([one, said]) => <option key={one} value={one}>{said}</option>)}
    </select>
  );
}

function Words({ name, label, placeholder, value, fault, onTake, wide = false }: {
  readonly name: string; readonly label: string; readonly placeholder: string; readonly value: string; readonly fault: string | undefined;
  readonly onTake: (text: string) => void; readonly wide?: boolean;
}): ReactElement {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => { setTyped(value); }, [value]);
  useEffect(() => () => { clearTimeout(timer.current); }, []);
  const take = (text: string): void => {
    clearTimeout(timer.current);
    if (text.trim() !== value) onTake(text.trim());
  };
  return (
    <span className={wide ? "words wide" : "words"}>
      <input className={value === "" ? "field" : "field set"} name={name} type="search" aria-label={label} placeholder={placeholder} value={typed} spellCheck={false} autoComplete="off"
        aria-invalid={fault !== undefined} title={fault}
        onChange={(event) => {
          const text = event.target.value;
          setTyped(text);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => { take(text); }, PAUSE_MS);
        }}
        onKeyDown={(event) => { if (event.key === "Enter") take(typed); }} onBlur={() => { take(typed); }} />
      {fault === undefined ? null : <span className="fault" role="alert">{fault}</span>}
    </span>
  );
}
