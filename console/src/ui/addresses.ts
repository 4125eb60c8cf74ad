/** The address of the page, as an external store: each page and each view has one, and Back works. */
import { useSyncExternalStore } from "react";

export const BASE = "/console";

const listeners = new Set<() => void>();
const changed = (): void => {
  for (const listener of listeners) listener();
};

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener("popstate", changed);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("popstate", changed);
  };
}

/** Path below the base, and the query. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
}

export function useAddress(): Address {
  const href = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const [path = "", query = ""] = href.split("?");
  return { path: path.startsWith(BASE) ? path.slice(BASE.length) : path, query: new URLSearchParams(query) };
}

/** `replace`: Back does not come by this one. */
export function go(path: string, replace = false): void {
  const href = BASE + path;
  if (href === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  changed();
}

export function hrefOf(path: string): string {
  return BASE + path;
}

/** For a link of this app: left click without a modifier stays in the page. */
export function follow(path: string): (event: React.MouseEvent) => void {
  return (event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(path);
  };
}

export const WORKFLOWS = "/workflows";
export const APPROVALS = "/approvals";
export const ERRORS = "/errors";

export function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

export function draftPath(id: string): string {
  return `/drafts/${encodeURIComponent(id)}`;
}

export function workflowPath(id: string, tab = ""): string {
  return `/workflows/${encodeURIComponent(id)}${tab === "" ? "" : `/${tab}`}`;
}

export function versionPath(workflow: string, version: number): string {
  return `/workflows/${encodeURIComponent(workflow)}/versions/${version}`;
}
