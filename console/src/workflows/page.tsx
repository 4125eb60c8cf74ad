/** A workflow's own page: its health, its versions, a start, its schedules and its webhooks, each at an address. */
import "./list.css";
import "./page.css";
import { useEffect, useState, type ReactElement } from "react";
import { draftPath, follow, hrefOf, useAddress, workflowPath, WORKFLOWS } from "../ui/addresses.ts";
import { Bar } from "../ui/bar/bar.tsx";
import { CopyButton } from "../ui/copying.tsx";
import { hasDrafts } from "../ui/drafts.ts";
import { Icon } from "../ui/icons.tsx";
import { nameOf } from "../wire/names.ts";
import { Bones, Failed, Said } from "../ui/loading/notices.tsx";
import { When } from "../ui/words/times.tsx";
import { Refusal, requestPlain, requestText } from "../wire/api.ts";
import type { DocumentOut, DraftsOut } from "../wire/contract.ts";
import { plainOf } from "../wire/plain.ts";
import { entriesOf, hooksOf, messagesOf } from "./document.ts";
import type { DraftHead } from "./health.ts";
import { OpenDraft } from "./opening.tsx";
import { Messages } from "./messages.tsx";
import { Overview } from "./overview.tsx";
import { Schedules } from "./schedules.tsx";
import { Start } from "./start.tsx";
import { Versions } from "./versions.tsx";
import { Webhooks } from "./webhooks.tsx";

export type Published = Pick<DocumentOut, "id" | "name" | "version" | "published_at" | "document">;

interface Found {
  readonly published: Published | null; // null: there is only a draft
  readonly draft: DraftHead | null;
}

const TABS = [["", "Overview"], ["versions", "Versions"], ["start", "Start"], ["schedules", "Schedules"], ["webhooks", "Webhooks"], ["messages", "Messages"]] as const;

async function read(id: string, signal: AbortSignal): Promise<Found> {
  const drafts = hasDrafts().then(async (has) => has ? (await requestPlain("GET", "/drafts?limit=1000", undefined, signal) as DraftsOut).drafts : []);
  const published = requestText(`/workflows/${encodeURIComponent(id)}`, signal).then((made) => plainOf(made) as Published, (error: unknown) => {
    if (error instanceof Refusal && error.code === "unknown_workflow") return error;
    throw error;
  });
  const [open, made] = await Promise.all([drafts, published]);
  const draft = open.find((one) => one.workflow === id) ?? null;
  if (!(made instanceof Refusal)) return { published: made, draft };
  if (draft === null) throw made;
  return { published: null, draft };
}

export default function WorkflowPage({ id, tab }: { readonly id: string; readonly tab: string }): ReactElement {
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    read(id, leaving.signal).then((made) => { setFound(made); setError(null); }, (failed: unknown) => { if (!leaving.signal.aborted) setError(failed); });
    return () => { leaving.abort(); };
  }, [id, attempt]);
  const shown = TABS.find(([path]) => path === tab);
  useEffect(() => { document.title = `${found?.published?.name ?? id}${shown === undefined || shown[0] === "" ? "" : ` · ${shown[1]}`} · Stepless`; }, [found, id, shown]);
  return (
    <div className="page">
      <Bar at="workflows" />
      {error !== null ? <Failed what={`Could not load the workflow ${id}.`} error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />
        : found === null ? <main className="workflow"><Bones lines={9} label="The workflow is loading" /></main>
          : found.published === null ? <Unpublished id={id} draft={found.draft} />
            : (
              <main className="workflow">
                <Head published={found.published} draft={found.draft} tab={tab} />
                {shown === undefined ? <Said title="Page not found."><p><a href={hrefOf(workflowPath(id))} onClick={follow(workflowPath(id))}>{found.published.name}</a></p></Said> : <Tab found={found.published} draft={found.draft} tab={tab} />}
              </main>
            )}
    </div>
  );
}

function Tab({ found, draft, tab }: { readonly found: Published; readonly draft: DraftHead | null; readonly tab: string }): ReactElement {
  switch (tab) {
    case "versions": return <Versions workflow={found.id} newest={found.version} draft={draft} />;
    case "start": return <Start workflow={found.id} entries={entriesOf(found.document)} />;
    case "schedules": return <Schedules workflow={found.id} />;
    case "webhooks": return <Webhooks workflow={found.id} hooks={hooksOf(found.document)} />;
    case "messages": return <Messages workflow={found.id} document={found.document} />;
    default: return <Overview workflow={found.id} />;
  }
}

function Head({ published, draft, tab }: { readonly published: Published; readonly draft: DraftHead | null; readonly tab: string }): ReactElement {
  const { id, name, version } = published;
  const counts: Readonly<Record<string, number>> = { schedules: entriesOf(published.document).filter(({ kind }) => kind === "schedule").length, webhooks: hooksOf(published.document).length, messages: messagesOf(published.document).length };
  const [edit, start] = [draftPath(id), workflowPath(id, "start")];
  return (
    <>
      <nav className="workflow-way" aria-label="Breadcrumb"><a href={hrefOf(WORKFLOWS)} onClick={follow(WORKFLOWS)}><Icon mark="back" size={14} />Workflows</a></nav>
      <div className="workflow-head">
        <div>
          <h1>{name}</h1>
          <p className="quiet"><code>{id}</code><CopyButton text={id} what="the id" /> v{version}, published <When at={published.published_at} /></p>
          {draft === null ? null : <p className="quiet">Draft by {nameOf(draft.created_by) || "someone"}, opened <When at={draft.created_at} /></p>}
        </div>
        <div className="workflow-do">
          {draft === null ? <OpenDraft workflow={id} version={version} draft={null}>Open a draft</OpenDraft> : <a className="button" href={hrefOf(edit)} onClick={follow(edit)}>Edit the draft</a>}
          {tab === "start" ? null : <a className="button first" href={hrefOf(start)} onClick={follow(start)}>Start a run</a>}
        </div>
      </div>
      <nav className="workflow-tabs" aria-label={name}>
        {TABS.map(([path, said]) => {
          const to = workflowPath(id, path);
          return <a key={path} href={hrefOf(to)} onClick={follow(to)} aria-current={path === tab ? "page" : undefined} ref={path === tab ? seen : undefined}><span className="steady" data-name={said}>{said}</span>{(counts[path] ?? 0) > 0 ? <span className="bar-count">{counts[path]}</span> : null}</a>;
        })}
      </nav>
    </>
  );
}

/** On a phone the tabs are wider than the page: the one that is open is seen. */
function seen(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function Unpublished({ id, draft }: { readonly id: string; readonly draft: DraftHead | null }): ReactElement {
  const { path } = useAddress();
  const edit = draftPath(id);
  return (
    <Said title={`${id} is not published yet.`}>
      <p>{draft === null ? null : <>{nameOf(draft.created_by) || "Someone"} opened a draft of it <When at={draft.created_at} />. </>}Once a version is published, its runs, schedules and webhooks are at this address: <code>{path}</code>.</p>
      <a className="button" href={hrefOf(edit)} onClick={follow(edit)}>Edit the draft</a>
    </Said>
  );
}
