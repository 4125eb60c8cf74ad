"""The console without a mouse, on a narrow screen, in both themes: axe finds nothing, and a whole tour is done by keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from axe import violations
from draft_site import DraftSite, Person
from example_drafts import REFUND, many
from windows import Windows, block, field, pick, saved, until

DEEP = {**REFUND, "nodes": {**REFUND["nodes"], "pay": {**REFUND["nodes"]["pay"], "with": {"url": "https://example.com/<scor.body>"}}}}


@pytest.fixture(scope="module")
def ada(draft_site: DraftSite) -> Person:
    return draft_site.person("ada")


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_axe_finds_nothing_in_an_editor(windows: Windows, draft_site: DraftSite, ada: Person, workflow: str, theme: str) -> None:
    draft_site.open(workflow, {**DEEP, "id": workflow})
    page = windows.open(ada, ada.page(workflow), color_scheme=theme)
    bo = windows.open(ada, ada.page(workflow))
    block(page, "pay").locator(".block-wrong").wait_for()
    page.wait_for_selector(".head-people li")
    assert violations(page, "nothing selected") == []
    block(bo, "score").click()
    block(page, "pay").click()
    page.locator(".findings-sum").click()
    field(page).fill("url: [")
    page.wait_for_selector(".yaml .fault:not(:empty)")
    page.wait_for_selector(".person-tag")
    assert violations(page, "a node, with a fault, findings and another person") == []
    field(page).fill("url: https://example.com")
    page.locator(".flow").focus()
    for key, name in (("a", "add"), ("c", "connect"), ("Control+k", "commands"), ("?", "keys")):
        page.keyboard.press(key)
        page.wait_for_selector("dialog[open]")
        assert violations(page, name) == []
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("Control+a")
    assert violations(page, "everything selected") == []


@pytest.mark.parametrize("query", ["", "?view=outline"])
def test_axe_finds_nothing_in_an_empty_draft_nor_in_a_large_one(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str, theme: str, query: str
) -> None:
    for count in (0, 500):
        draft_site.open(workflow, many(workflow, count))
        page = windows.open(ada, ada.page(workflow, query), color_scheme=theme)
        assert violations(page, f"{count} nodes") == []


def test_axe_finds_nothing_in_the_list_nor_on_pages_that_say_no(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str, theme: str
) -> None:
    draft_site.open(workflow)
    for address, shown in (
        (ada.workflows(), "table"), (ada.page("no-such-draft"), "text=Could not open the draft"),
        (ada.page() + "no/such/page", "text=Page not found"), (ada.page() + "#code=wrong", "text=Could not sign in"),
    ):  # fmt: skip
        page = windows.open(ada, address, shown, color_scheme=theme)
        assert violations(page, address) == []
    page = windows.tab(windows.bare(color_scheme=theme), ada.page(), "text=Sign in to Stepless")
    assert violations(page, "signed out") == []


def test_nothing_scrolls_sideways_at_320_pixels(windows: Windows, draft_site: DraftSite, ada: Person, workflow: str) -> None:
    draft_site.open(workflow, {**DEEP, "id": workflow, "name": "A workflow with a name that is longer than the screen is wide"})
    narrow = {"width": 320, "height": 640}
    missing = ada.page("no-such-draft")
    for address, shown in ((ada.workflows(), "table"), (ada.page(workflow), ".outline"), (missing, "text=Could not open")):
        page = windows.open(ada, address, shown, viewport=narrow)
        assert overflow(page) <= 0, address
    page = windows.open(ada, ada.page(workflow), ".outline", viewport=narrow)
    page.locator(".outline-row").nth(1).click()
    page.keyboard.press("Enter")
    page.wait_for_selector(".inspector.open")
    assert overflow(page) <= 0
    assert violations(page, "the inspector on a narrow screen") == []


def overflow(page: Any) -> int:
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width


def test_a_whole_tour_is_done_by_keyboard(windows: Windows, draft_site: DraftSite, ada: Person, workflow: str) -> None:
    draft_site.open(f"{workflow}-before")  # an empty list asks for the first workflow in its middle
    page = windows.open(ada, ada.workflows(), ".page-title .button")
    press = page.keyboard.press
    until_focused(page, ".page-title .button")
    press("Enter")
    page.wait_for_selector("#new-id:focus")
    page.keyboard.type(workflow)
    press("Enter")
    page.wait_for_selector(".empty")
    until_focused(page, ".empty button")
    press("Enter")
    page.wait_for_selector(".picker input")
    page.keyboard.type("manual")
    press("Enter")
    page.wait_for_selector(".picker", state="detached")
    block(page, "manual").wait_for()
    pick(page, "a", "http")
    press("F2")
    page.keyboard.type("score")
    press("Enter")
    press("Enter")  # opens it: the keyboard goes on in its parameters
    until_focused(page, ".yaml textarea")
    page.keyboard.type("url: https://example.com/<manual.id>")
    press("Enter")
    page.keyboard.type("retries: 2")
    press("Escape")
    until(page, "() => document.activeElement.matches('[data-keys]')")
    pick(page, "a", "end")
    for _ in range(2):
        press("ArrowLeft")
    pick(page, "c", "end")
    until(page, "() => document.querySelectorAll('.react-flow__edge').length === 3")
    press("Control+z")
    until(page, "() => document.querySelectorAll('.react-flow__edge').length === 2")
    press("Shift+Control+z")
    until(page, "() => document.querySelectorAll('.react-flow__edge').length === 3")
    press("n")
    page.wait_for_selector(".note textarea:focus")
    page.keyboard.type("Asks for a score")
    press("Escape")
    press("Shift+F10")
    page.wait_for_selector("[role=menuitem]:focus")
    press("d")
    press("Enter")
    until(page, "() => document.querySelectorAll('.note').length === 2")
    press("Delete")
    until(page, "() => document.querySelectorAll('.note').length === 1")
    saved(page)
    assert draft_site.document(workflow)["nodes"] == {
        "manual": {"type": "manual"},
        "score": {"type": "http", "after": "manual", "with": {"url": "https://example.com/<manual.id>", "retries": 2}},
        "end": {"type": "end", "after": ["score", "manual"]},
    }


def until_focused(page: Any, selector: str) -> None:
    """Goes on by Tab to an element, as a person without a mouse does."""
    for _ in range(60):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.outerHTML")[:200]
    raise AssertionError(f"{selector} is not reached by Tab; the focus is at {focused}")
