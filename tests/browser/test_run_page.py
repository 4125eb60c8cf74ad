"""The run page in a real browser: it shows a run live, reconnects after the connection is cut, and misses or repeats no event."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.nodes.function import function
from stepless.runtime.wiring.local import local

WAITING_LINE_DELAY_MS = 30_000
KEY = "the-key-of-the-browser"
STEPS = 60
TICKS = {
    "id": "ticks",
    "name": "Ticks",
    "nodes": {
        "begin": {"type": "manual"},
        "ask": {"type": "approval", "after": "begin", "with": {"message": "Go on?"}},
        "count": {
            "type": "loop",
            "after": "ask.approved",
            "with": {"times": STEPS, "body": {"nodes": {"tick": {"type": "wait", "with": {"for": "50ms"}}}}},
        },
        "bad": {"type": "transform", "after": "count", "with": {"value": "{{ 1 / 0 }}"}},
        "mend": {"type": "transform", "after": "bad.error", "with": {"value": "<bad.error.code>"}},
    },
}

class Site:
    """An engine behind a real server, in a loop of its own."""

    def __init__(self) -> None:
        self.listening = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self.listening.wait(30)

    async def _serve(self) -> None:
        self.engine = local(None, secrets=MemorySecrets({}))
        app = create_app(self.engine.service, api_keys=[KEY], site=None)
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.loop = asyncio.get_running_loop()
        runner, web = asyncio.create_task(self.engine.host.serve()), asyncio.create_task(self.server.serve([listener]))
        self.listening.set()  # whoever connects before the server is up waits in the listener's queue
        await web
        await self.engine.host.stop()
        await runner

    def close(self) -> None:
        self.server.should_exit = True
        self._thread.join(30)

    def start(self, inputs: Any = None) -> str:
        self.engine.service.publish(TICKS)
        return str(self.engine.service.start("ticks", inputs if inputs is not None else {}).run_id)

    def cut(self) -> None:
        """Every connection breaks off at once."""
        for connection in list(self.server.server_state.connections):
            self.loop.call_soon_threadsafe(connection.transport.abort)  # type: ignore[union-attr]

    def log(self, run_id: str) -> list[int]:
        return [int(event["eventId"]) for event in self.engine.service.events(run_id, limit=500).events]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    scope = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = scope.new_page()
    opened.set_default_timeout(WAITING_LINE_DELAY_MS)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    yield opened
    scope.close()
    assert faults == []


def watch(page: Any, site: Site, run_id: str) -> None:
    page.goto(f"{site.url}/runs/{run_id}/view")
    page.fill("#key", KEY)
    page.press("#key", "Enter")
    page.wait_for_selector("#feed.live, #feed.ended")


def rows(page: Any) -> list[int]:
    return [int(number) for number in page.eval_on_selector_all("#events tr", "rows => rows.map(row => row.dataset.id)")]


def test_a_run_is_watched_live_and_a_cut_connection_loses_and_doubles_nothing(site: Site, page: Any) -> None:
    run_id = site.start()
    watch(page, site, run_id)
    page.get_by_role("button", name="Approve").click()
    page.wait_for_selector('[data-path="count/tick"].s-waiting, [data-path="count/tick"].s-completed')
    for _ in range(2):
        seen = len(rows(page))
        page.context.set_offline(True)
        site.cut()
        page.wait_for_selector("#feed.broken")
        page.context.set_offline(False)
        page.wait_for_selector("#feed.live, #feed.ended")
        page.wait_for_function("seen => document.querySelectorAll('#events tr').length > seen", arg=seen)
    page.wait_for_selector("#status.completed")
    page.wait_for_selector("#feed.ended")
    assert rows(page) == site.log(run_id)
    for node, state in (("begin", "completed"), ("count", "completed"), ("bad", "failed"), ("mend", "completed")):
        page.wait_for_selector(f'[data-path="{node}"].s-{state}')
    assert "× 60" in page.locator('[data-path="count/tick"]').text_content()


def test_a_node_tells_what_went_in_and_why_it_failed(site: Site, page: Any) -> None:
    run_id = site.start({"n": 1})
    watch(page, site, run_id)
    page.get_by_role("button", name="Approve").click()
    page.locator('[data-path="bad"].s-failed').click()
    page.wait_for_selector("#detail >> text=divides by zero")
    page.wait_for_selector("#detail >> text=Inputs")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Rerun from here…").click()
    page.get_by_role("button", name="Start the new run").click()
    page.wait_for_url(lambda url: run_id not in url)
    page.wait_for_selector("#status.completed")
    assert "key" not in page.url and KEY not in page.url


@function("page.count")
def count(item: str) -> int:
    return {"apple": 2}[item]


def test_an_exception_in_a_function_is_shown_with_its_traceback(site: Site, page: Any) -> None:
    node = {"type": "function", "with": {"call": "page.count", "args": {"item": "<input.item>"}}}
    site.engine.service.publish({"id": "raises", "nodes": {"begin": {"type": "manual"}, "count": {**node, "after": "begin"}}})
    run_id = str(site.engine.service.start("raises", {"item": "<b>carrot</b>"}).run_id)
    watch(page, site, run_id)
    page.wait_for_selector("#status.failed")
    page.wait_for_selector("#detail >> text=KeyError: '<b>carrot</b>'")
    page.locator('[data-path="count"].s-failed').click()
    page.wait_for_selector("#detail >> text=Traceback (most recent call last)")
    page.wait_for_selector("#detail >> text=in count")


def test_a_run_is_cancelled_from_the_page(site: Site, page: Any) -> None:
    run_id = site.start()
    watch(page, site, run_id)
    page.get_by_role("button", name="Cancel run").click()
    page.get_by_role("button", name="Cancel the run").click()
    page.wait_for_selector("#status.cancelled")
    page.wait_for_selector("#questions", state="hidden")


def test_a_refused_key_is_asked_for_again_and_kept_in_the_tab_alone(site: Site, page: Any) -> None:
    run_id = site.start()
    page.goto(f"{site.url}/runs/{run_id}/view")
    page.fill("#key", "wrong")
    page.press("#key", "Enter")
    page.wait_for_selector("#ask-key-why >> text=refused")
    page.fill("#key", KEY)
    page.press("#key", "Enter")
    page.wait_for_selector("#feed.live")
    kept = page.evaluate("[Object.keys(sessionStorage), Object.keys(localStorage), document.cookie]")
    assert kept == [["stepless-api-key"], [], ""]


def test_a_link_may_bring_the_token_which_leaves_the_address(site: Site, page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.url}/runs/{site.start()}/view#token={KEY}")
    page.wait_for_selector("#feed.live")
    assert "#" not in page.url and not any(KEY in url.partition("#")[0] for url in asked)
    assert page.evaluate("sessionStorage.getItem('stepless-api-key')") == KEY


@pytest.mark.parametrize("width", [400, 1024, 1280])
def test_nothing_stands_out_over_the_side(site: Site, page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    watch(page, site, site.start())
    page.wait_for_selector('[data-path="ask"].s-waiting')
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_huge_graph_and_long_names_stay_in_their_boxes(site: Site, page: Any) -> None:
    text = {"type": "transform", "with": {"value": "a long value " * 200}}
    names = [f"collect_{'WM'[i % 2] * 12}_{i}" for i in range(300)]
    nodes = {name: {**text, "after": "go" if i < 30 else names[i - 30]} for i, name in enumerate(names)}
    site.engine.service.publish({"id": "huge", "name": "A long name " * 8, "nodes": {"go": {"type": "manual"}, **nodes}})
    page.set_viewport_size({"width": 1024, "height": 800})
    watch(page, site, str(site.engine.service.start("huge", {"unbroken": "x" * 5_000}).run_id))
    page.wait_for_selector("#feed.ended")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
    outside = """boxes => boxes.filter(box => {
      const [rect, ...texts] = ["rect", "text"].flatMap(name => [...box.querySelectorAll(name)]).map(one => one.getBBox());
      return texts.some(text => text.x + text.width > rect.x + rect.width);
    }).length"""
    assert page.locator("#graph .node").count() == 301
    assert page.eval_on_selector_all("#graph .node", outside) == 0


def test_the_keyboard_walks_the_graph_and_chooses(site: Site, page: Any) -> None:
    watch(page, site, site.start())
    page.wait_for_selector('[data-path="ask"].s-waiting')
    page.locator('[data-path="begin"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#details-title >> text=ask")


def test_texts_of_a_run_stay_texts(site: Site, page: Any) -> None:
    evil = json.dumps("<img src=x onerror=alert(1)>")
    run_id = site.start({"evil": json.loads(evil)})
    watch(page, site, run_id)
    page.wait_for_selector("#detail >> text=onerror")
    assert page.locator("img").count() == 0


def test_a_run_is_held_from_the_page_and_released(site: Site, page: Any) -> None:
    run_id = site.start()
    watch(page, site, run_id)
    page.get_by_text("waiting for an answer").first.wait_for()
    page.get_by_role("button", name="Hold run", exact=True).click()
    page.get_by_text("Held: nothing new starts").wait_for()
    page.get_by_text("held, waiting for an answer").first.wait_for()
    assert page.locator("#hold").is_hidden()
    page.get_by_role("button", name="Approve").click()
    page.wait_for_selector('[data-path="count"].s-queued')
    page.get_by_role("button", name="Release run").click()
    page.wait_for_selector("#status.completed")
    assert page.locator("#held").inner_text() == "" and page.locator("#release").is_hidden()


def test_a_node_that_waits_for_a_limit_says_for_which_and_for_whom(site: Site, page: Any) -> None:
    rate = {"max": 1, "per": "1h", "by": "<begin.customer>"}
    call = {"type": "function", "after": "begin", "with": {"call": "page.count", "args": {"item": "apple"}}, "rate": rate}
    site.engine.service.publish({"id": "limited", "nodes": {"begin": {"type": "manual"}, "call": call}})
    watch(page, site, str(site.engine.service.start("limited", {"customer": "acme"}).run_id))
    page.wait_for_selector("#status.completed")
    page.goto(f"{site.url}/runs/{site.engine.service.start('limited', {'customer': 'acme'}).run_id}/view")
    page.get_by_text("waiting for a limit").first.wait_for()
    page.locator('[data-path="call"].s-queued').click()
    for words in ("a limit", "nodes.call.rate", "acme", "until"):
        page.wait_for_selector(f"#detail >> text={words}")
