/** Whether this server has drafts. A deployment without them has the pages of runs, and nothing there leads to a draft. */
import { useEffect, useState } from "react";
import { settings } from "../wire/settings.ts";

let known: boolean | null = null;

/** A server that cannot say it is taken to have drafts: what it answers about one says more. */
export async function hasDrafts(): Promise<boolean> {
  const found = await settings().catch(() => null);
  known = found === null ? known : found.drafts;
  return known ?? true;
}

export function useDrafts(): boolean {
  const [found, setFound] = useState(known ?? false);
  useEffect(() => { void hasDrafts().then(setFound); }, []);
  return found;
}
