/** The page of one run. What is shown stands in the address: the tab, the node, the instance, the event, the range of time. */
import "./view.css";
import { useCallback, useEffect, useState, useSyncExternalStore, type ReactElement } from "react";
import { messagesOf } from "../../messages/receivable.ts";
import { follow, go, hrefOf, runPath, useAddress } from "../../ui/addresses.ts";
import { Bar } from "../../ui/bar/bar.tsx";
import { JsonView } from "../../ui/json.tsx";
import { Bones, Failed, Fault, Stale } from "../../ui/loading/notices.tsx";
import { dialog } from "../../ui/loading/part.tsx";
import { inOwnZone } from "../../ui/words/instants.ts";
import { isTyped } from "../../ui/picking/presses.ts";
import { useSmall } from "../../ui/theme/switching.ts";
import { readTallies } from "../../wire/tallies.ts";
import { FAILED, Asking, type Question } from "./asking.tsx";
import { pathOf } from "../../runstate/counts.ts";
import { Events, type EventFilter } from "./events.tsx";
import { RunGraph } from "./graph/graph.tsx";
import { Header } from "./header.tsx";
import { Mailbox } from "./mailbox/mailbox.tsx";
import { Compare, Cost } from "./others.tsx";
import { RunOutline } from "./graph/outline.tsx";
import { Panel, useFirst } from "./node/panel.tsx";
import { isGone, RunStore, type RunLook } from "../../runstate/store.ts";
import { Timeline } from "./timeline/timeline.tsx";
import { RunValue } from "./value.tsx";
import { nextBegun } from "./graph/walking.ts";
import { isUnsuccessful } from "../../wire/statuses.ts";
import { NODE_STATUSES } from "../../wire/tables/statuses.ts";

const SendMessage = dialog(async () => (await import("../../messages/dialog.tsx")).default);
const TABS = [["graph", "Graph"], ["timeline", "Timeline"], ["messages", "Messages"], ["events", "Events"], ["values", "Values"], ["cost", "Cost"], ["compare", "Compare"]] as const;

export default function RunPage({ id }: { readonly id: string }): ReactElement {
  const [store] = useState(() => new RunStore(id));
  useEffect(() => {
    store.open();
    return () => { store.close(); };
  }, [store]);
  const look = useSyncExternalStore(store.subscribe, store.snapshot);
  const [question, setQuestion] = useState<Question | null>(null);
  useEffect(() => { document.title = look.head === null ? "Run · Stepless" : `${inOwnZone(look.head.summary)} · ${look.head.workflow} · Stepless`; }, [look.head]);
  const status = look.head?.status;
  useEffect(() => { if (status !== undefined) readTallies(); }, [status]); // a question was asked or answered, or the run failed
  if (look.head === null) {
    return <div className="page whole"><Bar at="runs" />{look.error === null ? <Bones lines={10} label="The run is loading" /> : <Failed what={`Could not load the run ${id}.`} error={look.error} {...(isGone(look.error) ? {} : { again: () => { store.open(); } })}><a className="button" href={hrefOf("/")} onClick={follow("/")}>All runs</a></Failed>}</div>;
  }
  const roots = look.graph?.children.get(null) ?? [];
  return (
    <div className="page whole">
      <Bar at="runs" />
      <main className="run">
        <Header id={id} look={look} head={look.head} onAsk={setQuestion} />
        <Views id={id} look={look} store={store} onAsk={setQuestion} onRerun={(from) => { setQuestion({ is: "rerun", from: from === FAILED ? `node:${from}` : from }); }} />
      </main>
      {question === null ? null : question.is === "send" ? <SendMessage to={{ run: id }} messages={messagesOf(look)} name={question.name} close={() => { setQuestion(null); }} onSent={() => { store.again(); }} />
        : <Asking id={id} question={question} inputs={look.values?.get("inputs") ?? null} nodes={roots} unsuccessful={isUnsuccessful(look.head.status)} onDone={(changed) => { setQuestion(null); if (changed) store.again(); }} />}
    </div>
  );
}

/** Whether the page is as wide as a phone, where a graph is too small to read. */
function narrow(): boolean {
  return window.matchMedia("(max-width: 640px)").matches;
}

type Change = Readonly<Record<string, string | number | null>>;

function Views({ id, look, store, onAsk, onRerun }: { readonly id: string; readonly look: RunLook; readonly store: RunStore; readonly onAsk: (question: Question) => void; readonly onRerun: (node: string) => void }): ReactElement {
  const { query } = useAddress();
  const text = query.toString();
  const tab = query.get("tab") ?? (narrow() ? "timeline" : "graph");
  const put = useCallback((change: Change) => {
    const next = new URLSearchParams(text);
    if ("node" in change || "instance" in change) next.delete("attempt"); // that of the instance before
    for (const [name, value] of Object.entries(change)) {
      if (value === null || value === "") next.delete(name);
      else next.set(name, String(value));
    }
    const made = next.toString();
    go(`${runPath(id)}${made === "" ? "" : `?${made}`}`);
  }, [id, text]);
  const choose = useCallback((path: string, instance = "") => { put({ node: path, instance }); }, [put]);
  const named = query.get("instance") ?? "";
  const path = named === "" ? query.get("node") ?? "" : pathOf(named);
  const first = useFirst(id, named === "" ? path : "", look);
  useRunKeys(look, path, put);
  return (
    <>
      <div className="run-tabs" role="tablist" aria-label="Views">
        {TABS.filter(([one]) => one !== "messages" || (look.head?.messages ?? []).length > 0).map(([one, name]) => (
          <button key={one} type="button" role="tab" id={`tab-${one}`} aria-selected={one === tab} aria-controls="run-view" onClick={() => { put({ tab: one }); }}><span className="steady" data-name={name}>{name}</span></button>
        ))}
      </div>
      {look.error === null ? null : <Stale error={look.error} at={look.at} {...(isGone(look.error) ? {} : { again: store.retry })} />}
      <div className="run-body">
        <div id="run-view" className="run-view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          <View id={id} look={look} store={store} tab={tab} query={query} path={path} put={put} choose={choose} onAsk={onAsk} />
        </div>
        {path === "" ? null : (
          <Panel id={id} look={look} path={path} instance={named === "" ? first : named} beside={query.get("with") ?? ""} onInstance={(instance) => { put({ instance, node: null }); }}
            onEvent={(event) => { put({ tab: "events", event }); }} onRerun={onRerun} onTimeline={(node) => { put({ tab: "timeline", node, instance: null, only: node }); }} onClose={() => { put({ node: null, instance: null }); }} />
        )}
      </div>
    </>
  );
}

