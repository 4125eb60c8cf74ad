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

from benchmarks.console.frames import Frames, measured

STEPS = 120
REMOTE = 50  # blocks that another person drags at once
REMOTE_PER_S = 30
TYPED = 40
TYPED_EVERY_MS = 125

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


def panning(page: Any, steps: int = STEPS) -> Frames:
    page.mouse.move(640, 420)
    page.mouse.down()
    found = measured(page, lambda number: page.mouse.move(640 + 3 * (number % 60), 420 + 2 * (number % 40)), steps)
    page.mouse.up()
    return found


def dragging(page: Any, name: str) -> Frames:
    box = block(page, name).bounding_box()
    x, y = box["x"] + 60, box["y"] + 12
    page.mouse.move(x, y)
    page.mouse.down()
    found = measured(page, lambda number: page.mouse.move(x + 2 * (number % 50), y + 2 * (number % 30)), STEPS)
    page.mouse.up()
    page.keyboard.press("Control+z")
    return found


def under_remote_moves(page: Any, site: DraftSite, workflow: str, keys: list[str]) -> Frames:
    """While another person drags blocks that are in view."""
    with dragged(site, workflow, keys):
        until(page, "() => document.querySelector('.head-people li') !== null")
        return measured(page, lambda number: page.evaluate("() => new Promise(requestAnimationFrame)"), STEPS)


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
    for page, name in zip(opened, ("n1234", "n1244"), strict=True):
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
