/** A node in the graph of a run: its mark and name, and how its instances stand. */
import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { memo, type ReactElement } from "react";
import type { Block } from "../../../canvas/model/graph.ts";
import { entryOf, hasRows, portsOf } from "../../../canvas/model/sizes.ts";
import { lasting } from "../../../ui/words/formats.ts";
import { Icon, markOf } from "../../../ui/icons.tsx";
import { StatusMark, toneOf } from "../../../ui/status.tsx";
import { loudest, said, spanOf, total, turnsSaid, type Counts } from "../../../runstate/counts.ts";
import type { NodeSummary } from "../../../runstate/types.ts";

export interface CardData extends Record<string, unknown> {
  readonly block: Block;
  readonly summary: NodeSummary | undefined;
  readonly failures: readonly string[]; // of a container: instances inside it
  readonly choose: (path: string, instance?: string) => void;
}

export type CardNode = Node<CardData, "block" | "frame">;

function about(summary: NodeSummary | undefined, block: Block): string {
  if (summary === undefined) return block.type;
  const many = total(summary.counts) > 1;
  return `${said(summary.counts)}${!many && summary.attempts > 1 ? `, attempt ${summary.attempts}` : ""}`;
}

function tookOf(summary: NodeSummary | undefined): string {
  const span = summary === undefined ? null : spanOf(summary);
  return span === null ? "" : lasting(span);
}

export const RunCard = memo(function RunCard({ data: { block, summary, choose }, selected }: NodeProps<CardNode>): ReactElement {
  const status = summary === undefined ? "pending" : loudest(summary.counts);
  const [failed] = summary?.failed ?? [];
  const many = summary !== undefined && total(summary.counts) > 1;
  const brief = block.brief ?? "";
  return (
    <div className={`block ran ${toneOf(status)}${summary === undefined ? " unseen" : ""}${selected ? " selected" : ""}${hasRows(block) ? " ported" : ""}`}>
      <Handle type="target" position={Position.Left} className="unused" isConnectable={false} style={{ top: entryOf(block) }} />
      <span className="block-mark"><Icon mark={markOf(block.type)} /></span>
      <span className="block-name cut" title={block.id}>{block.id}</span>
      <span className="block-took">{tookOf(summary)}</span>
      {summary === undefined ? <span className="block-kind cut" title={`${block.type}${brief === "" ? "" : `: ${brief}`}`}><span className="block-type">{block.type}</span>{brief === "" ? null : <span className="block-brief"> {brief}</span>}</span>
        : many ? <Marks counts={summary.counts} open={failed === undefined ? null : () => { choose(block.tail, failed); }} />
          : <span className={`block-kind cut status ${toneOf(status)}`} title={about(summary, block)}><StatusMark status={status} /><span className="cut">{about(summary, block)}</span></span>}
      {hasRows(block) ? <ul className="block-exits">{block.exits.map((exit) => <li key={exit}>{exit}</li>)}</ul> : null}
      {portsOf(block).map(({ exit, y }) => <Handle key={exit} id={exit} type="source" position={Position.Right} className="unused" isConnectable={false} style={{ top: y }} />)}
    </div>
  );
});

/** Counts in the width of a card: marks and numbers, with the words for those who point or listen. Those that failed lead to the first of them. */
function Marks({ counts, open }: { readonly counts: Counts; readonly open: (() => void) | null }): ReactElement {
  const found = Object.entries(counts).filter(([, count]) => count > 0).sort(([, left], [, right]) => right - left);
  return (
    <span className="block-kind marks" title={said(counts)}>
      {found.map(([status, count]) => status === "failed" && open !== null
        ? <button key={status} type="button" className="jump nodrag status failed" title="Open the first of them" onClick={(event) => { event.stopPropagation(); open(); }}><StatusMark status={status} />{count.toLocaleString("en")} failed</button>
        : <span key={status} className={`status ${toneOf(status)}`}><StatusMark status={status} />{count.toLocaleString("en")}<span className="hidden"> {status}</span></span>)}
    </span>
  );
}

export const RunFrame = memo(function RunFrame({ data: { block, summary, failures, choose }, selected }: NodeProps<CardNode>): ReactElement {
  const status = summary === undefined ? "pending" : loudest(summary.counts);
  const [failed] = failures;
  return (
    <div className={`frame ran ${toneOf(status)}${selected ? " selected" : ""}`}>
      <Handle type="target" position={Position.Left} className="unused" isConnectable={false} style={{ top: entryOf(block) }} />
      <div className="frame-head">
        <span className="block-mark"><Icon mark={markOf(block.type)} /></span>
        <span className="block-name cut" title={block.id}>{block.id}</span>
        {summary === undefined ? <span className="block-kind">{block.type}</span> : <span className={`block-kind status ${toneOf(status)}`} title={about(summary, block)}><StatusMark status={status} /></span>}
        {summary === undefined || summary.turns === 0 ? null : <span className="block-kind cut" title={turnsSaid(summary)}>{turnsSaid(summary)}</span>}
        {failed === undefined ? null : <button type="button" className="jump nodrag" title={`Open ${failed}`} onClick={(event) => { event.stopPropagation(); choose(block.tail, failed); }}>First failure</button>}
      </div>
      {portsOf(block).map(({ exit, y }) => <Handle key={exit} id={exit} type="source" position={Position.Right} className="unused" isConnectable={false} style={{ top: y }} />)}
    </div>
  );
});
