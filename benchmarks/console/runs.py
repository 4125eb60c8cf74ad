"""What a browser does with many runs: how the list of 100,000 scrolls, and how soon a run of 5,000 turns can be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from draft_site import KEY, DraftSite
from many_runs import fill, turns, wide
from windows import Windows, until

from benchmarks.console.frames import Frames, measured
from benchmarks.console.pages import PAINTED

RUNS = 100_000
TURNS, NODES = 5_000, 3_000
SCROLLS = 600
SCROLL_PX = 120  # a notch of a wheel in each frame: four rows
FLINGS, FLING_PX = 180, 600  # as fast as a finger throws a list: a page of rows in each frame
LONG_MS = 100

WATCHED = """
window.long_ms = [];
new PerformanceObserver(list => window.long_ms.push(...list.getEntries().map(one => one.duration)))
    .observe({type: 'longtask', buffered: true});
"""
BLANKS = """() => {
    window.blanks = 0;
    window.looks = 0;
    const channel = new MessageChannel();  // after the frame: what was painted
    channel.port1.onmessage = () => {
        const box = document.querySelector('.rows-space').parentElement.getBoundingClientRect();
        const [top, bottom] = [Math.max(box.top, 0) + 60, Math.min(box.bottom, innerHeight) - 12];
        for (const y of [top, (top + bottom) / 2, bottom]) {
            window.looks += 1;
            if (document.elementFromPoint(box.left + box.width / 3, y)?.closest('.row') == null) window.blanks += 1;
        }
    };
    const look = () => { channel.port2.postMessage(0); requestAnimationFrame(look); };
    requestAnimationFrame(look);
}"""


def prepared(folder: Path) -> DraftSite:
    """A server over a file with RUNS runs, a workflow with TURNS turns, and one with NODES nodes."""
    fill(folder / "dev.db", RUNS)
    (folder / "turns.json").write_text(json.dumps(turns(TURNS)))
    (folder / "wide.json").write_text(json.dumps(wide(NODES)))
    return DraftSite(folder)


def blank_frames(windows: Windows) -> float:
    """Frames a second of an empty page while its wheel is turned."""
    page = windows.bare().new_page()
    page.goto("about:blank")
    return scrolled(page).per_s


def scrolled(page: Any, steps: int = SCROLLS, px: int = SCROLL_PX) -> Frames:
    page.mouse.move(640, 500)
    return measured(page, lambda number: page.mouse.wheel(0, px), steps)


def list_scrolled(windows: Windows, site: DraftSite) -> tuple[Frames, float]:
    """As `scrolled`, and the share of places in the list at which a frame had no row, while it was scrolled on and thrown."""
    page = signed_in(windows)
    page.goto(f"{site.url}/console/runs")
    page.locator(".rows-space .row").first.wait_for()
    found = scrolled(page)
    page.evaluate(BLANKS)
    scrolled(page)
    scrolled(page, FLINGS, FLING_PX)
    return found, page.evaluate("window.blanks / window.looks")


def run_opened_ms(windows: Windows, site: DraftSite, workflow: str, inputs: dict[str, Any]) -> tuple[float, list[float]]:
    """From the navigation to the run to its painted graph, and the long tasks of the main thread from then on as well, while its
    timeline is opened and scrolled."""
    answer = site.client.post(f"/workflows/{workflow}/runs", json={"inputs": inputs}, timeout=120)
    run_id = answer.json()["run_id"]
    while site.client.get(f"/runs/{run_id}", headers={"prefer": "wait=20"}, timeout=60).json()["status"] == "running":
        continue
    page = signed_in(windows)
    page.add_init_script(PAINTED + WATCHED)
    page.goto(f"{site.url}/console/runs/{run_id}")
    until(page, "() => window.painted_ms !== undefined")
    painted = float(page.evaluate("window.painted_ms"))
    page.get_by_role("tab", name="Timeline").click()
    page.locator(".timeline-space > *").first.wait_for()
    page.mouse.move(640, 500)
    for _ in range(40):
        page.mouse.wheel(0, SCROLL_PX)
        page.evaluate("() => new Promise(requestAnimationFrame)")
    return painted, [one for one in page.evaluate("window.long_ms") if one > LONG_MS]


def signed_in(windows: Windows) -> Any:
    scope = windows.bare()
    scope.add_init_script(f"sessionStorage.setItem('stepless.token', {KEY!r})")
    page = scope.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.set_default_timeout(90_000)
    return page
