/** Lists in a map. */

/** Adds a value to the list that is held under a key. */
export function gather<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const held = lists.get(key);
  if (held === undefined) lists.set(key, [value]);
  else held.push(value);
}
