/** What a question is about: rows of a label and a value, in the language and zone of the reader. */
import { Fragment, type ReactElement } from "react";
import type { ApprovalOut } from "../wire/contract.ts";

type Detail = ApprovalOut["details"][number];
type Block = Detail["blocks"][number];
type Span = Block["lines"][number][number];

const DAY = { day: "numeric", month: "long", year: "numeric" } as const;
const TIME = { ...DAY, hour: "2-digit", minute: "2-digit", timeZoneName: "short" } as const;

/** The value of a row as its reader writes it; that of the server where the browser cannot format it. */
export function formatted({ format, value, text, currency }: Omit<Detail, "label" | "link" | "blocks">, locale?: string, timeZone?: string): string {
  try {
    if (format === "amount" && currency !== null) return new Intl.NumberFormat(locale, { style: "currency", currency }).format(value as Intl.StringNumericLiteral);
    if (format === "number") return new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(value as Intl.StringNumericLiteral);
    const zone = value.length === 10 ? "UTC" : timeZone; // a day is the same everywhere
    if (format === "date") return new Date(value).toLocaleDateString(locale, { ...DAY, timeZone: zone });
    if (format === "time") return new Date(value).toLocaleString(locale, { ...TIME, timeZone: zone });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return text;
}

export function Details({ of }: { readonly of: readonly Detail[] }): ReactElement | null {
  if (of.length === 0) return null;
  const rows = of.filter(({ label }) => label !== "");
  return (
    <div className="question-details">
      {rows.length === 0 ? null : <dl>{rows.map((row, place) => <Fragment key={place}><dt>{row.label}</dt><dd><Shown row={row} /></dd></Fragment>)}</dl>}
      {of.filter(({ label }) => label === "").map((row, place) => <div key={place} className="question-prose"><Shown row={row} /></div>)}
    </div>
  );
}

function Shown({ row }: { readonly row: Detail }): ReactElement {
  if (row.blocks.length > 0) return <>{row.blocks.map((block, place) => <Blocked key={place} block={block} />)}</>;
  const said = formatted(row);
  return row.link === null ? <span title={said === row.text ? undefined : row.text}>{said}</span> : <Away href={row.link}>{said}</Away>;
}

function Blocked({ block }: { readonly block: Block }): ReactElement {
  const lines = block.lines.map((line, place) => <Fragment key={place}>{line.map((span, at) => <Piece key={at} span={span} />)}</Fragment>);
  if (block.is_list) return <ul>{lines.map((line, place) => <li key={place}>{line}</li>)}</ul>;
  return <p>{lines.map((line, place) => <Fragment key={place}>{place === 0 ? null : <br />}{line}</Fragment>)}</p>;
}

function Piece({ span: { text, style, href } }: { readonly span: Span }): ReactElement {
  if (href !== "") return <Away href={href}>{text}</Away>;
  if (style === "b") return <b>{text}</b>;
  if (style === "i") return <i>{text}</i>;
  return style === "code" ? <code>{text}</code> : <>{text}</>;
}

function Away({ href, children }: { readonly href: string; readonly children: string }): ReactElement {
  return <a href={href} target="_blank" rel="noopener noreferrer">{children}</a>;
}
