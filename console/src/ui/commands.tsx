/** Commands that a person can copy, each with what it does: what an empty page offers with its button. */
import type { ReactElement } from "react";
import { CopyButton } from "./copying.tsx";

export function Commands({ of }: { readonly of: readonly (readonly [command: string, about: string])[] }): ReactElement {
  return (
    <ul className="commands" aria-label="Commands">
      {of.map(([command, about]) => <li key={command}><code>{command}</code><span className="hint">{about}</span><CopyButton text={command} what="the command" /></li>)}
    </ul>
  );
}
