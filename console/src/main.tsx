/** The console: one page each for the runs, a run, approvals, errors, the workflows and a draft. */
import "./ui/tokens.css";
import "./ui/base.css";
import "./pages/drafts.css";
import { Component, lazy, StrictMode, Suspense, useEffect, useState, type ComponentType, type ReactElement, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { follow, hrefOf, useAddress, WORKFLOWS } from "./ui/addresses.ts";
import { Bar } from "./ui/bar.tsx";
import { Failed, Said } from "./ui/notices.tsx";
import { restoreTheme } from "./ui/theme.ts";
import { Joining } from "./pages/joining.tsx";
import { SignIn } from "./pages/sign_in.tsx";
import { onSignedOut, signIn, takeCode, takeToken } from "./wire/api.ts";
import { renewNow, takeAnswer } from "./wire/identity.ts";

const Runs = lazy(() => import("./runs/list/page.tsx").then((script) => ({ default: script.Runs })));
const RunPage = lazy(() => import("./runs/view/page.tsx"));
const VersionPage = lazy(() => import("./versions/page.tsx"));
const Approvals = lazy(() => import("./inbox/approvals.tsx"));
const Workflows = lazy(() => import("./workflows/list.tsx"));
const WorkflowPage = lazy(() => import("./workflows/page.tsx"));
const Errors = lazy(() => import("./inbox/errors.tsx"));

type Editor = ComponentType<{ readonly id: string }>;

let loaded: Editor | null = null;

/** The editor once its script is here. React's own way shows what follows a fallback 300 ms later than it could. */
function Opening({ id }: { readonly id: string }): ReactElement {
  const [Shown, show] = useState<Editor | null>(() => loaded);
  useEffect(() => {
    if (loaded !== null) return;
    import("./canvas/editor.tsx").then((script) => {
      loaded = script.default;
      show(() => script.default);
    }, (error: unknown) => { show(() => { throw error; }); }); // to the guard
  }, []);
  return Shown === null ? <div className="editor opening" /> : <Shown id={id} />;
}

function OfWorkflows({ id, tab }: { readonly id: string; readonly tab: string }): ReactElement {
  return id === "" ? <Workflows /> : <WorkflowPage key={id} id={id} tab={tab} />;
}

/** `/workflows/refund/versions/3`. */
function versionIn(path: string): { readonly workflow: string; readonly number: number } | null {
  const found = /^\/workflows\/([^/]+)\/versions\/([1-9]\d{0,9})$/.exec(path);
  return found === null ? null : { workflow: decodeURIComponent(found[1] ?? ""), number: Number(found[2]) };
}

function Page(): ReactElement {
  const { path } = useAddress();
  const [, first = "", id = "", tab = ""] = path.split("/");
  const version = versionIn(path);
  if (first === "" || (first === "runs" && id === "")) return <Suspense fallback={<div className="page whole"><Bar at="runs" /></div>}><Runs /></Suspense>;
  if (version !== null) return <Suspense fallback={<div className="page whole"><Bar at="workflows" /></div>}><VersionPage key={path} {...version} /></Suspense>;
  if (first === "workflows" || (first === "drafts" && id === "")) return <Suspense fallback={<div className="page"><Bar at="workflows" /></div>}><OfWorkflows id={decodeURIComponent(id)} tab={tab} /></Suspense>;
  if (id === "") return <List name={first} />;
  if (first === "runs") {
    const name = decodeURIComponent(id);
    return <Suspense fallback={<div className="page whole"><Bar at="runs" /></div>}><RunPage key={name} id={name} /></Suspense>;
  }
  if (first === "drafts") {
    const name = decodeURIComponent(id);
    return <Opening key={name} id={name} />;
  }
  return <Nowhere />;
}

function List({ name }: { readonly name: string }): ReactElement {
  if (name === "approvals") return <Suspense fallback={<div className="page"><Bar at="approvals" /></div>}><Approvals /></Suspense>;
  if (name === "errors") return <Suspense fallback={<div className="page"><Bar at="errors" /></div>}><Errors /></Suspense>;
  return <Nowhere />;
}

function Nowhere(): ReactElement {
  return <div className="page"><Bar at={null} /><Said title="There is no page at this address."><p className="quiet">The address may be old, or cut off. <a href={hrefOf("/")} onClick={follow("/")}>All runs</a> and <a href={hrefOf(WORKFLOWS)} onClick={follow(WORKFLOWS)}>all workflows</a> are listed.</p></Said></div>;
}

/** Shows an error of the page instead of nothing. */
class Guard extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    return this.state.error === null ? this.props.children : <Failed what="The page has stopped." error={this.state.error} again={() => { location.reload(); }} />;
  }
}

function show(page: ReactNode): void {
  root.render(<StrictMode><Guard>{page}</Guard></StrictMode>);
}

const place = document.getElementById("root");
if (place === null) throw new Error("the page has no place for the console");
const root = createRoot(place);
restoreTheme();
onSignedOut(() => {
  void renewNow().then((isRenewed) => { show(isRenewed ? <Page key={Date.now()} /> : <SignIn enter={() => { show(<Page />); }} />); });
});

function enter(code: string, name?: string): void {
  signIn(code, name).then(() => { show(<Page />); }, failed);
}

function failed(error: unknown): void {
  show(<Failed what="This tab is not signed in." error={error} again={() => { location.reload(); }} />);
}

takeToken();
const given = takeCode();
if (given === null) takeAnswer().then(() => { show(<Page />); }, failed);
else if (given.invited) show(<Joining join={(name) => { enter(given.code, name); }} />);
else enter(given.code);
