/** Parts of a page whose scripts are loaded when they are first shown. Where a script does not come, its part alone says so. */
import { Component, lazy, Suspense, useState, type ComponentType, type LazyExoticComponent, type ReactElement, type ReactNode } from "react";
import { Dialog } from "../dialog.tsx";
import { loaded, NotLoaded } from "./loading.ts";
import { Fault } from "./notices.tsx";

/** A part that shows `waiting` until its script is there, and else a notice with another try, as `told` places it. */
export function part<P extends object>(
  load: () => Promise<ComponentType<P>>, waiting: (props: P) => ReactNode = () => null,
  told: (notice: ReactNode, props: P) => ReactNode = (notice) => <div className="missing">{notice}</div>,
): ComponentType<P> {
  const attempt = (): LazyExoticComponent<ComponentType<P>> => lazy(async () => ({ default: await loaded(load()) }));
  let current = attempt();
  return function Part(props: P): ReactElement {
    const [tries, count] = useState(0);
    const Script = current;
    return (
      <Missing key={tries} missed={() => { current = attempt(); }} tell={(error) => told(<Fault error={error} again={() => { count(tries + 1); }} />, props)}>
        <Suspense fallback={waiting(props)}><Script {...props} /></Suspense>
      </Missing>
    );
  };
}

/** A part that is a dialog over the page. */
export function dialog<P extends { readonly close: () => void }>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return part(load, () => null, (notice, { close }) => <Dialog title="Could not load this dialog" close={close}><div className="dialog-body">{notice}</div></Dialog>);
}

interface Around {
  /** The next part that is shown asks for the script again. */
  readonly missed: () => void;
  readonly tell: (error: NotLoaded) => ReactNode;
  readonly children: ReactNode;
}

class Missing extends Component<Around, { readonly error: Error | null }> {
  override state: { readonly error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override componentDidCatch(): void {
    this.props.missed();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    if (!(error instanceof NotLoaded)) throw error; // of the part itself: to the guard of the page
    return this.props.tell(error);
  }
}
