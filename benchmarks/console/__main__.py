"""Measures the console and writes build/console-figures.md: `make measure-console`.

Each figure is that of one machine at one time: the page names both, and the load while it was measured.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

from built_console import BUILT, at_any_time, at_once, compressed, files, shell
from chromium import WHOLE, chromium
from draft_client import op
from draft_site import DraftSite, Person
from example_drafts import many
from windows import Windows, block, canvas

from benchmarks.console import pages, runs, wire
from benchmarks.console.frames import Frames, p95

PAGE = Path(__file__).resolve().parents[2] / "build/console-figures.md"
LARGE, LARGEST = 2_000, 5_000
LAID, EDGES = 1_000, 4  # edges into a node
TIMES = 3
OPS = 40
LIMIT_MS = 90_000


@dataclass(frozen=True)
class Row:
    """One figure. `bar` is what it must reach, `least` that it is a lower bound."""

    what: str
    value: float
    unit: str
    bar: float | None
    least: bool = False
    note: str = ""

    @property
    def line(self) -> str:
        held = self.bar is None or (self.value >= self.bar if self.least else self.value <= self.bar)
        bound = "" if self.bar is None else f"{'≥' if self.least else '≤'} {self.bar:g}{self.unit}"
        mark = "" if self.bar is None else "yes" if held else "**no**"
        digits = 2 if self.value < 10 else 0
        return f"| {self.what} | {self.value:.{digits}f}{self.unit} | {bound} | {mark} | {load()} | {self.note} |"


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def on_the_wire(windows: Windows, people: tuple[Person, Person], site: DraftSite) -> Iterator[Row]:
    for editors, bar in ((10, 100.0), (50, 400.0)):
        rounds, again, count = [], 0, 0
        for _ in range(TIMES):
            site.open("wire", many("wire", LARGE))
            with pages.typing(windows, people, "wire", 1 / wire.OPS_PER_S) as typed:
                heard, _ = wire.op_to_peer(site, "wire", editors - len(people), meanwhile=typed)
            rounds.append(p95(heard.taken_ms))
            again += heard.again
            count += len(heard.asked)
        note = f"two of them browsers; {count} ops of the others, {again} answered `rate` or `busy` and sent again"
        what = f"op to peer, {editors} editors at 2 ops a second, {LARGE:,} blocks, p95"
        yield Row(what, median(rounds), " ms", bar, note=note)


def flooded(site: DraftSite) -> Iterator[Row]:
    """What one person's flood costs the others: their ops before it and during it, in the same process."""
    rounds, total = [], wire.Flood()
    for _ in range(TIMES):
        took = []
        for flooder in ("", site.person("flood").token):
            site.open("flooded", many("flooded", LARGE))
            heard, flood = wire.op_to_peer(site, "flooded", 10, flooder)
            took.append(p95(heard.taken_ms))
        rounds.append(took[1] / took[0])
        total = wire.Flood(total.sent + flood.sent, total.committed + flood.committed, total.refused + flood.refused)
    note = f"{total.sent} ops sent, {total.committed} committed, {total.refused} answered `rate`"
    yield Row(f"p95 of 10 editors beside {wire.FLOOD_PER_S:,} ops a second, times that without", median(rounds), "", 2, note=note)


def typed(windows: Windows, people: tuple[Person, Person], site: DraftSite) -> Iterator[Row]:
    rounds = []
    for _ in range(TIMES):
        site.open("typed", many("typed", LARGE))
        rounds.append(p95(pages.typed_to_painted(windows, people, "typed", "n1234")))
    yield Row(f"input to a painted frame at the peer, {LARGE:,} blocks, two browsers, p95", median(rounds), " ms", 80)


