/** A JSON value as a tree that can be folded, searched and copied, each part by its value or by its reference. */
import "./json.css";
import { useState, type ReactElement } from "react";
import { isList, isObject, type Json } from "../editing/values/values.ts";
import { writeDigits } from "../editing/values/json.ts";
import { CopyButton } from "./copying.tsx";
import { counted } from "./words/formats.ts";

const MAX_SHOWN = 200; // entries of one object or list before a person asks for more
const OPEN_DEPTH = 2;
const FIND_FROM = 400; // characters, below which a value is seen at a glance
const LARGE = 100_000; // characters, above which nothing is unfolded by itself

export function JsonView({ value, label, reference }: { readonly value: Json; readonly label: string; readonly reference?: string }): ReactElement {
  const [words, setWords] = useState("");
  const text = writeDigits(value);
  const leaf = !isObject(value) && !isList(value);
  return (
    <section className="json" aria-label={label}>
      <div className="json-tools">
        <b>{label}</b><span className="hint">{size(text.length)}</span><span className="head-gap" />
        {leaf || text.length < FIND_FROM ? null : <input className="field" type="search" placeholder="find" aria-label={`Find in ${label}`} value={words} onChange={(event) => { setWords(event.target.value); }} />}
        {reference === undefined ? null : <CopyButton text={`<${reference}>`} what={`reference <${reference}>`}>Reference</CopyButton>}
        <CopyButton text={text} what="the value">Copy</CopyButton>
      </div>
      <div className="json-tree" tabIndex={0} role="group" aria-label={label}>
        <Branch value={value} name={null} depth={text.length > LARGE ? OPEN_DEPTH : 0} words={words.trim().toLowerCase()} reference={reference ?? null} last />
      </div>
    </section>
  );
}

function size(characters: number): string {
  return characters < 1_000 ? `${characters} B` : characters < 1_000_000 ? `${Math.round(characters / 1_000)} KB` : `${(characters / 1_000_000).toFixed(1)} MB`;
}

interface BranchProps {
  readonly value: Json;
  readonly name: string | null;
  readonly depth: number;
  readonly words: string;
  readonly reference: string | null;
  readonly last: boolean;
}

/** A number that a double would not give back as it was written. */
function written(value: Json): string | null {
  const digits = isObject(value) && value.size === 1 ? value.get("#") : undefined;
  return typeof digits === "string" ? digits : null;
}

function Branch(props: BranchProps): ReactElement {
  const { value } = props;
  const digits = written(value);
  if (digits !== null) return <Leaf {...props} text={digits} kind="number" />;
  if (isObject(value)) return <Parts {...props} entries={[...value]} begin="{" end="}" unit="key" stepOf={(key) => `.${key}`} />;
  if (isList(value)) return <Parts {...props} entries={value.map((one, place) => [String(place), one] as const)} begin="[" end="]" unit="item" stepOf={(key) => `[${key}]`} />;
  return <Leaf {...props} text={JSON.stringify(value)} kind={typeof value === "string" ? "text" : typeof value === "number" ? "number" : "word"} />;
}

function Parts({ value, name, depth, words, reference, last, entries, begin, end, unit, stepOf }: BranchProps & {
  readonly entries: readonly (readonly [string, Json])[]; readonly begin: string; readonly end: string; readonly unit: string; readonly stepOf: (key: string) => string;
}): ReactElement {
  const [folded, setFolded] = useState<boolean | null>(null);
  const [most, setMost] = useState(MAX_SHOWN);
  const found = words !== "" && writeDigits(value).toLowerCase().includes(words);
  const open = folded === null ? depth < OPEN_DEPTH || found : !folded;
  if (entries.length === 0) return <div className="json-line"><Name name={name} /><span>{begin}{end}{last ? "" : ","}</span><Reference name={name} reference={reference} /></div>;
  return (
    <div>
      <div className="json-line">
        <button type="button" aria-expanded={open} aria-label={open ? "Fold" : "Unfold"} onClick={() => { setFolded(open); }}>{open ? "▾" : "▸"}</button>
        <Name name={name} />
        <span>{begin}{open ? "" : <button type="button" onClick={() => { setFolded(false); }}>{` ${counted(entries.length, unit)} `}</button>}{open ? "" : end}</span>
        <Reference name={name} reference={reference} />
      </div>
      {open ? (
        <>
          <ul>
            {entries.slice(0, most).map(([key, one], place) => (
              <li key={key}><Branch value={one} name={key} depth={depth + 1} words={words} reference={reference === null ? null : `${reference}${stepOf(key)}`} last={place === entries.length - 1} /></li>
            ))}
            {entries.length > most ? <li><button type="button" onClick={() => { setMost(most + MAX_SHOWN * 5); }}>{(entries.length - most).toLocaleString("en")} more…</button></li> : null}
          </ul>
          <div>{end}</div>
        </>
      ) : null}
    </div>
  );
}

function Leaf({ name, words, reference, last, text, kind }: BranchProps & { readonly text: string; readonly kind: string }): ReactElement {
  const hit = words !== "" && text.toLowerCase().includes(words);
  return (
    <div className="json-line">
      <Name name={name} />
      <span className={kind}>{hit ? <mark>{text}</mark> : text}{last ? "" : ","}</span>
      <Reference name={name} reference={reference} />
    </div>
  );
}

function Name({ name }: { readonly name: string | null }): ReactElement | null {
  return name === null ? null : <span className="name">{name}:</span>;
}

function Reference({ name, reference }: { readonly name: string | null; readonly reference: string | null }): ReactElement | null {
  return name === null || reference === null ? null : <CopyButton text={`<${reference}>`} what={`<${reference}>`} />;
}
