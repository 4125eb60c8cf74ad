/** The console: one page each for the runs, a run, approvals, errors, the workflows and a draft. */
import "./ui/theme/tokens.css";
import "./ui/theme/base.css";
import "./pages/drafts.css";
import { StrictMode, Suspense, useEffect, useState, type ComponentType, type ReactElement, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { follow, hrefOf, useAddress, WORKFLOWS } from "./ui/addresses.ts";
import { Bar } from "./ui/bar/bar.tsx";
import { Failed, Said } from "./ui/loading/notices.tsx";
import { restoreTheme } from "./ui/theme/theme.ts";
import { Guard, page } from "./ui/loading/guard.tsx";
import { loaded } from "./ui/loading/loading.ts";
import { Joining } from "./pages/joining.tsx";
import { SignIn } from "./pages/sign_in.tsx";
import { explained, onSignedOut, Refusal, signIn, takeCode, takeToken } from "./wire/api.ts";
import { renewNow, takeAnswer } from "./wire/login/identity.ts";

const Runs = page(() => import("./runs/list/page.tsx"));
const RunPage = page(() => import("./runs/view/page.tsx"));
const VersionPage = page(() => import("./versions/page.tsx"));
const Approvals = page(() => import("./inbox/approvals.tsx"));
const Workflows = page(() => import("./workflows/list.tsx"));
const WorkflowPage = page(() => import("./workflows/page.tsx"));
const Errors = page(() => import("./inbox/errors.tsx"));

type Editor = ComponentType<{ readonly id: string }>;

let known: Editor | null = null;

/** The editor once its script is here. React's own way shows what follows a fallback 300 ms later than it could. */
function Opening({ id }: { readonly id: string }): ReactElement {
  const [Shown, show] = useState<Editor | null>(() => known);
  useEffect(() => {
    if (known !== null) return;
    loaded(import("./canvas/editor.tsx")).then((script) => {
      known = script.default;
      show(() => script.default);
    }, (error: unknown) => { show(() => { throw error; }); }); // to the guard
  }, []);
  return Shown === null ? <div className="editor opening" /> : <Shown id={id} />;
}

/** The parts of a path; null where one of them is no text. */
function partsOf(path: string): readonly string[] | null {
  try {
    return path.split("/").slice(1).map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

function Page(): ReactElement {
  const { path } = useAddress();
  return <Guard at={path} bar><Shown path={path} /></Guard>;
}

function Shown({ path }: { readonly path: string }): ReactElement {
  const parts = partsOf(path);
  return (parts === null ? null : pageOf(parts)) ?? <Nowhere />;
}

/** null: there is none. */
function pageOf([first = "", id = "", tab = "", ...rest]: readonly string[]): ReactElement | null {
  switch (first) {
    case "":
    case "runs":
      return tab === "" ? <OfRuns id={id} /> : null;
    case "workflows":
      return ofWorkflows(id, tab, rest);
    case "drafts":
      if (tab !== "") return null;
      return id === "" ? ofWorkflows("", "", []) : <Opening key={id} id={id} />;
    default:
      return id === "" ? <List name={first} /> : null;
  }
}

function OfRuns({ id }: { readonly id: string }): ReactElement {
  return <Suspense fallback={<div className="page whole"><Bar at="runs" /></div>}>{id === "" ? <Runs /> : <RunPage key={id} id={id} />}</Suspense>;
}

/** `/workflows/refund/versions/3` is the page of that version. */
function ofWorkflows(id: string, tab: string, [version = "", ...more]: readonly string[]): ReactElement | null {
  if (more.length > 0 || (version !== "" && (tab !== "versions" || !/^[1-9]\d{0,9}$/.test(version)))) return null;
  if (version === "") return <Suspense fallback={<div className="page"><Bar at="workflows" /></div>}>{id === "" ? <Workflows /> : <WorkflowPage key={id} id={id} tab={tab} />}</Suspense>;
  return <Suspense fallback={<div className="page whole"><Bar at="workflows" /></div>}><VersionPage key={`${id} ${version}`} workflow={id} number={Number(version)} /></Suspense>;
}

function List({ name }: { readonly name: string }): ReactElement {
  if (name === "approvals") return <Suspense fallback={<div className="page"><Bar at="approvals" /></div>}><Approvals /></Suspense>;
  if (name === "errors") return <Suspense fallback={<div className="page"><Bar at="errors" /></div>}><Errors /></Suspense>;
  return <Nowhere />;
}

function Nowhere(): ReactElement {
  return <div className="page"><Bar at={null} /><Said title="Page not found."><p className="quiet"><a href={hrefOf("/")} onClick={follow("/")}>All runs</a> · <a href={hrefOf(WORKFLOWS)} onClick={follow(WORKFLOWS)}>All workflows</a></p></Said></div>;
}

function show(page: ReactNode): void {
  root.render(<StrictMode><Guard at="">{page}</Guard></StrictMode>);
}

const place = document.getElementById("root");
if (place === null) throw new Error("the page has no place for the console");
const root = createRoot(place);
restoreTheme();
onSignedOut((why) => {
  void renewNow().then((isRenewed) => { show(isRenewed ? <Page key={Date.now()} /> : <SignIn why={why.message} enter={() => { show(<Page />); }} />); });
});

function enter(code: string, name?: string): void {
  signIn(code, name).then(() => { show(<Page />); }, (error: unknown) => {
    if (error instanceof Refusal && error.code === "name_taken") join(code, explained(error).why);
    else failed(error);
  });
}

/** Asks a guest for their name; a code is good until a name is taken. */
function join(code: string, refused: string): void {
  show(<Joining key={refused} refused={refused} join={(name) => { enter(code, name); }} />);
}

function failed(error: unknown): void {
  show(<Failed what="Could not sign in." error={error} again={() => { location.reload(); }} />);
}

takeToken();
const given = takeCode();
if (given === null) takeAnswer().then(() => { show(<Page />); }, failed);
else if (given.invited) join(given.code, "");
else enter(given.code);
