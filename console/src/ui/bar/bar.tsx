/** The head of every page but the editor. */
import "./bar.css";
import { useEffect, useState, type ReactElement } from "react";
import { callerNow } from "../../wire/api.ts";
import { useTallies, type Count } from "../../wire/tallies.ts";
import { APPROVALS, ERRORS, follow, hrefOf, WORKFLOWS } from "../addresses.ts";
import { Brand, Icon } from "../icons.tsx";
import { Inviting } from "./inviting.tsx";
import { dialog } from "../loading/part.tsx";
import { isTyped } from "../picking/presses.ts";
import { toggleTheme, useShownTheme } from "../theme/switching.ts";
import { keyNames } from "../words/keynames.ts";
import { nameOf } from "../../wire/names.ts";

const Going = dialog(async () => (await import("./going.tsx")).Going);
const Account = dialog(async () => (await import("./account.tsx")).Account);
const PageKeys = dialog(async () => (await import("./going.tsx")).PageKeys);
const PLACES = [["workflows", "Workflows", WORKFLOWS], ["runs", "Runs", "/"], ["approvals", "Approvals", APPROVALS], ["errors", "Errors", ERRORS]] as const;

export type Place = typeof PLACES[number][0];

/** `at` is null where the page is none of the places. */
export function Bar({ at }: { readonly at: Place | null }): ReactElement {
  const tallies = useTallies();
  const [asked, ask] = useState<"account" | "going" | "keys" | null>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key === "k" && document.querySelector("dialog[open]") === null) ask("going");
      else if (event.key === "?" && !isTyped(event)) ask("keys");
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => { window.removeEventListener("keydown", press); };
  }, []);
  const close = (): void => { ask(null); };
  const other = useShownTheme() === "dark" ? "Light" : "Dark";
  return (
    <header className="bar">
      <a href={hrefOf("/")} onClick={follow("/")} className="bar-name" aria-label="Stepless"><Brand /><span>Stepless</span></a>
      <nav aria-label="Main">
        {PLACES.map(([place, name, path]) => (
          <a key={place} href={hrefOf(path)} onClick={follow(path)} aria-current={place === at ? "page" : undefined}><span className="steady" data-name={name}>{name}</span><Tally count={place === "approvals" ? tallies.approvals : place === "errors" ? tallies.errors : null} /></a>
        ))}
      </nav>
      <span className="head-gap" />
      <button className="button small bar-going" type="button" title="Go to a page, a workflow, a run" onClick={() => { ask("going"); }}>Go to <kbd>{keyNames("⌘ K")}</kbd></button>
      <Inviting />
      <button className="tool" type="button" title={other} aria-label={other} onClick={toggleTheme}><Icon mark={other === "Light" ? "sun" : "moon"} /></button>
      <Who open={() => { ask("account"); }} />
      {asked === "going" ? <Going close={close} /> : asked === "keys" ? <PageKeys close={close} /> : asked === "account" ? <Account close={close} /> : null}
    </header>
  );
}

/** The first letter of the person, or of the name of the key. */
function Who({ open }: { readonly open: () => void }): ReactElement {
  const [name, setName] = useState("");
  useEffect(() => { callerNow().then(({ caller }) => { setName(nameOf(caller)); }, () => undefined); }, []); // the account says why
  return <button className="bar-who" type="button" title={name} aria-label={`Account ${name}`} onClick={open}>{name.slice(0, 1)}</button>;
}

function Tally({ count }: { readonly count: Count | null }): ReactElement | null {
  if (count === null || count.count === 0) return null;
  return <span className="bar-count">{count.more ? <span className="hidden">at least </span> : null}{count.count.toLocaleString("en")}{count.more ? <span aria-hidden="true">+</span> : null}</span>;
}
