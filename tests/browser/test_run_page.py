"""The console of a server without drafts, as a deployment with `Console: no` has it: a run is watched live with a key or a token,
the list of workflows is there to be read, and nothing leads to a draft."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from windows import Windows

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.api.site import Site
from stepless.nodes.function import function
from stepless.runtime.wiring.local import local

KEY = "the-key-of-the-browser"
STEPS = 60
ROW_PX = 28  # of an event
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


class Server:
    """An engine behind a real server without drafts, in a loop of its own."""

    def __init__(self) -> None:
        self.listening = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self.listening.wait(30)

    async def _serve(self) -> None:
        self.engine = local(None, secrets=MemorySecrets({}))
        app = create_app(self.engine.service, api_keys=[KEY], site=Site(drafts=False))
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

    def approve(self, run_id: str) -> None:
        (pause,) = self.engine.service.run(run_id).pauses
        self.engine.service.answer(pause.token, "approved", {})

    def log(self, run_id: str) -> list[int]:
        return [int(event["eventId"]) for event in self.engine.service.events(run_id, limit=500).events]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def page(windows: Windows) -> Any:
    """A tab of a browser without anyone's key."""
    made = windows.bare(viewport={"width": 1280, "height": 900}).new_page()
    windows.watch(made)
    return made


def enter(page: Any, key: str) -> None:
    page.get_by_label("API key or token").fill(key)
    page.keyboard.press("Enter")


def watch(page: Any, server: Server, run_id: str, query: str = "") -> None:
    page.goto(f"{server.url}/runs/{run_id}/view#token={KEY}")
    page.wait_for_selector(".run-status")
    if query:
        page.goto(f"{server.url}/console/runs/{run_id}?{query}")


def numbers(page: Any) -> list[int]:
    return [int(text) for text in page.locator(".event-row button[aria-pressed]").all_inner_texts()]


# -- a run -----------------------------------------------------------------------------------------------------------------


def test_a_run_is_watched_live_and_a_cut_connection_loses_and_doubles_nothing(server: Server, page: Any) -> None:
    run_id = server.start()
    page.set_viewport_size({"width": 1280, "height": 600 + 8 * STEPS * ROW_PX})  # every event has a row
    watch(page, server, run_id, "tab=events")
    page.locator(".feed.live").wait_for()
    server.approve(run_id)
    page.locator(".event-row", has_text="tick@count[2]").first.wait_for()
    for _ in range(2):
        page.context.set_offline(True)
        server.cut()
        page.locator(".feed:not(.live)").wait_for()
        seen = len(numbers(page))
        page.context.set_offline(False)
        page.wait_for_function("seen => document.querySelectorAll('.event-row').length > seen", arg=seen)
    page.locator(".run-status", has_text="completed").wait_for()
    log = server.log(run_id)
    page.get_by_text(f"{len(log)} events", exact=True).wait_for()
    assert numbers(page) == log


def test_a_node_tells_why_it_failed_and_is_run_again_from_there(server: Server, page: Any) -> None:
    run_id = server.start({"n": 1})
    watch(page, server, run_id)
    server.approve(run_id)
    page.locator(".run-status", has_text="completed").wait_for()
    page.locator(".block.ran", has_text="bad").click()
    page.locator(".failure", has_text="divides by zero").wait_for()
    page.get_by_role("button", name="Rerun from here…").click()
    page.get_by_label("Reason").fill("once more")
    page.get_by_role("button", name="Start the new run").click()
    page.wait_for_url(lambda url: run_id not in url)
    page.locator(".run-status", has_text="completed").wait_for()
    assert KEY not in page.url


@function("page.count")
def count(item: str) -> int:
    return {"apple": 2}[item]


def test_an_exception_in_a_function_is_shown_with_its_traceback_and_as_text(server: Server, page: Any) -> None:
    node = {"type": "function", "with": {"call": "page.count", "args": {"item": "<input.item>"}}}
    server.engine.service.publish({"id": "raises", "nodes": {"begin": {"type": "manual"}, "count": {**node, "after": "begin"}}})
    evil = "<img src=x onerror=alert(1)>"
    watch(page, server, str(server.engine.service.start("raises", {"item": evil}).run_id))
    page.locator(".run-error", has_text=f"'{evil}'").wait_for()
    page.locator(".run-error a").click()
    page.locator(".panel", has_text="Traceback (most recent call last)").wait_for()
    page.locator(".panel", has_text="in count").wait_for()
    assert page.locator("img").count() == 0


def test_a_run_is_cancelled_with_a_reason(server: Server, page: Any) -> None:
    watch(page, server, server.start())
    page.locator(".run-question").wait_for()
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_label("Reason").fill("a mistake")
    page.get_by_role("button", name="Cancel the run").click()
    page.locator(".run-status", has_text="cancelled").wait_for()
    page.locator(".run-question").wait_for(state="detached")


