/** The node in the address of the page: what is selected stands there, and what stands there is selected. */
import { useEffect, useRef } from "react";
import { draftPath, go, useAddress } from "../ui/addresses.ts";
import type { Desk, Look } from "./desk.ts";
import { blockInAddress, nameInAddress, queryWithNode } from "./linking.ts";

const PAUSE_MS = 200; // browsers refuse more than some changes of the address in a second

export function useNodeInAddress(desk: Desk, look: Look, draft: string): void {
  const { query } = useAddress();
  const named = query.get("node");
  const name = nameInAddress(look.graph, desk.current ?? "");
  const known = useRef<string | null>(null); // of the address, as this hook has read or written it
  const former = useRef(name);
  useEffect(() => {
    if (named === null || named === known.current) return;
    known.current = named;
    const tail = blockInAddress(desk.snapshot().graph, named);
    if (tail === null) desk.remark(`There is no node ${named} in this draft.`);
    else desk.select([tail], true);
  }, [desk, named]);
  useEffect(() => {
    if (former.current === name) return;
    former.current = name;
    const timer = setTimeout(() => {
      if (known.current === name) return;
      known.current = name;
      go(`${draftPath(draft)}${queryWithNode(location.search, name)}`, true);
    }, PAUSE_MS);
    return () => { clearTimeout(timer); };
  }, [draft, name]);
}