/** `[` and `]` go previous, next node by start time, Escape closes the panel. */
function useRunKeys({ nodes }: RunLook, path: string, put: (change: Change) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || document.querySelector("dialog[open]") !== null) return;
      if (event.key === "Escape") {
        if (path !== "") put({ node: null, instance: null });
      } else if ((event.key === "[" || event.key === "]") && !isTyped(event)) {
        const next = nextBegun(nodes.values(), path, event.key === "]" ? 1 : -1);
        if (next !== null) put({ node: next, instance: null });
      }
    };
    window.addEventListener("keydown", press);
    return () => { window.removeEventListener("keydown", press); };
  }, [nodes, path, put]);
}

function View({ id, look, store, tab, query, path, put, choose, onAsk }: {
  readonly id: string; readonly look: RunLook; readonly store: RunStore; readonly tab: string; readonly query: URLSearchParams; readonly path: string;
  readonly put: (change: Change) => void; readonly choose: (path: string, instance?: string) => void; readonly onAsk: (question: Question) => void;
}): ReactElement {
  switch (tab) {
    case "timeline":
      return <Timeline id={id} look={look} node={query.get("only") ?? ""} status={statusIn(query)} from={numberIn(query, "from")} to={numberIn(query, "to")} chosen={query.get("instance") ?? path}
        onChoose={(instance) => { put({ instance, node: null }); }} onStatus={(status) => { put({ status }); }} onRange={(from, to) => { put({ from, to }); }} />;
    case "events": {
      const filter: EventFilter = { text: query.get("text") ?? "", type: query.get("type") ?? "", instance: query.get("of") ?? "" };
      return <Events id={id} began={look.began} sequence={look.sequence} event={numberIn(query, "event") ?? 0} filter={filter} onEvent={(event) => { put({ event }); }}
        onFilter={(next) => { put({ text: next.text, type: next.type, of: next.instance }); }} onInstance={(instance) => { put({ instance, node: null }); }} />;
    }
    case "messages":
      return look.head === null ? <Bones label="The messages are loading" /> : <Mailbox id={id} look={look} head={look.head} onSend={(name) => { onAsk({ is: "send", name }); }} onInstance={(instance) => { put({ instance, node: null }); }} />;
    case "values":
      return <Values id={id} look={look} />;
    case "cost":
      return <Cost id={id} sequence={look.sequence} />;
    case "compare":
      return <Compare id={id} look={look} other={query.get("with") ?? ""} all={query.get("show") === "all"} onAll={(all) => { put({ show: all ? "all" : null }); }} onOther={(other) => { put({ with: other }); }} onNode={(node) => { put({ node, instance: null }); }} />;
    default:
      return <Nodes look={look} store={store} path={path} choose={choose} />;
  }
}

/** The graph, or on a phone its outline. */
function Nodes({ look, store, path, choose }: { readonly look: RunLook; readonly store: RunStore; readonly path: string; readonly choose: (path: string, instance?: string) => void }): ReactElement {
  const isSmall = useSmall();
  if (look.graph === null) return look.graphFault === null ? <Bones lines={6} label="The graph is loading" /> : <div className="graph-fault"><Fault error={look.graphFault} again={store.retryGraph}> Could not load the graph. The timeline and the events are available.</Fault></div>;
  return isSmall ? <RunOutline graph={look.graph} nodes={look.nodes} chosen={path} onChoose={choose} /> : <RunGraph graph={look.graph} nodes={look.nodes} chosen={path} onChoose={choose} />;
}

function Values({ id, look: { values, head, ended } }: { readonly id: string; readonly look: RunLook }): ReactElement {
  if (values === null) return <Bones label="The values are loading" />;
  const stack = head?.exception?.traceback ?? "";
  return (
    <div className="scrolled values">
      {head === null || head.error === null ? null : <RunValue run={id} value={values.get("error") ?? null} label="Error" />}
      {stack === "" ? null : <pre tabIndex={0}>{stack}</pre>}
      <RunValue run={id} value={values.get("inputs") ?? null} label="Inputs" />
      {ended ? <RunValue run={id} value={values.get("outputs") ?? null} label="Outputs" /> : null}
      <RunValue run={id} value={values.get("variables") ?? null} label="Variables" />
      <JsonView value={values.get("usage") ?? null} label="Usage" />
    </div>
  );
}

/** The status by which the timeline is filtered; empty where the address has none that there is. */
function statusIn(query: URLSearchParams): string {
  return NODE_STATUSES.find((one) => one === query.get("status")) ?? "";
}

/** A whole number of the address; null where there is none. */
export function numberIn(query: URLSearchParams, name: string): number | null {
  const text = query.get(name) ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