def drawn(windows: Windows, person: Person, site: DraftSite) -> Iterator[Row]:
    blank = windows.bare().new_page()
    blank.goto("about:blank")
    plain = pages.panning(blank)
    yield Row("frames a second of a blank page", plain.per_s, "", None)
    site.open("drawn", many("drawn", LARGE))
    page = windows.open(person, person.page("drawn"), ".far")
    yield from rows_of("whole graph in view", f", {LARGE:,} blocks", pages.panning(page), plain.per_s)
    canvas(page)
    page.keyboard.press("Control+f")
    page.locator(".picker input").fill("n1234")
    page.keyboard.press("Enter")
    block(page, "n1234").wait_for()
    page.keyboard.press("Escape")
    for what, measured in (
        ("panning", pages.panning(page, 60)), ("dragging", pages.dragging(page, visible(page))),
        (f"under {pages.REMOTE} remote moves", pages.under_remote_moves(page, site, "drawn", in_view(page))),
    ):  # fmt: skip
        yield from rows_of(what, f", {LARGE:,} blocks", measured, plain.per_s)


def rows_of(what: str, size: str, frames: Frames, blank: float) -> Iterator[Row]:
    yield Row(f"{what}{size}: frames of a blank page's", frames.per_s / blank, "", 0.8, least=True)
    yield Row(f"{what}: task time a frame, p95", frames.task_ms, " ms", None, note="with the time of waiting for a core")
    yield Row(f"{what}: task time a frame, p95, of the processor", frames.processor_ms, " ms", 12)


def laid_out(windows: Windows, person: Person, site: DraftSite) -> Iterator[Row]:
    site.open("laid", tangled("laid", LAID))
    taken = pages.layout_ms(windows, person, "laid")
    yield Row(f"layout of {LAID:,} nodes with {EDGES * LAID:,} edges, in a worker", taken, " ms", 400)


def tangled(id_: str, count: int) -> dict[str, Any]:
    """A document of nodes that each follow some of those shortly before."""
    dice = random.Random(count)
    nodes: dict[str, Any] = {}
    for place in range(count):
        before = [f"n{one}" for one in dice.sample(range(max(0, place - 60), place), min(place, EDGES))]
        nodes[f"n{place}"] = {"type": "http", **({"after": before} if before else {}), "with": {"url": "https://example.com"}}
    return {"id": id_, "name": "Tangled", "nodes": nodes}


def visible(page: Any) -> str:
    """A block that lies well inside of what is shown."""
    name: str = page.evaluate("""() => [...document.querySelectorAll('.react-flow__node')].find(one => {
        const box = one.getBoundingClientRect();
        return box.left > 400 && box.right < 800 && box.top > 200 && box.bottom < 600;
    }).querySelector('.block-name').textContent""")
    return name


def in_view(page: Any) -> list[str]:
    """The keys of blocks that are mounted."""
    tails: list[str] = page.eval_on_selector_all(".react-flow__node", "nodes => nodes.map(node => node.dataset.id)")
    return [f"block/{tail}" for tail in tails[: pages.REMOTE]]


def opened(windows: Windows, person: Person, site: DraftSite) -> Iterator[Row]:
    site.open("paint", many("paint", LARGE))
    first, _ = pages.opened_ms(windows, person, "paint")
    yield Row(f"first blocks painted, {LARGE:,} blocks", first, " ms", 1_500, note="a new browser: nothing cached")
    site.open("largest", many("largest", LARGEST))
    site.kill()
    site.start()
    cold, warm = pages.opened_ms(windows, person, "largest")
    yield Row(f"open {LARGEST:,} blocks, cold", cold, " ms", 4_000, note="a new server process and a new browser")
    yield Row(f"open {LARGEST:,} blocks, warm", warm, " ms", 1_500)
    site.open("smallest")
    times = {}
    for workflow in ("smallest", "largest"):
        epoch = site.draft(workflow)["epoch"]
        taken = []
        for n in range(1, OPS + 1):
            began = monotonic()
            asked = op(epoch, n, [["set", "doc", ["name"], f"name {n}"]], base=n - 1)
            made = site.client.put(f"/drafts/{workflow}/ops", json=asked).json()
            assert "item" in made, made
            taken.append(1_000 * (monotonic() - began))
            site.client.get(f"/drafts/{workflow}/ops?epoch={epoch}&after={n}&wait=0.06")  # within the pace of a person
        times[workflow] = median(taken)
    more = times["largest"] - times["smallest"]
    note = f"median {times['smallest']:.1f} ms in an empty one"
    yield Row(f"an op in {LARGEST:,} blocks, more than in an empty draft", more, " ms", 20, note=note)


