/** A list of actions at a point of the page. Arrows walk it, a letter goes to what begins with it, Escape and Tab close it. */
import "./menu.css";
import { useEffect, useLayoutEffect, useRef, type KeyboardEvent, type ReactElement } from "react";

/** `keys`: as they are printed. A section begins with a line above it. */
export interface MenuItem {
  readonly key: string;
  readonly title: string;
  readonly keys?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
}

export type MenuSection = readonly MenuItem[];

const EDGE = 8; // px that stay free at the edges of the page

export function Menu({ label, x, y, sections, choose, close }: {
  readonly label: string; readonly x: number; readonly y: number; readonly sections: readonly MenuSection[];
  readonly choose: (key: string) => void; readonly close: () => void;
}): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const closing = useRef(close);
  useEffect(() => { closing.current = close; }, [close]);
  useLayoutEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    const { width, height } = shown.getBoundingClientRect();
    shown.style.left = `${Math.max(EDGE, Math.min(x, window.innerWidth - width - EDGE))}px`;
    shown.style.top = `${Math.max(EDGE, Math.min(y, window.innerHeight - height - EDGE))}px`;
    rows(shown)[0]?.focus();
  }, [x, y]);
  useEffect(() => {
    const away = (event: Event): void => { if (!(event.target instanceof Node && box.current?.contains(event.target) === true)) closing.current(); };
    const gone = (): void => { closing.current(); };
    document.addEventListener("pointerdown", away, true);
    document.addEventListener("wheel", away, { capture: true, passive: true });
    window.addEventListener("blur", gone);
    return () => {
      document.removeEventListener("pointerdown", away, true);
      document.removeEventListener("wheel", away, true);
      window.removeEventListener("blur", gone);
    };
  }, []);
  const pressed = (event: KeyboardEvent<HTMLDivElement>): void => {
    event.stopPropagation();
    const all = rows(event.currentTarget);
    const place = all.findIndex((one) => one === document.activeElement);
    const next = stepped(event.key, place, all);
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      close();
    } else if (next !== undefined) {
      event.preventDefault();
      next.focus();
    }
  };
  return (
    <div ref={box} className="menu" role="menu" aria-label={label} onKeyDown={pressed} onContextMenu={(event) => { event.preventDefault(); }}>
      {sections.filter((section) => section.length > 0).map((section, place) => (
        <div key={place} role="group">
          {section.map((item) => (
            <button key={item.key} type="button" role="menuitem" tabIndex={-1} className={item.danger === true ? "danger" : ""} aria-disabled={item.disabled === true}
              onPointerMove={(event) => { event.currentTarget.focus({ preventScroll: true }); }}
              onClick={() => { if (item.disabled !== true) choose(item.key); }}>
              <span>{item.title}</span>{item.keys === undefined ? null : <kbd>{item.keys}</kbd>}
            </button>
          ))}
        </div>
      ))}
    </div>
  );
}

function rows(box: HTMLElement): HTMLElement[] {
  return [...box.querySelectorAll<HTMLElement>("[role=menuitem]")];
}

/** The row that a key leads to; undefined for a key that leads to none. */
function stepped(key: string, place: number, all: readonly HTMLElement[]): HTMLElement | undefined {
  switch (key) {
    case "ArrowDown":
      return all[(place + 1) % all.length];
    case "ArrowUp":
      return all[(place - 1 + all.length) % all.length];
    case "Home":
      return all[0];
    case "End":
      return all.at(-1);
    default: {
      const letter = key.length === 1 ? key.toLowerCase() : null;
      return letter === null ? undefined : [...all.slice(place + 1), ...all.slice(0, place + 1)].find((one) => one.textContent.toLowerCase().startsWith(letter));
    }
  }
}
