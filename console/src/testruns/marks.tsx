/** Marks a block with its test run and its pin. Each block draws itself again, and no other. */
import { createContext, useContext, useSyncExternalStore, type ReactElement } from "react";
import type { Desk } from "../canvas/desk.ts";
import type { Block } from "../canvas/model/graph.ts";
import { FITS, lineOf } from "../canvas/view/cheap.ts";
import type { NodeSummary } from "../runstate/types.ts";
import { loudest, said, total } from "../runstate/counts.ts";
import { lasting } from "../ui/words/formats.ts";
import { Icon } from "../ui/icons.tsx";
import { StatusMark, toneOf } from "../ui/status.tsx";
import type { TestRuns } from "./store.ts";

export interface Testing {
  readonly desk: Desk;
  readonly tests: TestRuns;
}

export const TestingContext = createContext<Testing | null>(null);

const still = (): (() => void) => () => undefined;

/** The kind of a block; while a test run is shown, how the block stands in it. */
export function KindLine({ block }: { readonly block: Block }): ReactElement {
  const testing = useContext(TestingContext);
  const summary = useSyncExternalStore(testing?.tests.subscribe ?? still, () => testing?.tests.of(block.tail));
  if (summary === undefined) {
    const kind = `${block.type}${block.enabled ? "" : " · disabled"}`;
    return <span className={`block-kind ${lineOf(kind, FITS)}`}>{kind}</span>;
  }
  const status = loudest(summary.counts);
  const words = about(summary);
  return <span className={`block-kind cut status ${toneOf(status)}`} data-status={status} title={`${block.type}: ${words}`}><StatusMark status={status} /><span className="cut">{words}</span></span>;
}

export function about(summary: NodeSummary): string {
  const took = total(summary.counts) === 1 && summary.begin_ms !== null && summary.end_ms !== null ? ` ${lasting(summary.end_ms - summary.begin_ms)}` : "";
  return `${said(summary.counts)}${took}`;
}

export function PinMark({ tail }: { readonly tail: string }): ReactElement | null {
  const testing = useContext(TestingContext);
  const isPinned = useSyncExternalStore(testing?.desk.subscribe ?? still, () => testing?.desk.view.has(`pin/${tail}`) ?? false);
  return isPinned ? <span className="block-pin" title="Pinned output: test runs use it"><Icon mark="pin" size={14} /><span className="hidden">pinned</span></span> : null;
}