def listed(windows: Windows) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        site = runs.prepared(Path(folder))
        try:
            blank = runs.blank_frames(windows)
            frames, blanks = runs.list_scrolled(windows, site)
            yield from rows_of(f"list of {runs.RUNS:,} runs, scrolled", "", frames, blank)
            yield Row("list of runs, scrolled: places without a row", 100 * blanks, " %", 0)
            for workflow, inputs, what in (
                ("each-line", {"lines": list(range(runs.TURNS))}, f"run of {runs.TURNS:,} turns"),
                ("wide", {}, f"run of {runs.NODES:,} nodes"),
            ):  # fmt: skip
                opened_ms, long_ms = runs.run_opened_ms(windows, site, workflow, inputs)
                yield Row(f"{what}: graph painted", opened_ms, " ms", 1_000, note="a new browser")
                note = f"longest {max(long_ms, default=0):.0f} ms"
                yield Row(f"{what}: main thread blocked over {runs.LONG_MS} ms", len(long_ms), " times", 0, note=note)
        finally:
            site.close()


def sizes() -> Iterator[Row]:
    built = files(BUILT)
    for what, part, bar, note in (
        ("shell", shell(built), 120, ""), ("run view", at_any_time(built, "runs_view"), 195, ""),
        ("canvas to the first edit", at_once(built, "editor"), 230, "what is loaded before the editor can run, and its worker"),
        ("editor whole", at_any_time(built, "editor"), 370, "with forms, test runs, sources and notes"),
    ):  # fmt: skip
        yield Row(f"{what}, compressed", compressed([built[name] for name in part]) / 1024, " KiB", bar, note=note)
    yield Row("console on disk", sum(map(len, built.values())) / 1024**2, " MiB", 2)


PARTS = ("wire", "flood", "typed", "drawn", "laid", "opened", "runs", "sizes")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the console, and write build/console-figures.md.")
    parser.add_argument("--only", choices=PARTS, help="print the rows of one part, and write nothing")
    only = parser.parse_args().only
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder, chromium(path=WHOLE) as browser:
        site, windows = DraftSite(Path(folder)), Windows(browser, LIMIT_MS)
        try:
            people = site.person("ada"), site.person("bo")
            parts = {
                "wire": lambda: on_the_wire(windows, people, site), "flood": lambda: flooded(site),
                "typed": lambda: typed(windows, people, site), "drawn": lambda: drawn(windows, people[0], site),
                "laid": lambda: laid_out(windows, people[0], site), "opened": lambda: opened(windows, people[0], site),
                "runs": lambda: listed(windows), "sizes": sizes,
            }  # fmt: skip
            for name in PARTS if only is None else (only,):
                for row in parts[name]():
                    print(row.line, flush=True)
                    lines.append(row.line)
                windows.close()
        finally:
            site.close()
    if only is None:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page_of(lines), "utf-8")
    return 0


def page_of(lines: list[str]) -> str:
    head = f"""# Figures of the console

`make measure-console` writes this page: two Chromium browsers (software drawing) and wire clients against one `stepless dev` over
SQLite, on {os.cpu_count()} shared cores, {datetime.now(UTC):%d %B %Y}. The column *load* is the machine's load average when
the line was written: on a machine that does other work at the same time, ratios carry over and times hardly do.

| figure | measured | bar | reached | load | |
|---|---|---|---|---|---|
"""
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
