/** The workflows by which a page filters, or to which it leads. */
import { useEffect, useState } from "react";
import { requestPlain } from "../wire/api.ts";

/** The ids of the workflows; none until they are read, nor where they cannot be had: the page is of use without them. */
export function useWorkflows(): readonly string[] {
  const [ids, setIds] = useState<readonly string[]>([]);
  useEffect(() => {
    let left = false;
    requestPlain("GET", "/workflows?limit=1000").then((answer) => {
      if (!left) setIds((answer as { readonly workflows: readonly { readonly id: string }[] }).workflows.map(({ id }) => id));
    }, () => undefined);
    return () => { left = true; };
  }, []);
  return ids;
}
