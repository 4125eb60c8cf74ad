/** The button that lets one more person into the console. */
import { useEffect, useState, type ReactElement } from "react";
import { callerNow, explained, invitation } from "../../wire/api.ts";
import { settings } from "../../wire/settings.ts";

/** Whether the server has invitations, and the person may make one. A server that does not answer is told of elsewhere. */
async function mayInvite(): Promise<boolean> {
  const [{ invitations }, { roles }] = await Promise.all([settings(), callerNow()]);
  return invitations && roles.includes("admin");
}

/** The button, where there is something that it can do. Until that is known, its place is kept. */
export function Inviting(): ReactElement | null {
  const [may, setMay] = useState<boolean | null>(null);
  useEffect(() => { mayInvite().then(setMay, () => undefined); }, []);
  return may === false ? null : <Invite isKnown={may === true} />;
}

/** Copies an address for one more person; shows it where the page may not write to the clipboard. */
function Invite({ isKnown }: { readonly isKnown: boolean }): ReactElement {
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
  return <><span className="hint bar-said" role="status">{said}</span><button className={isKnown ? "button small" : "button small unknown"} type="button" onClick={invite}>Invite</button></>;
}
