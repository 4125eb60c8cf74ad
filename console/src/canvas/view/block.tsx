/** A block on the canvas: its mark, name and kind, its exits with their ports, and what is wrong with it. */
import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { memo, type ReactElement } from "react";
import { KindLine, PinMark } from "../../testruns/marks.tsx";
import { Icon, markOf } from "../../ui/icons.tsx";
import type { Person } from "../../wire/draft/people.ts";
import type { Finding, Severity } from "../../wire/draft/open_draft.ts";
import { findingWords } from "../model/findings.ts";
import { ERROR, SOURCE, type Block } from "../model/graph.ts";
import { entryOf, hasRows, portsOf } from "../model/sizes.ts";
import { FITS, FITS_BESIDE, lineOf } from "./cheap.ts";

export interface BlockData extends Record<string, unknown> {
  readonly block: Block;
  readonly findings: readonly Finding[];
  readonly severity: Severity | null;
  readonly people: readonly Person[];
  readonly empty: boolean; // whether it is a container without a node
  readonly failing: boolean; // whether an edge leaves by `error`
}

export type BlockNode = Node<BlockData, "block" | "frame">;

export const BlockCard = memo(function BlockCard({ data, selected }: NodeProps<BlockNode>): ReactElement {
  const { block } = data;
  return (
    <div className={classes(data, selected, "block")} data-person={colour(data)}>
      <Entry block={block} />
      <span className="block-mark"><Icon mark={markOf(block.type)} /></span>
      <span className={`block-name ${lineOf(block.id, data.severity === null ? FITS : FITS_BESIDE)}`} title={block.id}>{block.id}</span>
      <KindLine block={block} />
      <PinMark tail={block.tail} />
      <Wrong data={data} />
      {hasRows(block) ? <ul className="block-exits">{block.exits.map((exit) => <li key={exit} className={exit === ERROR ? "error" : ""}>{exit}</li>)}</ul> : null}
      <Exits block={block} />
      <Tag people={data.people} />
    </div>
  );
});

export const FrameCard = memo(function FrameCard({ data, selected }: NodeProps<BlockNode>): ReactElement {
  const { block } = data;
  return (
    <div className={classes(data, selected, "frame")} data-person={colour(data)}>
      <Entry block={block} />
      <div className="frame-head">
        <span className="block-mark"><Icon mark={markOf(block.type)} /></span>
        <span className="block-name cut" title={block.id}>{block.id}</span>
        <KindLine block={block} />
        <PinMark tail={block.tail} />
        <Wrong data={data} />
      </div>
      {data.empty ? <p className="frame-empty">Select this, and choose a kind</p> : null}
      <Exits block={block} />
      <Tag people={data.people} />
    </div>
  );
});

function Entry({ block }: { readonly block: Block }): ReactElement {
  // where nothing can lead, an edge that does all the same needs its end
  return <Handle type="target" position={Position.Left} className={block.entry ? "unused" : ""} isConnectable={!block.entry} style={{ top: entryOf(block) }} />;
}

function Exits({ block }: { readonly block: Block }): ReactElement {
  return (
    <>
      {portsOf(block).map(({ exit, y }) => (
        <Handle key={exit} id={exit} type="source" position={Position.Right} className={exit === ERROR ? "error" : ""} style={{ top: y }}
          title={exit === SOURCE ? "Drag to connect" : `${exit}: drag to connect`} />
      ))}
    </>
  );
}

function Wrong({ data }: { readonly data: BlockData }): ReactElement | null {
  if (data.severity === null) return null;
  return (
    <span className={`block-wrong ${data.severity}`} title={findingWords(data.findings)}>
      <Icon mark={data.severity} size={14} />{data.findings.length > 1 ? data.findings.length : null}
      <span className="hidden">{data.severity === "incomplete" ? "to fill in" : data.severity}</span>
    </span>
  );
}

function Tag({ people }: { readonly people: readonly Person[] }): ReactElement | null {
  const [first, ...rest] = people;
  if (first === undefined) return null;
  return <span className="person-tag" data-person={first.colour}>{first.name}{rest.length > 0 ? ` +${rest.length}` : ""}</span>;
}

function colour(data: BlockData): number | undefined {
  return data.people[0]?.colour;
}

function classes(data: BlockData, selected: boolean, base: string): string {
  const said = [base, selected ? "selected" : "", data.block.enabled ? "" : "disabled", data.failing ? "failing" : "", hasRows(data.block) ? "ported" : "", data.severity ?? ""];
  return said.filter(Boolean).join(" ");
}
