"""The console in a real browser, over `stepless dev`: a draft is built and edited by mouse and by keyboard."""

from __future__ import annotations

import pytest
from draft_site import DraftSite, Person
from example_drafts import REFUND, many
from windows import Windows, block, canvas, connect, drag, pick, saved, until

pytestmark = pytest.mark.quick

POINTS = """path => Array.from({ length: 101 }, (_, place) => {
    const point = path.getPointAtLength(path.getTotalLength() * place / 100).matrixTransform(path.getScreenCTM());
    return [point.x, point.y];
})"""


@pytest.fixture(scope="module")
def ada(draft_site: DraftSite) -> Person:
    return draft_site.person("ada")


def test_a_workflow_is_built_from_an_empty_canvas_by_keyboard(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str,
) -> None:  # fmt: skip
    draft_site.open(workflow)
    page = windows.open(ada, ada.page(workflow))
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
    assert draft_site.document(workflow)["nodes"] == {
        "manual": {"type": "manual"},
        "score": {"type": "http", "after": "manual", "with": {"url": "https://example.com/<manual.id>", "retries": 2}},
        "end": {"type": "end", "after": ["score", "manual"]},
    }


def test_edges_are_drawn_and_blocks_are_moved_by_mouse(windows: Windows, draft_site: DraftSite, ada: Person, refund: str) -> None:
    page = windows.open(ada, ada.page(refund))
    block(page, "each").wait_for()
    connect(page, "ask", "each", "rejected")
    saved(page)
    assert draft_site.document(refund)["nodes"]["each"]["after"] == ["pay", "ask.rejected"]
    drag(page, "order", 30, 108)
    saved(page)
    order = draft_site.key_of(refund, "order")
    effects = draft_site.items(refund)[-1]["effects"]
    assert [effect[1] for effect in effects] == [order.replace("block/", "place/")], "one effect, on drop"
    canvas(page)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    saved(page)
    assert draft_site.document(refund) == {**REFUND, "id": refund}
    assert not [key for key in draft_site.draft(refund)["entities"] if key.startswith("place/")]


def test_an_edge_goes_around_the_blocks_between_its_ends(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str,
) -> None:  # fmt: skip
    nodes = {"a": {"type": "manual"}, "b": {"type": "end", "after": "a"}, "c": {"type": "end", "after": ["a", "b"]}}
    draft_site.open(workflow, {"id": workflow, "nodes": nodes})
    page = windows.open(ada, ada.page(workflow))
    path = page.locator(".react-flow__edge[aria-label='a to c'] .react-flow__edge-path")
    path.wait_for(state="attached")
    until(page, "() => document.querySelector('[aria-label=\"a to c\"] .react-flow__edge-path').getAttribute('d').includes('L')")
    between, ways = block(page, "b").bounding_box(), path.evaluate(POINTS)
    inside = [(x, y) for x, y in ways if 0 < x - between["x"] < between["width"] and 0 < y - between["y"] < between["height"]]
    assert inside == []
    ports = page.eval_on_selector_all(".react-flow__handle", "ports => ports.map(port => [port.offsetWidth, port.offsetHeight])")
    assert ports and all(port == [1, 1] for port in ports), "measured ports have to be those that the layout knows"


def test_blocks_are_copied_duplicated_and_pasted(windows: Windows, draft_site: DraftSite, ada: Person, refund: str) -> None:
    page = windows.open(ada, ada.page(refund), permissions=["clipboard-read", "clipboard-write"])
    block(page, "each").locator(".frame-head").click()
    page.keyboard.press("Control+d")
    page.wait_for_function("() => document.querySelectorAll('.frame').length === 2")
    block(page, "pay").click()
    page.keyboard.press("Control+c")
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('nodes:')")
    page.keyboard.press("Control+v")
    block(page, "pay_2").wait_for()
    saved(page)
    nodes = draft_site.document(refund)["nodes"]
    assert nodes["each_2"]["with"] == REFUND["nodes"]["each"]["with"]
    assert nodes["pay_2"] == {"type": "http", "with": {"url": "https://example.com/pay"}}


def test_findings_are_at_their_nodes_and_in_the_list(windows: Windows, draft_site: DraftSite, ada: Person, refund: str) -> None:
    page = windows.open(ada, ada.page(refund))
    block(page, "pay").click()
    page.locator(".yaml textarea").first.fill("url: https://example.com/<scor.body>")
    page.keyboard.press("Escape")
    block(page, "pay").locator(".block-wrong.error").wait_for()
    page.locator(".findings-sum").click()
    assert "scor" in page.locator(".findings li", has_text="pay").first.inner_text()


def test_the_outline_does_what_the_canvas_does(windows: Windows, draft_site: DraftSite, ada: Person, refund: str) -> None:
    page = windows.open(ada, ada.page(refund, "?view=outline"))
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
    assert "pay" not in draft_site.document(refund)["nodes"]


def test_tab_walks_the_canvas_and_leaves_it(windows: Windows, draft_site: DraftSite, ada: Person, refund: str) -> None:
    page = windows.open(ada, ada.page(refund))
    canvas(page)
    for name in ("order", "score", "ask", "pay", "each", "tick"):
        page.keyboard.press("Tab")
        assert page.locator("#name").input_value() == name
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('.flow')")


@pytest.mark.check
def test_two_thousand_nodes_mount_what_is_in_view(windows: Windows, draft_site: DraftSite, ada: Person, workflow: str) -> None:
    draft_site.open(workflow, many(workflow, 2_000))
    page = windows.open(ada, ada.page(workflow), ".far")
    assert page.locator(".react-flow__node").count() == 0
    canvas(page)
    page.keyboard.press("Control+f")
    page.locator(".picker input").fill("n1234")
    page.keyboard.press("Enter")
    block(page, "n1234").wait_for()
    assert 0 < page.locator(".react-flow__node").count() < 300
    assert page.locator("#name").input_value() == "n1234"


def test_a_draft_is_opened_from_the_list_and_a_new_one_is_made(
    windows: Windows, draft_site: DraftSite, ada: Person, refund: str
) -> None:
    page = windows.open(ada, ada.workflows(), "table")
    page.get_by_role("link", name=refund, exact=True).click()
    page.wait_for_selector(".react-flow__node")
    page.go_back()
    page.get_by_role("button", name="New workflow").click()
    page.locator("#new-id").fill("opened-from-the-list")
    page.locator("dialog[open]").get_by_role("button", name="Open a draft").click()
    page.wait_for_selector(".empty")
    assert page.url.endswith("/console/drafts/opened-from-the-list")
    assert draft_site.document("opened-from-the-list") == {"id": "opened-from-the-list", "nodes": {}}


def test_the_printed_address_signs_a_tab_in_once(windows: Windows, draft_site: DraftSite) -> None:
    for words, signed in (("Workflows", True), ("Could not sign in", False)):
        page = windows.tab(windows.bare(), draft_site.address, f"text={words}")
        assert "code=" not in page.url
        assert (page.evaluate("sessionStorage.getItem('stepless.token')") is not None) is signed
