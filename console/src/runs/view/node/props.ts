/** Defines the properties and the callbacks of the panel of a node. */
import type { RunLook } from "../../../runstate/store.ts";

export interface PanelProps {
  readonly id: string;
  readonly look: RunLook;
  readonly path: string;
  readonly instance: string;
  readonly beside: string; // a run to compare with
  readonly onInstance: (instance: string) => void;
  readonly onEvent: (event: number) => void;
  readonly onRerun: (node: string) => void;
  readonly onTimeline: (path: string) => void;
  readonly onClose: () => void;
}
