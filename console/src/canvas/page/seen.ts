/** Components that are drawn again only for what they show of a look: a letter typed in a field is none of the canvas. */
import { memo, type FunctionComponent, type NamedExoticComponent } from "react";
import type { Look } from "../desk.ts";

/**
 * The component, drawn again when a property is another one, or a part of the look. `unseen` are parts that it does not show; of the
 * draft it may know only whether it can be edited.
 */
export function seeing<P extends { readonly look: Look }>(component: FunctionComponent<P>, unseen: readonly (keyof Look)[] = []): NamedExoticComponent<P> {
  return memo(component, ({ look: before, ...former }, { look: after, ...next }) => sameFields(former, next) && looksAlike(before, after, unseen));
}

export function looksAlike(before: Look, after: Look, unseen: readonly (keyof Look)[]): boolean {
  if (before === after) return true;
  const names = Object.keys(after) as (keyof Look)[];
  return before.draft.canEdit === after.draft.canEdit && names.every((name) => name === "draft" || before[name] === after[name] || unseen.includes(name));
}

function sameFields(left: object, right: object): boolean {
  const others = new Map<string, unknown>(Object.entries(right));
  const fields = Object.entries(left);
  return fields.length === others.size && fields.every(([name, value]) => others.get(name) === value);
}
