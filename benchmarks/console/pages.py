"""What a browser does with a large draft: frames, the main thread's time for them, and how soon a peer sees what is typed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Any

from draft_site import DraftSite, Person
from websockets.asyncio.client import connect
from windows import Windows, block, canvas, choose, field, until

STEPS = 120
REMOTE = 50  # blocks that another person drags at once
REMOTE_PER_S = 30
TYPED = 40
TYPED_EVERY_MS = 125

COUNTING = """() => {
    if (window.frames_seen !== undefined) return;
    window.frames_seen = 0;
    const count = () => { window.frames_seen += 1; requestAnimationFrame(count); };
    requestAnimationFrame(count);
}"""
NOW = "performance.timeOrigin + performance.now()"
PAINTED = """
addEventListener('DOMContentLoaded', () => {
    const look = () => {
        if (document.querySelector('.react-flow__node, .far') === null) { requestAnimationFrame(look); return; }
        const channel = new MessageChannel();
        channel.port1.onmessage = () => { window.painted_ms = performance.now(); };
        channel.port2.postMessage(0);
    };
    look();
});
"""
ASKED = """
window.Worker = class extends Worker {
    constructor(...made) {
        super(...made);
        this.addEventListener('message', event => {
            if (event.data?.layout) window.layout_ms ??= performance.now() - this.asked;
        });
    }
    postMessage(asked) {
        this.asked = performance.now();
        super.postMessage(asked);
    }
};
"""


def p95(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


class Meter:
    """Counts frames and the main thread's task time while something is done, in steps. Times are milliseconds."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._tools = page.context.new_cdp_session(page)
        self._tools.send("Performance.enable")
        page.evaluate(COUNTING)

    def _read(self) -> tuple[float, float, int]:
        metrics = {one["name"]: one["value"] for one in self._tools.send("Performance.getMetrics")["metrics"]}
        return monotonic(), 1_000 * metrics["TaskDuration"], self._page.evaluate("window.frames_seen")

    def during(self, step: Callable[[int], None], steps: int = STEPS) -> tuple[float, float]:
        """The frames a second over all steps, and the 95th percentile of the task time of single frames, read after each step. A
        step in which the page drew no frame counts with the next one. One with several frames has their sum, and no mean: which
        of them did the work is not known. So they count only where fewer than half of the steps are single frames."""
        began, _, first = self._read()
        single: list[float] = []
        whole: list[float] = []
        _, task, frames = self._read()
        for number in range(steps):
            step(number)
            _, task_now, frames_now = self._read()
            if frames_now > frames:
                whole.append(task_now - task)
                if frames_now == frames + 1:
                    single.append(task_now - task)
                task, frames = task_now, frames_now
        ended, _, last = self._read()
        return (last - first) / (ended - began), p95(single if 2 * len(single) >= len(whole) else whole)


def panning(page: Any, steps: int = STEPS) -> tuple[float, float]:
    meter = Meter(page)
    page.mouse.move(640, 420)
    page.mouse.down()
    measured = meter.during(lambda number: page.mouse.move(640 + 3 * (number % 60), 420 + 2 * (number % 40)), steps)
    page.mouse.up()
    return measured


def dragging(page: Any, name: str) -> tuple[float, float]:
    box = block(page, name).bounding_box()
    meter = Meter(page)
    x, y = box["x"] + 60, box["y"] + 12
    page.mouse.move(x, y)
    page.mouse.down()
    measured = meter.during(lambda number: page.mouse.move(x + 2 * (number % 50), y + 2 * (number % 30)))
    page.mouse.up()
    page.keyboard.press("Control+z")
    return measured


def under_remote_moves(page: Any, site: DraftSite, workflow: str, keys: list[str]) -> tuple[float, float]:
    """While another person drags blocks that are in view."""
    meter = Meter(page)
    with dragged(site, workflow, keys):
        until(page, "() => document.querySelector('.head-people li') !== null")
        return meter.during(lambda number: page.evaluate("() => new Promise(requestAnimationFrame)"))


