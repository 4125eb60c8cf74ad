/** The console: one page for the list, one for a draft. */
import "./ui/tokens.css";
import "./ui/base.css";
import { Component, lazy, StrictMode, Suspense, type ReactElement, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { Drafts } from "./pages/drafts.tsx";
import { follow, hrefOf, useAddress } from "./ui/addresses.ts";
import { Failed, Said } from "./ui/notices.tsx";
import { restoreTheme } from "./ui/theme.ts";
import { onSignedOut, signIn } from "./wire/api.ts";

const Editor = lazy(() => import("./canvas/editor.tsx"));

function Page(): ReactElement {
  const { path } = useAddress();
  const [, first = "", id = ""] = path.split("/");
  if (first === "" || (first === "drafts" && id === "")) return <Drafts />;
  if (first === "drafts") {
    const name = decodeURIComponent(id);
    return <Suspense fallback={<div className="editor opening" />}><Editor key={name} id={name} /></Suspense>;
  }
  return <Said title="There is no page at this address."><a href={hrefOf("/")} onClick={follow("/")}>All drafts</a></Said>;
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
  show(<Said title="You are not signed in."><p>Open the address that <code>stepless dev</code> prints: it signs this tab in.</p></Said>);
});
signIn().then(() => { show(<Page />); }, (error: unknown) => { show(<Failed what="This tab is not signed in." error={error} />); });
