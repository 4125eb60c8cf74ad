"""The list of runs and the view of a run in a real browser, against a real `stepless dev`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from draft_site import KEY, DraftSite
from many_runs import REFUND, fill, turns
from windows import Windows

pytestmark = pytest.mark.quick

TURNS = 300
HEADS = 3_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftSite]:
    """A server over a file with HEADS old runs."""
    folder = tmp_path_factory.mktemp("runs")
    fill(folder / "dev.db", HEADS)
    for document in (turns(TURNS), {**REFUND, "id": "ask"}):
        (folder / f"{document['id']}.json").write_text(json.dumps(document))
    made = DraftSite(folder)
    yield made
    made.close()


def start(page: Any, site: DraftSite, workflow: str, inputs: Any) -> str:
    headers = {"authorization": f"Bearer {KEY}", "prefer": "wait=20"}
    answer = page.request.post(f"{site.url}/workflows/{workflow}/runs", data={"inputs": inputs}, headers=headers)
    return str(answer.json()["run_id"])


def test_the_list_is_filtered_by_its_address_walked_by_keyboard_and_read_on(page: Any, site: DraftSite) -> None:
    page.goto(f"{site.url}/console/?status=failed&error=no_stock")
    page.wait_for_selector(".rows-space .row")
    assert set(page.locator(".rows-space .details code").all_inner_texts()) == {"no_stock"}
    page.get_by_role("button", name="Clear").click()
    page.locator(".runs-summary > p", has_text="3,0").wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.get_by_text("1 run chosen").wait_for()
    for _ in range(40):
        page.locator(".rows").evaluate("box => { box.scrollTop = box.scrollHeight; }")
        first, last = page.locator(".rows").evaluate(
            "box => { const seen = [...box.querySelectorAll('.rows-space .row')].map((row) => row.getBoundingClientRect());"
            " const { top, bottom } = box.getBoundingClientRect(); return [Math.min(...seen.map((one) => one.top)) - top,"
            " bottom - Math.max(...seen.map((one) => one.bottom))]; }"
        )
        assert first <= 32 or last <= 32
        if page.locator(".rows").get_attribute("aria-rowcount") != "-1":
            break
    page.wait_for_function("document.querySelector('.rows').getAttribute('aria-rowcount') !== '-1'")
    assert int(page.locator(".rows").get_attribute("aria-rowcount")) > HEADS


def test_all_that_match_are_changed_after_a_dry_run_with_a_reason(page: Any, site: DraftSite) -> None:
    runs = [start(page, site, "ask", {"id": f"bulk-{number}", "amount": number}) for number in range(3)]
    page.goto(f"{site.url}/console/?workflow=ask&waiting=answer&search=bulk-")
    page.locator(".rows-space .row").nth(2).wait_for()
    page.get_by_role("button", name="Cancel…").click()
    confirm = page.get_by_role("button", name="Cancel 3 runs")
    confirm.wait_for()
    assert confirm.is_disabled(), "a reason is demanded"
    page.locator(".ask textarea").fill("a mistake")
    confirm.click()
    page.get_by_text("3 runs cancelled.").wait_for()
    assert page.locator(".ask-results li").count() == 3
    page.get_by_role("button", name="Close").click()
    page.get_by_text("No matching runs").wait_for()
    for run_id in runs:
        events = page.request.get(f"{site.url}/runs/{run_id}/events", headers={"authorization": f"Bearer {KEY}"}).text()
        assert "a mistake" in events


def test_a_click_on_the_count_opens_the_one_turn_that_failed(page: Any, site: DraftSite) -> None:
    run_id = start(page, site, "each-line", {"lines": list(range(TURNS))})
    page.goto(f"{site.url}/console/runs/{run_id}")
    page.locator(".frame-head", has_text=f"{TURNS} iterations: {TURNS - 1} completed, 1 failed").wait_for()
    page.locator(".block.ran", has_text="settle").get_by_role("button", name="1 failed").click()
    page.locator(".failure", has_text="divides by zero").wait_for()
    assert f"instance=settle%40each%5B{TURNS // 2}%5D" in page.url
    page.get_by_role("tab", name="Timeline").click()
    page.get_by_text(f"{2 * TURNS + 3} instances").wait_for()
    page.get_by_label("Status of the instances").select_option("failed")
    page.get_by_text("1 instance", exact=True).wait_for()
    page.get_by_role("tab", name="Events").click()
    page.get_by_label("Text in the events").fill("divides by zero")
    page.get_by_label("Text in the events").press("Enter")
    page.locator(".event-row", has_text="node.failed").wait_for()
    assert "text=divides+by+zero" in page.url
    page.go_back()
    page.reload()
    page.locator(".failure", has_text="divides by zero").wait_for()


def test_a_run_is_followed_live_and_run_again_from_a_node_with_other_inputs(page: Any, site: DraftSite) -> None:
    run_id = start(page, site, "ask", {"id": "o-1", "amount": 5})
    page.goto(f"{site.url}/console/runs/{run_id}")
    page.locator(".run-status", has_text="waiting for an answer").wait_for()
    page.locator(".run-question", has_text="Refund 5 for o-1?").wait_for()
    found = page.request.get(f"{site.url}/runs/{run_id}", headers={"authorization": f"Bearer {KEY}"}).json()
    page.request.post(found["pauses"][0]["resume"], data={"decision": "approved", "by": "ada"})
    page.locator(".run-error", has_text="550 mailbox of o-1 is full").wait_for()
    page.get_by_role("button", name="Rerun…").click()
    page.locator("dialog.ask select").select_option(label="the start")
    page.get_by_label("Inputs of the run").fill('{"id": "o-2", "amount": 6}')
    page.get_by_label("Reason").fill("another order")
    page.get_by_role("button", name="Start the new run").click()
    page.locator(".run-question", has_text="Refund 6 for o-2?").wait_for()
    again = page.url.rpartition("/")[2]
    page.goto(f"{site.url}/console/runs/{run_id}?tab=compare&with={again}")
    page.locator("tr.differs", has_text="manager").wait_for()


def test_two_runs_are_compared_once_both_are_read(page: Any, site: DraftSite) -> None:
    run_id, other = (start(page, site, "each-line", {"lines": [1, 2]}) for _ in range(2))
    held: list[Any] = []

    def hold(request: Any) -> None:
        held.append(request)

    page.route(f"**/runs/{other}/summary*", hold)
    page.goto(f"{site.url}/console/runs/{run_id}?tab=compare&with={other}")
    page.get_by_label("The runs are loading").wait_for()
    page.wait_for_function("other => performance.getEntriesByName(`${location.origin}/runs/${other}`).length > 0", arg=other)
    assert page.locator(".differences").count() == 0
    for request in held:
        request.continue_()
    page.get_by_text("All nodes ended with the same status.").wait_for()


def test_the_printed_address_signs_in_once_and_the_root_leads_to_the_console(windows: Windows, site: DraftSite) -> None:
    page = windows.tab(windows.bare(), site.address, ".rows-space .row")
    page.goto(f"{site.url}/")
    page.wait_for_selector(".rows-space .row")
    assert page.url == f"{site.url}/console/"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_rows_that_wait_are_as_high_as_those_that_come(page: Any, site: DraftSite, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/runs?limit=*", hold)
    page.goto(f"{site.url}/console/")
    page.get_by_role("status", name="The runs are loading").wait_for()
    places = "of => [...document.querySelectorAll(of)].slice(0, 8).map((row) => {"
    places += " const { top, left, height } = row.getBoundingClientRect(); return [top, left, height]; })"
    waiting = page.evaluate(places, ".waiting-rows .row")
    page.route("**/runs?limit=*", lambda route: route.continue_())
    for route in held:
        route.continue_()
    page.locator(".rows-space .row").nth(8).wait_for()
    assert page.evaluate(places, ".rows .row") == waiting and len(waiting) == 8


def scrolled_to(page: Any, top: int) -> None:
    """Scrolls the list, which grows while it is read."""
    script = "top => { const list = document.querySelector('.rows'); list.scrollTop = top; return list.scrollTop === top; }"
    page.wait_for_function(script, arg=top)


def test_back_to_the_list_comes_to_the_place_where_it_was_left(page: Any, site: DraftSite) -> None:
    page.goto(f"{site.url}/console/")
    page.locator(".rows-space .row").first.wait_for()
    scrolled_to(page, 12_800)
    row = page.locator(".rows-space .row[aria-rowindex='403']")
    row.wait_for()
    run = row.get_attribute("id")
    page.wait_for_function("() => history.state?.top === 12_800")
    row.locator("a").click()
    page.wait_for_url("**/runs/*")
    page.go_back()
    page.locator(f".rows-space .row.active#{run}").wait_for()
    assert page.locator(".rows").evaluate("one => one.scrollTop") == 12_800
    page.get_by_role("link", name="Approvals").click()
    page.wait_for_selector(".inbox")
    page.get_by_role("link", name="Runs").click()
    page.locator(".rows-space .row").first.wait_for()
    assert page.locator(".rows").evaluate("one => one.scrollTop") == 0, "a link begins at the top"


def test_back_keeps_the_scroll_position_where_the_active_row_is_out_of_view(page: Any, site: DraftSite) -> None:
    page.goto(f"{site.url}/console/")
    page.locator(".rows-space .row").first.wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.locator(".rows-space .row.active[aria-rowindex='3']").wait_for()
    scrolled_to(page, 12_800)
    page.wait_for_function("() => history.state?.top === 12_800")
    page.get_by_role("link", name="Approvals").click()
    page.wait_for_selector(".inbox")
    page.go_back()
    page.locator(".rows-space .row[aria-rowindex='403']").wait_for()
    page.wait_for_function("() => history.state?.top === 12_800 && history.state.active !== ''")
    assert page.locator(".rows").evaluate("one => one.scrollTop") == 12_800


def test_new_runs_do_not_move_the_row_under_the_pointer(page: Any, site: DraftSite) -> None:
    run = start(page, site, "ask", {"id": "seen", "amount": 1})
    page.goto(f"{site.url}/console/?workflow=ask")
    row = page.locator(f"#run-{run}")
    row.hover()
    before = row.bounding_box()
    newer = [start(page, site, "ask", {"id": f"new-{number}", "amount": 1}) for number in range(2)]
    page.get_by_role("button", name="2 new runs").wait_for()
    assert row.bounding_box() == before
    assert page.locator(f"#run-{newer[-1]}").count() == 0
    page.get_by_role("button", name="2 new runs").click()
    page.locator(f"#run-{newer[-1]}[aria-rowindex='2']").wait_for()
    assert page.get_by_role("button", name="new run").count() == 0
    page.keyboard.press("j")
    page.locator(f"#run-{newer[-1]}.active").wait_for()
    page.mouse.move(0, 0)
    last = start(page, site, "ask", {"id": "last", "amount": 1})
    page.locator(f"#run-{last}[aria-rowindex='2']").wait_for()
    page.locator(f"#run-{newer[-1]}.active[aria-rowindex='3']").wait_for()


def test_filters_are_kept_by_name_and_shared_by_their_address(page: Any, site: DraftSite) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{site.url}/console/?status=failed&since=30d")
    saved = page.locator(".filters .kept")
    saved.click()
    page.get_by_role("menuitem", name="Save these filters…").click()
    page.keyboard.type("Night shift")
    page.keyboard.press("Enter")
    saved.filter(has_text="Night shift").wait_for()
    saved.click()
    page.get_by_role("menuitem", name="Copy a link to these filters").click()
    saved.filter(has_text="Link copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"{site.url}/console/?status=failed&since=30d"
    page.goto(f"{site.url}/console/")
    saved.click()
    page.get_by_role("menuitem", name="Night shift").click()
    page.wait_for_url("**/console/?status=failed&since=30d")
    saved.click()
    page.get_by_role("menuitem", name="Forget “Night shift”").click()
    saved.filter(has_text="Saved filters").wait_for()
