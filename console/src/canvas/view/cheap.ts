/**
 * Keeps a frame of a canvas with hundreds of blocks cheap. The page composes each part that it clips by itself, and looks for what
 * lies under the pointer at each of its moves: both took more of a frame than the script.
 */

const MOVES = "is-moving";

/** While the pointer moves the view, or blocks, the pane lies over all: the page asks no block whether the pointer is at it. */
export function cover(box: Element | null, moves: boolean): void {
  box?.classList.toggle(MOVES, moves);
}

/** Whether the view is moved by a pointer that is held: not by a wheel, and not by the page. */
export function isHeld(event: unknown): boolean {
  return event instanceof Event && (event.type === "mousemove" || event.type === "touchmove");
}

/** The class of a text in a line: it is cut off, and so clipped, only where it may not fit, by the widest letters. */
export function lineOf(text: string, fits: number): string {
  return text.length > fits ? "cut" : "line";
}

/** How many letters of a name, and of the line below it, always fit on a block; fewer next to a mark. */
export const FITS = 11;
export const FITS_BESIDE = 8;
