/**
 * How large a block is drawn, and where its ports are. The canvas is given all of it, so that nothing has to be measured in the page;
 * `canvas.css` has the same numbers. All are multiples of 4 px.
 */
import { ERROR, SOURCE, type Block } from "./graph.ts";

export const WIDTH = 188;
export const HEIGHT = 56;
const HEADER = 44; // of a block with several exits, above their rows
const ROW = 20;
const FOOT = 8;
export const FRAME_HEAD = 40;
export const FRAME_PAD = 20;
export const FRAME_HEIGHT = 96; // of a container without blocks

export interface Port {
  readonly exit: string;
  readonly y: number;
}

/** Whether each exit has a row with its name: not where the only one is that of success. */
export function hasRows(block: Block): boolean {
  return !block.container && block.exits.some((exit) => exit !== SOURCE && exit !== ERROR);
}

/** Of a block without a body. A container is as large as what it holds: see `layout`. */
export function heightOf(block: Block): number {
  return hasRows(block) ? HEADER + ROW * block.exits.length + FOOT : HEIGHT;
}

/** Where edges come in, from the top of the block. */
export function entryOf(block: Block): number {
  return block.container ? FRAME_HEAD / 2 : hasRows(block) ? 22 : HEIGHT / 2;
}

/** Where edges leave, in the order of the exits. */
export function portsOf(block: Block): Port[] {
  if (hasRows(block)) return block.exits.map((exit, row) => ({ exit, y: HEADER + ROW * row + ROW / 2 }));
  const middle = entryOf(block);
  return block.exits.map((exit) => ({ exit, y: exit === ERROR ? middle + 20 : middle }));
}