@contextmanager
def dragged(site: DraftSite, workflow: str, keys: list[str]) -> Iterator[None]:
    stop = Event()
    draft = site.draft(workflow)
    ticket = site.client.post(f"/drafts/{workflow}/ticket").json()["ticket"]

    async def drag() -> None:
        address = f"{site.url.replace('http', 'ws')}/drafts/{workflow}/room?ticket={ticket}"
        async with connect(address, proxy=None, compression=None) as socket:
            hello = {"v": 1, "t": "hello", "client": "dragger", "tab": "t", "after": draft["seq"], "epoch": draft["epoch"]}
            await socket.send(json.dumps(hello))
            start = [[key.removeprefix("block/"), 40 + place % 10 * 260, place // 10 * 90] for place, key in enumerate(keys)]
            began, number = monotonic(), 0
            while not stop.is_set():
                number += 1
                sample = [round(1_000 * (monotonic() - began)), number % 60, number % 40]
                await socket.send(json.dumps({"v": 1, "t": "at", "drag": {"from": start, "samples": [sample]}}))
                await asyncio.sleep(1 / REMOTE_PER_S)

    thread = Thread(target=lambda: asyncio.run(drag()))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def typing(windows: Windows, people: tuple[Person, Person], workflow: str, every_s: float) -> Iterator[Callable[[], None]]:
    """Two browsers in a draft, each at a block of its own. What is given types a letter in both, and takes `every_s`."""
    opened = [windows.open(person, person.page(workflow)) for person in people]
    for page, name in zip(opened, ("n1", "n2"), strict=True):
        at_parameters(page, name)

    def both() -> None:
        began = monotonic()
        for page in opened:
            page.keyboard.type("x")
        opened[0].wait_for_timeout(max(0, 1_000 * (every_s - monotonic() + began)))

    yield both
    windows.close()


def at_parameters(page: Any, name: str) -> None:
    """Opens a block, and sets the caret at the end of its parameters as text."""
    canvas(page)
    page.keyboard.press("Control+f")
    page.locator(".picker input").fill(name)
    page.keyboard.press("Enter")
    block(page, name).wait_for()
    choose(page, name)
    field(page).focus()
    page.keyboard.press("Control+End")


def layout_ms(windows: Windows, person: Person, workflow: str) -> float:
    """How long the worker takes for the layout of a draft: from the question to its answer, as the page asks it."""
    page = windows.open(person, person.page(workflow), script=ASKED)
    until(page, "() => window.layout_ms !== undefined")
    return float(page.evaluate("window.layout_ms"))


def typed_to_painted(windows: Windows, people: tuple[Person, Person], workflow: str, name: str) -> list[float]:
    """From a key of one person to the painted frame in the other's window, both with the block open."""
    one, two = (windows.open(person, person.page(workflow)) for person in people)
    for page in (one, two):
        at_parameters(page, name)
    one.wait_for_selector(".person-tag")
    one.evaluate(f"""() => {{
        window.at = [];
        document.querySelector('.yaml textarea').addEventListener('keydown', () => window.at.push({NOW}), true);
    }}""")
    two.evaluate(f"""() => {{
        window.at = [];
        let length = document.querySelector('.yaml textarea').value.length;
        const channel = new MessageChannel();
        channel.port1.onmessage = event => {{ for (let each = 0; each < event.data; each += 1) window.at.push({NOW}); }};
        const look = () => {{
            const now = document.querySelector('.yaml textarea').value.length;
            if (now > length) channel.port2.postMessage(now - length);
            length = now;
            requestAnimationFrame(look);
        }};
        requestAnimationFrame(look);
    }}""")
    one.keyboard.type("x" * TYPED, delay=TYPED_EVERY_MS)
    until(two, "count => window.at.length >= count", TYPED)
    pressed, painted = one.evaluate("window.at"), two.evaluate("window.at")
    return [seen - key for key, seen in zip(pressed, painted, strict=False)]


def opened_ms(windows: Windows, person: Person, workflow: str) -> tuple[float, float]:
    """From the navigation to the first painted blocks: in a new browser, and again in the same one."""
    page = windows.open(person, person.page(workflow), script=PAINTED)
    taken = []
    for _ in range(2):
        until(page, "() => window.painted_ms !== undefined")
        taken.append(float(page.evaluate("window.painted_ms")))
        page.reload()
    return taken[0], taken[1]
