"""The console in a real browser: a draft is built, edited by mouse and by keyboard, and followed from a second window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from draft_server import DraftSite

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
LIMIT_MS = 30_000
REFUND = {
    "id": "refund", "name": "Refund",
    "nodes": {
        "order": {"type": "manual"},
        "score": {"type": "http", "after": "order", "with": {"url": "https://example.com/<order.id>"}},
        "ask": {"type": "approval", "after": "score", "with": {"message": "Pay?"}},
        "pay": {"type": "http", "after": "ask.approved", "with": {"url": "https://example.com/pay"}},
        "each": {"type": "loop", "after": "pay", "with": {
            "times": 2, "body": {"nodes": {"tick": {"type": "wait", "with": {"for": "1s"}}}},
        }},
    },
}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium: install Debian's package chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # the browser's own pipes, at its end
]


def many(count: int, rows: int = 40) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for place in range(count):
        after = {} if place < rows else {"after": f"n{place - rows}"}
        nodes[f"n{place}"] = {"type": "http", **after, "with": {"url": "https://example.com"}}
    return {"id": "many", "name": "Many", "nodes": nodes}


@pytest.fixture
def site() -> Iterator[DraftSite]:
    made = DraftSite({"refund": REFUND, "empty": {"id": "empty", "nodes": {}}, "many": many(2_000)})
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
def windows(browser: Any) -> Iterator[Any]:
    """Opens windows, each in a context of its own. No page may have an error, or break the content security policy."""
    scopes: list[Any] = []
    faults: list[str] = []

    def window(url: str, wait: str = ".react-flow__node, .empty, .outline, .far", **options: Any) -> Any:
        scope = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
        scopes.append(scope)
        page = scope.new_page()
        page.set_default_timeout(LIMIT_MS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
        page.goto(url)
        page.wait_for_selector(wait)
        return page

    yield window
    for scope in scopes:
        scope.close()
    assert faults == []


def block(page: Any, name: str) -> Any:
    return page.locator(".react-flow__node").filter(has=page.locator(".block-name", has_text=re.compile(f"^{name}$")))


def saved(page: Any) -> None:
    page.wait_for_selector(".head-saved.saved")


def pick(page: Any, key: str, typed: str) -> None:
    """Presses a key that asks, types into the list, and takes the first row."""
    page.keyboard.press(key)
    page.locator(".picker input").fill(typed)
    page.keyboard.press("Enter")
    page.wait_for_selector(".picker", state="detached")


def canvas(page: Any) -> None:
    page.locator(".flow").focus()


def test_a_workflow_is_built_from_an_empty_canvas_by_keyboard(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/drafts/empty")
    canvas(page)
    pick(page, "a", "manual")
    pick(page, "a", "http")
    page.keyboard.press("F2")
    page.keyboard.type("score")
    page.keyboard.press("Enter")
    page.locator(".yaml textarea").first.fill("url: https://example.com/<manual.id>\nretries: 2")
    canvas(page)
    pick(page, "a", "end")
    canvas(page)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    pick(page, "c", "end")
    saved(page)
    assert site.document("empty")["nodes"] == {
        "manual": {"type": "manual"},
        "score": {"type": "http", "after": "manual", "with": {"url": "https://example.com/<manual.id>", "retries": 2}},
        "end": {"type": "end", "after": ["score", "manual"]},
    }


def test_edges_are_drawn_and_blocks_are_moved_by_mouse(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/drafts/refund")
    block(page, "each").wait_for()
    rejected, target = block(page, "ask").locator(".react-flow__handle.source[data-handleid=rejected]"), block(page, "each")
    rejected.hover()
    page.mouse.down()
    box = target.locator(".react-flow__handle.target").first.bounding_box()
    page.mouse.move(box["x"] - 20, box["y"] + 4, steps=4)
    page.mouse.move(box["x"] + 3, box["y"] + 4, steps=4)
    page.mouse.up()
    saved(page)
    assert site.document("refund")["nodes"]["each"]["after"] == ["pay", "ask.rejected"]
    box = block(page, "order").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 120, steps=6)
    page.mouse.up()
    page.wait_for_function("() => document.querySelector('.head-saved.saved') !== null")
    places = [key for key in site.drafts["refund"].state if key.startswith("place/")]
    assert len(places) == 1
    assert [effect.key for effect in site.drafts["refund"].items[-1].effects] == places, "a drag is one effect, on drop"
    canvas(page)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    saved(page)
    assert site.document("refund") == REFUND
    assert not [key for key in site.drafts["refund"].state if key.startswith("place/")]


def test_a_second_window_follows_and_both_keep_what_they_typed(windows: Any, site: DraftSite) -> None:
    ada, bo = (windows(f"{site.url}/console/drafts/refund") for _ in range(2))
    for page in (ada, bo):
        block(page, "score").click()
        page.locator(".yaml textarea").first.wait_for()
    ada.locator(".yaml textarea").first.fill("url: https://example.com/v2/<order.id>")
    bo.wait_for_function("() => document.querySelector('.yaml textarea').value.includes('/v2/')")
    field = bo.locator(".yaml textarea").first
    field.fill(field.input_value() + "?all=1")
    ada.wait_for_function("() => document.querySelector('.yaml textarea').value.endsWith('?all=1')")
    canvas(ada)
    ada.keyboard.press("Delete")
    block(bo, "score").wait_for(state="detached")
    canvas(ada)
    ada.keyboard.press("Control+z")
    block(bo, "score").wait_for()
    saved(ada)
    assert site.document("refund")["nodes"]["score"]["with"] == {"url": "https://example.com/v2/<order.id>?all=1"}
    assert site.document("refund")["nodes"]["ask"]["after"] == "score"


def test_what_is_done_without_a_network_is_kept_and_sent_when_it_is_back(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/drafts/refund")
    block(page, "pay").click()
    with site.cut():
        page.keyboard.press("d")
        page.wait_for_selector(".head-saved:not(.saved)")
        assert "enabled" not in site.document("refund")["nodes"]["pay"]
    saved(page)
    assert site.document("refund")["nodes"]["pay"]["enabled"] is False


def test_blocks_are_copied_duplicated_and_pasted(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/drafts/refund", permissions=["clipboard-read", "clipboard-write"])
    block(page, "each").locator(".frame-head").click()
    page.keyboard.press("Control+d")
    page.wait_for_function("() => document.querySelectorAll('.frame').length === 2")
    block(page, "pay").click()
    page.wait_for_function("() => performance.getEntriesByType('resource').some((one) => one.name.includes('/yaml-'))")
    page.keyboard.press("Control+c")
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('nodes:')")
    page.keyboard.press("Control+v")
    block(page, "pay_2").wait_for()
    saved(page)
    nodes = site.document("refund")["nodes"]
    assert nodes["each_2"]["with"] == REFUND["nodes"]["each"]["with"]
    assert nodes["pay_2"] == {"type": "http", "with": {"url": "https://example.com/pay"}}


def test_findings_are_at_their_nodes_and_in_the_list(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/drafts/refund")
    block(page, "pay").click()
    page.locator(".yaml textarea").first.fill("url: https://example.com/<scor.body>")
    page.keyboard.press("Escape")
    block(page, "pay").locator(".block-wrong.error").wait_for()
    page.locator(".findings-sum").click()
    assert "scor" in page.locator(".findings li", has_text="pay").first.inner_text()


def test_the_outline_does_what_the_canvas_does(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/drafts/refund?view=outline")
    grid = page.get_by_role("treegrid")
    grid.focus()
    names = [row.split("\n")[0] for row in page.locator(".outline-row").all_inner_texts()]
    assert names == ["order", "score", "ask", "pay", "each", "tick"]
    page.keyboard.press("End")
    assert page.locator(".outline-row[aria-selected=true]").inner_text().startswith("tick")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".outline-row").count() == 5
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Delete")
    saved(page)
    assert "pay" not in site.document("refund")["nodes"]


def test_tab_walks_the_canvas_and_leaves_it(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/drafts/refund")
    canvas(page)
    for name in ("order", "score", "ask", "pay", "each", "tick"):
        page.keyboard.press("Tab")
        assert page.locator("#name").input_value() == name
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('.flow')")


def test_two_thousand_nodes_mount_what_is_in_view(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/drafts/many", wait=".far")
    assert page.locator(".react-flow__node").count() == 0
    canvas(page)
    page.keyboard.press("Control+f")
    page.locator(".picker input").fill("n1234")
    page.keyboard.press("Enter")
    block(page, "n1234").wait_for()
    assert 0 < page.locator(".react-flow__node").count() < 300
    assert page.locator("#name").input_value() == "n1234"


def test_a_draft_is_opened_from_the_list_and_a_new_one_is_made(windows: Any, site: DraftSite) -> None:
    page = windows(f"{site.url}/console/", wait="table")
    page.get_by_role("link", name="Refund", exact=True).click()
    page.wait_for_selector(".react-flow__node")
    page.go_back()
    page.locator("#new-id").fill("fresh")
    page.get_by_role("button", name="New workflow").click()
    page.wait_for_selector(".empty")
    assert page.url.endswith("/console/drafts/fresh")
