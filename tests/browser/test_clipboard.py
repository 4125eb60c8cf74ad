"""The clipboard before the page has loaded what prints and reads YAML."""

from __future__ import annotations

from typing import Any

from draft_site import DraftSite, Person
from windows import Windows, block, saved


def test_a_paste_right_after_a_copy_takes_what_was_copied_then(
    windows: Windows, draft_site: DraftSite, people: tuple[Person, Person], refund: str,
) -> None:  # fmt: skip
    page = windows.open(people[0], people[0].page(refund), permissions=["clipboard-read", "clipboard-write"])
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/assets/carrying-*.js", hold)
    with page.expect_request("**/assets/carrying-*.js"):
        page.reload()
    block(page, "pay").click()
    page.evaluate("() => navigator.clipboard.writeText('nodes: {older: {type: end}}')")
    page.keyboard.press("Control+c")
    block(page, "score").click()
    page.keyboard.press("Control+v")
    assert held
    for route in held:
        route.continue_()
    block(page, "pay_2").wait_for()
    saved(page)
    assert sorted(draft_site.document(refund)["nodes"]) == ["ask", "each", "order", "pay", "pay_2", "score"]