def test_a_node_that_waits_for_a_limit_says_for_which_and_for_whom(server: Server, page: Any) -> None:
    rate = {"max": 1, "per": "1h", "by": "<begin.customer>"}
    call = {"type": "function", "after": "begin", "with": {"call": "page.count", "args": {"item": "apple"}}, "rate": rate}
    server.engine.service.publish({"id": "limited", "nodes": {"begin": {"type": "manual"}, "call": call}})
    watch(page, server, str(server.engine.service.start("limited", {"customer": "acme"}).run_id))
    page.locator(".run-status", has_text="completed").wait_for()
    watch(page, server, str(server.engine.service.start("limited", {"customer": "acme"}).run_id), "node=call")
    page.locator(".run-status", has_text="waiting for a limit").wait_for()
    for words in ("nodes.call.rate", "acme"):
        page.locator(".panel", has_text=words).wait_for()


# -- who watches -----------------------------------------------------------------------------------------------------------


def test_a_refused_key_is_asked_for_again_and_kept_in_the_tab_alone(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/runs/{server.start()}/view")
    enter(page, "wrong")
    page.get_by_role("heading", name="The server rejected this key or token").wait_for()
    enter(page, KEY)
    page.locator(".feed.live").wait_for()
    kept = page.evaluate("[Object.keys(sessionStorage), Object.keys(localStorage), document.cookie]")
    assert kept == [["stepless.token"], [], ""]


def test_a_link_may_bring_the_token_which_leaves_the_address(server: Server, page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server.url}/runs/{server.start()}/view#token={KEY}")
    page.locator(".feed.live").wait_for()
    assert "#" not in page.url and not any(KEY in url.partition("#")[0] for url in asked)
    assert page.evaluate("sessionStorage.getItem('stepless.token')") == KEY


def test_a_refusal_of_a_gateway_that_takes_signed_requests_says_what_to_do(server: Server, page: Any) -> None:
    run_id = server.start()
    page.route(f"{server.url}/runs/**", lambda route: route.fulfill(status=403, json={"message": "Forbidden"}))
    page.goto(f"{server.url}/console/runs/{run_id}#token={KEY}")
    page.get_by_role("alert").filter(has_text="open this page through a proxy that signs requests").wait_for()


# -- how it looks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (400, "dark"), (1024, "light"), (1280, "dark")])
def test_nothing_stands_out_over_the_side_and_the_theme_is_that_of_the_reader(
    server: Server, page: Any, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    watch(page, server, server.start({"unbroken": "x" * 5_000}))
    page.locator(".run-question").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")[:3]
    assert (max(red, green, blue) < 80) is (scheme == "dark")


def test_the_keyboard_walks_the_graph_and_chooses(server: Server, page: Any) -> None:
    watch(page, server, server.start())
    page.locator(".run-question").wait_for()
    page.keyboard.press("]")
    page.keyboard.press("]")
    page.get_by_role("complementary", name="Node ask").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("complementary", name="Node ask").wait_for(state="detached")


# -- without drafts --------------------------------------------------------------------------------------------------------


def test_the_other_pages_are_there_and_nothing_leads_to_a_draft(server: Server, page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    run_id = server.start()
    watch(page, server, run_id)
    for address, shown in (
        ("", f".row#{run_id}, .rows-space .row"), ("approvals", ".inbox"), ("errors", ".inbox"), ("workflows", "th >> text=p95"),
        ("workflows/ticks", "text=Start a run"), ("workflows/ticks/versions", "td >> text=v1"),
        ("workflows/ticks/versions/1", ".version .beside"), ("workflows/ticks/schedules", "text=No schedule starts"),
    ):  # fmt: skip
        page.goto(f"{server.url}/console/{address}")
        page.locator(shown).first.wait_for()
        page.wait_for_load_state("networkidle")
        assert page.get_by_text("draft").count() == 0, address
        assert page.get_by_role("button", name="New workflow").count() == 0
    assert not [url for url in asked if "/drafts" in url]


def test_an_address_of_a_draft_says_that_there_are_none(server: Server, page: Any) -> None:
    watch(page, server, server.start())
    page.goto(f"{server.url}/console/drafts/ticks")
    page.get_by_role("heading", name="Could not open the draft ticks.").wait_for()
    alert = page.get_by_role("alert")
    assert "This server has no drafts." in alert.inner_text() and "Console: yes" in alert.inner_text()
    page.get_by_role("link", name="Look at the workflow").click()
    page.get_by_role("link", name="Start a run").wait_for()


def test_an_empty_list_of_workflows_tells_how_to_publish_one(server: Server, page: Any) -> None:
    watch(page, server, server.start())
    page.route("**/stats*", lambda route: route.fulfill(json={"workflows": [], "cursor": None}))
    page.goto(f"{server.url}/console/workflows")
    page.get_by_role("heading", name="No workflows yet").wait_for()
    assert page.get_by_text("Publish the first one from a file.").count() == 1
