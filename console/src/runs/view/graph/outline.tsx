/** The nodes of a run as a list, a body below its container: what a phone shows in place of the graph. */
import { useMemo, type ReactElement } from "react";
import type { Block, Graph } from "../../../canvas/model/graph.ts";
import { counted, lasting } from "../../../ui/words/formats.ts";
import { Icon, markOf } from "../../../ui/icons.tsx";
import { Status } from "../../../ui/status.tsx";
import { useRows } from "../../virtual.ts";
import { loudest, said, spanOf, turnsSaid } from "../../../runstate/counts.ts";
import type { NodeSummary } from "../../../runstate/types.ts";

const ROW = 44;
const MAX_INDENT = 4;

interface Line {
  readonly block: Block;
  readonly depth: number;
}

export function RunOutline({ graph, nodes, chosen, onChoose }: { readonly graph: Graph; readonly nodes: ReadonlyMap<string, NodeSummary>; readonly chosen: string; readonly onChoose: (path: string) => void }): ReactElement {
  const lines = useMemo(() => linesOf(graph), [graph]);
  const { box, from, to } = useRows(lines.length, ROW);
  return (
    <div className="run-outline" ref={box} tabIndex={0} role="group" aria-label={`Outline of ${lines.length} nodes`}>
      <ul className="timeline-space" style={{ height: lines.length * ROW }}>
        {lines.slice(from, to).map(({ block, depth }, place) => {
          const summary = nodes.get(block.tail);
          return (
            <li key={block.tail} style={{ transform: `translateY(${(from + place) * ROW}px)` }}>
              <button type="button" className={block.tail === chosen ? "chosen" : ""} aria-pressed={block.tail === chosen} style={{ paddingLeft: 16 + Math.min(depth, MAX_INDENT) * 16 }} onClick={() => { onChoose(block.tail); }}>
                <Icon mark={markOf(block.type)} /><b className="cut">{block.id}</b><span className="head-gap" />
                {summary === undefined ? <span className="quiet">{nodes.size === 0 ? block.type : "not started"}</span> : <><Status status={summary.failed_turns > 0 ? "failed" : loudest(summary.counts)}>{summary.failed_turns > 0 ? failedOf(summary) : summary.turns > 0 ? turnsSaid(summary) : said(summary.counts)}</Status><span className="number quiet">{tookOf(summary)}</span></>}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** In a narrow line the failures alone: the rest would be what is cut off. */
function failedOf({ failed_turns, turns }: NodeSummary): string {
  return `${failed_turns.toLocaleString("en")} of ${counted(turns, "iteration")} failed`;
}

function tookOf(summary: NodeSummary): string {
  const span = spanOf(summary);
  return span === null ? "" : lasting(span);
}

function linesOf(graph: Graph): readonly Line[] {
  const lines: Line[] = [];
  const add = (parent: string | null, depth: number): void => {
    for (const tail of graph.children.get(parent) ?? []) {
      const block = graph.blocks.get(tail);
      if (block === undefined) continue;
      lines.push({ block, depth });
      add(tail, depth + 1);
    }
  };
  add(null, 0);
  return lines;
}
