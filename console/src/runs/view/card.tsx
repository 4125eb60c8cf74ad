/** A node in the graph of a run: its mark and name, and how its instances stand. */
import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { memo, type ReactElement } from "react";
import type { Block } from "../../canvas/model/graph.ts";
import { entryOf, hasRows, portsOf } from "../../canvas/model/sizes.ts";
import { lasting } from "../../ui/formats.ts";
import { Icon, markOf } from "../../ui/icons.tsx";
import { StatusMark, toneOf } from "../../ui/status.tsx";
import { loudest, said, total, type Counts } from "./counts.ts";
import type { NodeSummary } from "./types.ts";

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
  const took = !many && summary.begin_ms !== null && summary.end_ms !== null ? ` ${lasting(summary.end_ms - summary.begin_ms)}` : "";
  const tries = !many && summary.attempts > 1 ? `, attempt ${summary.attempts}` : "";
  return `${said(summary.counts)}${took}${tries}`;
}

export const RunCard = memo(function RunCard({ data: { block, summary, choose }, selected }: NodeProps<CardNode>): ReactElement {
  const status = summary === undefined ? "pending" : loudest(summary.counts);
  const [failed] = summary?.failed ?? [];
  const many = summary !== undefined && total(summary.counts) > 1;
  return (
    <div className={`block ran ${toneOf(status)}${summary === undefined ? " unseen" : ""}${selected ? " selected" : ""}${hasRows(block) ? " ported" : ""}`}>
      <Handle type="target" position={Position.Left} className="unused" isConnectable={false} style={{ top: entryOf(block) }} />
      <span className="block-mark"><Icon mark={markOf(block.type)} /></span>
      <span className="block-name cut" title={block.id}>{block.id}</span>
      {many ? <Marks counts={summary.counts} /> : <span className={`block-kind cut status ${summary === undefined ? "" : toneOf(status)}`} title={about(summary, block)}>{summary === undefined ? null : <StatusMark status={status} />}<span className="cut">{about(summary, block)}</span></span>}
      {many && failed !== undefined ? <button type="button" className="jump nodrag" title={`Open ${failed}`} onClick={(event) => { event.stopPropagation(); choose(block.tail, failed); }}>{(summary.counts["failed"] ?? 0).toLocaleString("en")} failed</button> : null}
      {hasRows(block) ? <ul className="block-exits">{block.exits.map((exit) => <li key={exit}>{exit}</li>)}</ul> : null}
      {portsOf(block).map(({ exit, y }) => <Handle key={exit} id={exit} type="source" position={Position.Right} className="unused" isConnectable={false} style={{ top: y }} />)}
    </div>
  );
});

/** Counts in the width of a card: marks and numbers, with the words for those who point or listen. */
function Marks({ counts }: { readonly counts: Counts }): ReactElement {
  const found = Object.entries(counts).filter(([, count]) => count > 0).sort(([, left], [, right]) => right - left);
  return (
    <span className="block-kind marks" title={said(counts)}>
      {found.map(([status, count]) => <span key={status} className={`status ${toneOf(status)}`}><StatusMark status={status} />{count.toLocaleString("en")}<span className="hidden"> {status}</span></span>)}
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
        {summary === undefined || summary.turns === 0 ? null : <span className="block-kind cut" title={turns(summary)}>{turns(summary)}</span>}
        {failed === undefined ? null : <button type="button" className="jump inline nodrag" title={`Open ${failed}`} onClick={(event) => { event.stopPropagation(); choose(block.tail, failed); }}>first failure</button>}
      </div>
      {portsOf(block).map(({ exit, y }) => <Handle key={exit} id={exit} type="source" position={Position.Right} className="unused" isConnectable={false} style={{ top: y }} />)}
    </div>
  );
});

/** `5,000 turns: 4,999 completed, 1 failed`. */
export function turns(summary: NodeSummary): string {
  const whole = `${summary.turns.toLocaleString("en")} ${summary.turns === 1 ? "turn" : "turns"}`;
  if ((summary.counts["running"] ?? 0) > 0 || summary.failed_turns > summary.turns) return whole;
  const good = summary.turns - summary.failed_turns;
  return `${whole}: ${said({ completed: good, failed: summary.failed_turns })}`;
}
