/** The button that lets one more person into the console. */
import { useState, type ReactElement } from "react";
import { explained, invitation } from "../../wire/api.ts";

/** Copies an address for one more person; shows it where the page may not write to the clipboard. */
export function Invite(): ReactElement {
  const [said, setSaid] = useState("");
  const invite = (): void => {
    invitation().then(async (address) => {
      try {
        await navigator.clipboard.writeText(address);
        setSaid("Copied. The address opens the console for one person, within ten minutes.");
      } catch (error) {
        if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
        setSaid(address);
      }
    }).catch((error: unknown) => { const { why, mend } = explained(error); setSaid(`${why} ${mend}`); });
  };
  return <><span className="hint bar-said" role="status">{said}</span><button className="button small" type="button" onClick={invite}>Invite</button></>;
}
