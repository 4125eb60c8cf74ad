"""What is done with the mouse in the first hour, and who shares a draft: each operation is seen in the document of the draft."""

from __future__ import annotations

from typing import Any

import pytest
from axe import violations
from draft_site import DraftSite, Person
from windows import Windows, block, canvas, choose, saved, until_blocks, until_wires

pytestmark = pytest.mark.quick

NODES = {
    "a": {"type": "manual"},
    "b": {"type": "http", "after": "a", "with": {"url": "https://example.com"}},
    "c": {"type": "end", "after": "b"},
    "e": {"type": "end"},
}


@pytest.fixture(scope="module")
def ada(draft_site: DraftSite) -> Person:
    return draft_site.person("ada")


@pytest.fixture
def page(windows: Windows, draft_site: DraftSite, ada: Person, workflow: str) -> Any:
    draft_site.open(workflow, {"id": workflow, "nodes": NODES})
    opened = windows.open(ada, ada.page(workflow))
    until_wires(opened, ["a to b", "b to c"])
    return opened


def middle(page: Any, name: str, x: float) -> tuple[float, float]:
    box = block(page, name).bounding_box()
    return box["x"] + x * box["width"], box["y"] + 27


def dragged(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
    page.mouse.move(*end, steps=6)
    page.mouse.up()


def test_the_end_of_an_edge_is_moved_to_another_node(page: Any, draft_site: DraftSite, workflow: str) -> None:
    x, y = middle(page, "c", 0)
    dragged(page, (x - 8, y), middle(page, "e", 0))
    until_wires(page, ["a to b", "b to e"])
    saved(page)
    nodes = draft_site.document(workflow)["nodes"]
    assert "after" not in nodes["c"] and nodes["e"]["after"] == "b"
    canvas(page)
    page.keyboard.press("Control+z")
    until_wires(page, ["a to b", "b to c"])
    page.locator(".react-flow__edge[aria-label='b to c']").click()  # both ends of an edge that is selected are above the ports
    x, y = middle(page, "b", 1)
    dragged(page, (x + 6, y), middle(page, "a", 1))
    until_wires(page, ["a to b", "a to c"])


def test_an_exit_that_is_dropped_on_nothing_asks_for_a_kind(page: Any, draft_site: DraftSite, workflow: str) -> None:
    x, y = middle(page, "b", 1)
    dragged(page, (x, y), (x + 120, y + 220))
    page.locator(".picker input").fill("transform")
    page.keyboard.press("Enter")
    until_blocks(page, ["a", "b", "c", "e", "transform"])
    saved(page)
    assert draft_site.document(workflow)["nodes"]["transform"]["after"] == "b"


def test_nodes_in_a_rectangle_are_selected_disabled_and_enabled(page: Any, draft_site: DraftSite, workflow: str) -> None:
    box = page.locator(".flow").bounding_box()
    page.keyboard.down("Shift")
    dragged(page, (box["x"] + 8, box["y"] + 72), (box["x"] + box["width"] - 8, box["y"] + box["height"] - 24))
    page.keyboard.up("Shift")
    page.get_by_text("4 nodes", exact=True).wait_for()
    canvas(page)
    page.keyboard.press("d")
    saved(page)
    assert {name for name, node in draft_site.document(workflow)["nodes"].items() if node.get("enabled") is False} == set(NODES)
    page.keyboard.press("d")
    saved(page)
    assert not [node for node in draft_site.document(workflow)["nodes"].values() if node.get("enabled") is False]


def test_a_draft_says_who_opened_it_and_is_duplicated_by_the_menu(
    page: Any, windows: Windows, draft_site: DraftSite, ada: Person, workflow: str
) -> None:
    choose(page, "b")
    canvas(page)
    page.keyboard.press("d")
    saved(page)
    page.get_by_role("button", name="draft · 1 edit").click()
    about = page.get_by_role("dialog", name="About this draft")
    about.get_by_text("configured key opened it just now").wait_for()
    about.get_by_text("It has 1 edit since.").wait_for()
    assert violations(page, "about a draft") == []
    page.keyboard.press("Escape")
    canvas(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="About this draft, duplicate…").press("Enter")
    about.get_by_label("duplicate it as").fill(workflow)
    about.get_by_role("button", name="Duplicate").click()
    about.get_by_text(f"A draft of {workflow} already exists.").wait_for()
    copy = f"{workflow[:56]}-copy"
    about.get_by_label("duplicate it as").fill(copy)
    about.get_by_role("button", name="Duplicate").click()
    page.wait_for_url(f"**/console/drafts/{copy}")
    until_blocks(page, ["a", "b", "c", "e"])
    assert draft_site.document(copy) == {**draft_site.document(workflow), "id": copy}
