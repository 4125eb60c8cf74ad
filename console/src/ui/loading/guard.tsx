/** Shows an error where a page cannot be loaded, or has stopped by an error of its own. */
import { Component, lazy, type ComponentType, type LazyExoticComponent, type ReactNode } from "react";
import { Bar } from "../bar/bar.tsx";
import { BASE } from "../addresses.ts";
import { loaded, NotLoaded } from "./loading.ts";
import { Failed } from "./notices.tsx";

/** A page whose script is loaded when it is opened. */
export function page<P>(make: () => Promise<{ readonly default: ComponentType<P> }>): LazyExoticComponent<ComponentType<P>> {
  return lazy(() => loaded(make()));
}

interface Shown {
  readonly at: string;
  readonly error: unknown;
}

/** `at`: another address is another attempt. `bar`: the way to other pages stays. */
export class Guard extends Component<{ readonly at: string; readonly bar?: boolean; readonly children: ReactNode }, Shown> {
  override state: Shown = { at: this.props.at, error: null };

  static getDerivedStateFromError(error: unknown): Partial<Shown> {
    return { error };
  }

  static getDerivedStateFromProps({ at }: { readonly at: string }, state: Shown): Shown | null {
    return at === state.at ? null : { at, error: null };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const failed = <Failed what={error instanceof NotLoaded ? "Could not load this page." : "This page has stopped working."} error={error} again={reload} />;
    return this.props.bar === true ? <div className="page"><Bar at={null} />{failed}</div> : failed;
  }
}

/** Only once the server answers: else the browser would put a page of its own in place of this one. */
function reload(): void {
  fetch(`${BASE}/settings`, { cache: "no-store" }).then(() => { location.reload(); }, (error: unknown) => {
    if (!(error instanceof TypeError)) throw error; // not reached: what is shown says so
  });
}
