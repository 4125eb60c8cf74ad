/** Where a key was pressed. */

export function isWithin({ target }: KeyboardEvent, places: string): boolean {
  return target instanceof HTMLElement && target.closest(places) !== null;
}

/** Whether the key belongs to a field or to a dialog, and so not to the page. A box that is ticked takes only the space bar. */
export function isTyped(event: KeyboardEvent): boolean {
  return isWithin(event, "input:not([type=checkbox]), select, textarea, dialog");
}
