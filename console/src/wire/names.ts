/** How a caller is shown. The server names callers as `local ada`, `key k_1 deployer`, `jwt 8f3a ada@example.com`. */

const PARTS: Readonly<Record<string, number>> = { local: 1, key: 2, jwt: 2 };

/** The name of a person or a key alone; the whole text where it has no such part. The key of a server's configuration has a hash. */
export function nameOf(caller: string): string {
  if (caller.startsWith("configured key ")) return "configured key";
  const words = caller.split(" ");
  const rest = words.slice(PARTS[words[0] ?? ""] ?? 0).join(" ");
  return rest === "" ? caller : rest;
}

/** Whether a name is an id in words: `Split invoices` is `split-invoices`, `Order id` is `order_id`. */
export function saysId(name: string, id: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return plain(name) === plain(id);
}
