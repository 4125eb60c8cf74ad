/** Lists of keys that `?` opens. */
import "./picker.css";
import type { ReactElement } from "react";
import { Dialog } from "../dialog.tsx";
import { keyNames } from "../words/keynames.ts";

/** Sections of rows: the keys as they are printed, separated by a comma, with what they do. `⌘` stands for Ctrl where there is no ⌘. */
export type Listed = readonly (readonly [title: string, rows: readonly (readonly [keys: string, does: string])[]])[];

export function KeyList({ listed, close }: { readonly listed: Listed; readonly close: () => void }): ReactElement {
  return (
    <Dialog title="Keys" close={close} wide>
      <div className="dialog-body keys" tabIndex={0} role="group" aria-label="Keys">
        {listed.map(([title, rows]) => (
          <section key={title}>
            <h2>{title}</h2>
            <dl>{rows.map(([keys, does]) => <div key={keys}><dt>{keys.split(", ").map((one) => <kbd key={one}>{keyNames(one)}</kbd>)}</dt><dd>{does}</dd></div>)}</dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
