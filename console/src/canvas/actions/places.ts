/** Where what is added stands: in its body's order, and on the canvas. */
import type { Entity } from "../../editing/log/effects.ts";
import { between, isOrder, spread } from "../../editing/values/orders.ts";
import { childrenOf, type State } from "../../editing/state.ts";
import { MAX_ORDER_CHARACTERS } from "../../editing/tables.ts";
import { byText, object, type Json } from "../../editing/values/values.ts";

export function placeOf(x: number, y: number): Entity {
  return object([["x", Math.round(x)], ["y", Math.round(y)]]);
}

/** An order behind all blocks of a body. */
export function lastOrder(state: State, parent: Json): string {
  return behind(state.found(childrenOf(parent)).map((key) => state.get(key)));
}

/** An order behind all of these. */
export function behind(entities: readonly (Entity | undefined)[]): string {
  const orders = entities.map((entity) => entity?.get("order")).filter(isOrder).sort(byText);
  const order = between(orders.at(-1) ?? null, null);
  return order.length <= MAX_ORDER_CHARACTERS ? order : (spread(1)[0] ?? "V");
}
