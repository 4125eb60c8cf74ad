"""The views of a draft besides its canvas, in browsers over `stepless dev`: its text, differences, history, publishing."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from processes import ROOT, Child

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
LIMIT_MS = 30_000
LIFE_S = 60
KEY = "the-key-of-the-tests"
TEXT = """\
# Pays back what a customer did not like.
id: refund
name: Refund

nodes:
  order: {type: manual}

  score: # asks twice at most
    type: http
    after: order
    with:
      url: https://example.com/<order.id>
      method: GET

  done:
    type: end
    after: score
"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium: install Debian's package chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # the browser's own pipes, at its end
]


class Site:
    """`stepless dev` over a folder with one workflow, of which a draft is open."""

    def __init__(self, folder: Path) -> None:
        (folder / "refund.yaml").write_text(TEXT)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        path = os.pathsep.join([str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")])
        self.folder = folder
        self.child = Child(
            "dev", ".", "--db", "dev.db", "--port", str(port), folder=folder,
            environment={"PYTHONPATH": path, "STEPLESS_API_KEY": KEY},
        )  # fmt: skip
        self.child.until("Ctrl-C stops.")
        self.url = f"http://127.0.0.1:{port}"
        self.client = httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {KEY}"}, timeout=30, trust_env=False)
        self.ask("POST", "/drafts/refund", {"from": "version"})

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        answer = self.client.request(method, path, json=body)
        assert answer.status_code in (200, 201), answer.text
        made: dict[str, Any] = answer.json()
        return made

    def text(self) -> str:
        made: str = self.ask("GET", "/drafts/refund/yaml")["text"]
        return made

    def close(self) -> None:
        self.client.close()
        self.child.process.kill()
        self.child.process.wait(LIFE_S)
        self.child.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def windows(browser: Any, site: Site) -> Iterator[Any]:
    """Opens windows, each in a context of its own. No page may have an error, or break the content security policy."""
    scopes: list[Any] = []
    faults: list[str] = []

    def window(view: str, wait: str) -> Any:
        scope = browser.new_context(viewport={"width": 1280, "height": 800})
        scope.add_init_script(f"sessionStorage.setItem('stepless.token', '{KEY}')")
        scopes.append(scope)
        page = scope.new_page()
        page.set_default_timeout(LIMIT_MS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
        page.goto(f"{site.url}/console/drafts/refund?view={view}")
        page.wait_for_selector(wait)
        return page

    yield window
    for scope in scopes:
        scope.close()
    assert faults == []


def line(page: Any, text: str) -> Any:
    return page.locator(".cm-line").filter(has_text=text)


def at_end_of(page: Any, text: str) -> None:
    line(page, text).first.click()
    page.keyboard.press("End")


def taken(page: Any) -> None:
    """The draft has what was typed, and all of it is committed."""
    page.wait_for_selector(".text-state.same")
    page.wait_for_selector(".head-saved.saved")


def test_a_typed_text_is_an_edit_that_keeps_comments_and_is_undone(windows: Any, site: Site) -> None:
    page = windows("yaml", ".cm-line")
    at_end_of(page, "method: GET")
    page.keyboard.type(" # cheap")
    page.keyboard.press("Enter")
    page.keyboard.type("retries: 2")
    page.wait_for_selector(".text-state.typing, .text-state.checking, .text-state.saving")
    taken(page)
    wanted = TEXT.replace("method: GET\n", "method: GET # cheap\n      retries: 2\n")
    assert site.text() == wanted
    assert site.ask("GET", "/drafts/refund/document")["document"]["nodes"]["score"]["with"]["retries"] == 2
    page.keyboard.press("Control+z")
    line(page, "retries: 2").wait_for(state="detached")
    taken(page)
    assert site.text() == TEXT


def test_a_text_that_does_not_parse_waits_and_says_where(windows: Any, site: Site) -> None:
    page, other = windows("yaml", ".cm-line"), windows("yaml", ".cm-line")
    at_end_of(page, "method: GET")
    page.keyboard.press("Enter")
    page.keyboard.type("query: [a")
    fault = page.locator(".pane-fault")
    fault.wait_for()
    assert re.match(r"Line \d+, column \d+: ", fault.inner_text())
    assert page.locator(".cm-faulty").count() == 1
    assert site.text() == TEXT
    at_end_of(other, "name: Refund")
    other.keyboard.type(" of an order")
    taken(other)
    line(page, "name: Refund of an order").wait_for()  # others' changes come in meanwhile
    page.get_by_role("tab", name="Outline").click()
    page.get_by_role("treegrid").wait_for()
    page.get_by_role("tab", name="YAML").click()
    at_end_of(page, "query: [a")  # it is still there
    page.keyboard.type("]")
    fault.wait_for(state="detached")
    taken(page)
    assert site.text() == TEXT.replace("Refund\n", "Refund of an order\n").replace("GET\n", "GET\n      query: [a]\n")


def test_two_people_type_into_one_text_and_each_cursor_stays(windows: Any, site: Site) -> None:
    one, other = windows("yaml", ".cm-line"), windows("yaml", ".cm-line")
    at_end_of(one, "<order.id>")
    at_end_of(other, "# Pays back")
    other.keyboard.type("\n# Says so.")
    line(one, "# Says so.").wait_for()
    one.keyboard.type("/x")
    other.keyboard.type(" Twice.")
    for page in (one, other):
        line(page, "<order.id>/x").wait_for()
        line(page, "# Says so. Twice.").wait_for()
        taken(page)
    assert site.text() == TEXT.replace("like.\n", "like.\n# Says so. Twice.\n").replace("<order.id>\n", "<order.id>/x\n")


def test_differences_by_node_and_by_line_and_the_way_back(windows: Any, site: Site) -> None:
    page = windows("yaml", ".cm-line")
    at_end_of(page, "method: GET")
    page.keyboard.press("Shift+Home")
    page.keyboard.type("method: POST")
    taken(page)
    page.get_by_role("tab", name="Diff").click()
    page.locator(".change.changed").filter(has_text="score").wait_for()
    assert [" ".join(text.split()) for text in page.locator(".value").all_inner_texts()] == ["before: GET", "now: POST"]
    page.get_by_role("link", name="By line").click()
    page.locator(".lines tr.came").wait_for()
    assert page.locator(".lines tr.came td:last-child").inner_text().strip().endswith("method: POST")
    page.get_by_role("tab", name="History").click()
    page.get_by_text("changed score (method)").wait_for()
    page.get_by_role("button", name="Restore the draft as it was opened").click()
    page.get_by_text("The draft is as it was when it was opened. Undo takes that back.").wait_for()
    page.wait_for_selector(".head-saved.saved")
    assert site.text() == TEXT
    page.get_by_role("button", name="Undo").last.click()
    page.wait_for_function("() => document.querySelector('.head-saved.saved') !== null")
    page.get_by_role("tab", name="YAML").click()
    line(page, "method: POST").wait_for()


def test_a_draft_is_published_with_a_message_once_nothing_is_wrong(windows: Any, site: Site) -> None:
    page = windows("yaml", ".cm-line")
    at_end_of(page, "after: score")
    page.keyboard.type("d")
    page.locator(".findings-sum.error").wait_for()
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish v2")
    dialog.get_by_text("One error has to go first.").wait_for()
    assert dialog.get_by_role("button", name="Publish v2").is_disabled()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    at_end_of(page, "after: scored")
    page.keyboard.press("Backspace")
    at_end_of(page, "method: GET")
    page.keyboard.press("Shift+Home")
    page.keyboard.type("method: PUT")
    page.get_by_text("No findings").wait_for()
    page.get_by_role("button", name="Publish…").click()
    dialog.get_by_text("changed").first.wait_for()
    dialog.get_by_label("Message").fill("Three tries")
    dialog.get_by_role("button", name="Publish v2").click()
    page.get_by_role("dialog", name="Published").get_by_text("v2").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text(re.compile(r"^draft of .*v2")).wait_for()
    assert site.ask("GET", "/workflows/refund")["version"] == 2
