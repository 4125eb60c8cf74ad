"""What pages say where something is missing or wrong: addresses, keys, the network, runs that are erased, questions that another
person has answered. Nothing goes blank, and what can be tried again is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from draft_site import KEY, DraftSite
from many_runs import REFUND
from windows import Windows, unfolded

from stepless.adapters.system import SystemClock

WAITING = {"authorization": f"Bearer {KEY}", "prefer": "wait=20"}
CASES = {"large": "<order.n> > 9", "small": "<order.n> < 5", "rest": "else"}
SUM = {"value": "{{ <order.n> + 1 }}"}
ONE = {"type": "transform", "with": {"value": 1}}
JUDGED = {
    "id": "judged",
    "nodes": {
        "order": {"type": "manual"},
        "pick": {"type": "condition", "after": "order", "with": {"cases": CASES}},
        "sum": {"type": "transform", "after": ["pick.large", "pick.small"], "join": {"mode": "any"}, "with": SUM},
        "again": {"type": "loop", "after": "sum", "with": {"while": "<loop.index> < 2", "body": {"nodes": {"x": ONE}}}},
    },
    "edges": [{"source": "sum", "target": "again", "condition": {"equals": 4}}],
}
RECENT = re.compile("just now|min ago")
STOP = {"type": "fail", "after": "begin", "with": {"code": "no_luck"}}
CALLED = {"id": "called", "nodes": {"begin": {"type": "manual"}, "stop": STOP}}
CALLS = {
    "id": "calls",
    "nodes": {
        "begin": {"type": "manual"}, "kid": {"type": "workflow", "after": "begin", "with": {"workflow": "called"}},
        "saved": {"type": "transform", "after": "kid.error", "with": {"value": 1}},
    },
}  # fmt: skip
ASKS = {
    "id": "asks",
    "nodes": {
        "begin": {"type": "manual"}, "boss": {"type": "approval", "after": "begin", "with": {"message": "Pay <begin.amount>?"}},
        "later": {"type": "wait", "after": "boss.approved", "with": {"for": "1h"}},
    },
}  # fmt: skip
DOCUMENTS = (JUDGED, CALLED, CALLS, ASKS, {**REFUND, "id": "ask"})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftSite]:
    folder = tmp_path_factory.mktemp("states")
    for document in DOCUMENTS:
        (folder / f"{document['id']}.json").write_text(json.dumps(document))
    made = DraftSite(folder)
    yield made
    made.close()


def start(site: DraftSite, workflow: str, inputs: Any) -> str:
    answer = site.client.post(f"/workflows/{workflow}/runs", json={"inputs": inputs}, headers=WAITING)
    return str(answer.json()["run_id"])


def test_an_address_of_nothing_says_so_and_leads_on(page: Any, site: DraftSite) -> None:
    for address in ("/runs/%E0%A4%A", "/workflows/%", "/drafts/%zz", "/workflows/judged/versions/abc", "/nothing/here"):
        page.goto(f"{site.url}/console{address}")
        page.get_by_text("Page not found.").wait_for()
        assert page.locator("nav[aria-label=Main] a").count() == 4, address
    page.get_by_role("link", name="all workflows").click()
    page.wait_for_selector("table")


def test_a_key_that_is_refused_is_said_to_be_and_another_one_may_be_entered(windows: Windows, site: DraftSite) -> None:
    page = windows.tab(windows.bare(), f"{site.url}/console/workflows", "text=Sign in to Stepless")
    page.get_by_label("API key").fill("mistyped")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="The server rejected this key").wait_for()
    key = site.client.post("/keys", json={"name": "eve", "roles": ["read"]}).json()
    page.get_by_label("API key").fill(key["secret"])
    page.keyboard.press("Enter")
    page.wait_for_selector("table")
    site.client.delete(f"/keys/{key['id']}").raise_for_status()
    page.get_by_role("button", name="Refresh").click()
    page.get_by_role("heading", name="Your sign-in has ended").wait_for()


def test_a_page_whose_script_does_not_come_leaves_the_way_to_the_others(page: Any, site: DraftSite) -> None:
    page.goto(f"{site.url}/console/")
    page.get_by_role("heading", name="No runs yet").or_(page.locator(".rows-space .row").first).wait_for()
    page.context.set_offline(True)
    page.get_by_role("link", name="Errors").click()
    page.get_by_role("heading", name="Could not load this page.").wait_for()
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("link", name="Runs").click()
    page.wait_for_selector(".filters")
    page.get_by_role("link", name="Errors").click()
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Errors").wait_for()


def test_each_part_of_a_run_that_cannot_be_read_is_tried_again(page: Any, site: DraftSite) -> None:
    run_id = start(site, "ask", {"id": "o-1", "amount": 5})
    page.goto(f"{site.url}/console/runs/{run_id}")
    page.wait_for_selector(".run-question")
    page.context.set_offline(True)
    for tab in ("Timeline", "Events", "Cost"):
        page.get_by_role("tab", name=tab).click()
        page.locator(".run-view").get_by_role("button", name="Try again").wait_for()
    page.locator(".stale", has_text="Last updated at").wait_for()
    page.context.set_offline(False)
    page.locator(".run-view").get_by_role("button", name="Try again").click()
    page.wait_for_selector(".costs")
    page.locator(".feed.live").wait_for()
    assert page.locator(".stale").count() == 0


def test_a_server_that_is_busy_says_what_to_do(page: Any, site: DraftSite) -> None:
    page.route("**/runs?*", lambda route: route.fulfill(status=429, body="slow down"))
    page.goto(f"{site.url}/console/")
    page.get_by_text("The server answered 429. The server or its proxy is busy or restarting.").wait_for()
    page.unroute("**/runs?*")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="No runs yet").or_(page.locator(".rows-space .row").first).wait_for()


def test_a_run_that_is_erased_while_it_is_open_stays_as_it_was_read(page: Any, site: DraftSite) -> None:
    run_id = start(site, "judged", {"n": 1})
    page.goto(f"{site.url}/console/runs/{run_id}?node=pick")
    page.locator(".panel .facts").wait_for()
    site.client.delete(f"/runs/{run_id}").raise_for_status()
    page.get_by_role("tab", name="Events").click()
    page.get_by_text(f"The run {run_id} was erased.").wait_for()
    assert page.locator(".run-head").is_visible() and page.locator(".panel .facts").is_visible()
    page.reload()
    page.get_by_role("heading", name=f"Could not load the run {run_id}.").wait_for()


def test_a_question_that_another_person_has_answered_leaves_the_list_and_says_so(page: Any, site: DraftSite) -> None:
    run_id = start(site, "asks", {"amount": 7})
    page.goto(f"{site.url}/console/approvals")
    question = unfolded(page.locator(".question", has_text="Pay 7?"))
    question.get_by_label("Comment").fill("too late")
    [pause] = site.client.get(f"/runs/{run_id}").json()["pauses"]
    httpx.post(pause["resume"], json={"decision": "approved", "by": "bo"}, trust_env=False).raise_for_status()
    question.get_by_role("button", name="Reject").click()
    page.get_by_text("asks: This was already decided: approved by bo.").wait_for()
    question.wait_for(state="detached")


def test_a_node_tells_its_expressions_its_exit_and_the_run_that_it_has_started(page: Any, site: DraftSite) -> None:
    run_id = start(site, "judged", {"n": 3})
    page.goto(f"{site.url}/console/runs/{run_id}?node=pick")
    told = page.locator(".told > div")
    told.nth(2).wait_for()
    assert [row.replace("\n", " ") for row in told.all_inner_texts()] == [
        "cases.large <order.n> > 9 false", "cases.small <order.n> < 5 true", "cases.rest else not evaluated",
    ]  # fmt: skip
    assert "Exit\nsmall" in page.locator(".panel .facts").inner_text()
    page.locator(".react-flow__edge[data-id='pick>small>sum']:not(.untaken)").wait_for(state="attached")
    page.locator(".react-flow__edge[data-id='pick>large>sum'].untaken").wait_for(state="attached")
    page.goto(f"{site.url}/console/runs/{run_id}?node=again")
    told.first.wait_for()
    assert [row.replace("\n", " ") for row in told.all_inner_texts()] == ["while <loop.index> < 2 false before iteration 2"]
    page.goto(f"{site.url}/console/runs/{run_id}?node=sum")
    page.get_by_role("region", name="Conditions").wait_for()
    told = page.get_by_role("region", name="Conditions").locator(".told > div")
    assert [row.replace("\n", " ") for row in told.all_inner_texts()] == ["to again equals 4 4 held"]
    parent = start(site, "calls", {})
    page.goto(f"{site.url}/console/runs/{parent}?node=kid")
    page.locator(".facts", has_text="Child run").get_by_role("link").click()
    page.locator(".run-head", has_text="child of").wait_for()
    page.locator(".run-error a", has_text="stop").click()
    page.get_by_role("complementary", name="Node stop").wait_for()
    page.locator(".run-facts", has_text="child of").get_by_role("link").last.click()
    page.get_by_role("complementary", name="Node kid").wait_for()
    again = site.client.post(f"/runs/{run_id}/rerun", json={"by": "ada", "reason": "once more"}).json()["run_id"]
    page.goto(f"{site.url}/console/runs/{again}")
    page.locator(".run-facts", has_text="by ada").get_by_role("link", name="compare").click()
    page.get_by_text("All nodes ended with the same status.").wait_for()


def test_a_run_is_read_without_a_mouse(page: Any, site: DraftSite) -> None:
    run_id = start(site, "judged", {"n": 3})
    page.goto(f"{site.url}/console/runs/{run_id}")
    page.wait_for_selector(".react-flow__node")
    page.locator(".flow").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.get_by_role("complementary", name="Node pick").wait_for()
    page.keyboard.press("]")
    page.get_by_role("complementary", name="Node sum").wait_for()
    page.keyboard.press("[")
    page.get_by_role("complementary", name="Node pick").wait_for()
    page.keyboard.press("Escape")
    page.locator(".panel").wait_for(state="detached")
    page.get_by_role("tab", name="Events").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Event 4").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Event 4", exact=True).and_(page.locator("pre")).wait_for()
    assert page.url.endswith("tab=events&event=4")


def test_a_range_of_time_is_zoomed_by_its_buttons(page: Any, site: DraftSite) -> None:
    run_id = start(site, "ask", {"id": "o-2", "amount": 5})
    [pause] = site.client.get(f"/runs/{run_id}").json()["pauses"]
    httpx.post(pause["resume"], json={"decision": "approved", "by": "bo"}, trust_env=False).raise_for_status()
    page.goto(f"{site.url}/console/runs/{run_id}?tab=timeline")
    page.locator(".run-error").wait_for()  # after a wait of two seconds
    zoom = page.get_by_role("group", name="Range of time")
    assert zoom.get_by_role("button", name="Earlier").is_disabled()
    zoom.get_by_role("button", name="Zoom in").press("Enter")
    page.wait_for_url("**from=*")
    zoom.get_by_role("button", name="Earlier").press("Enter")
    page.wait_for_url("**from=0&*")
    zoom.get_by_role("button", name="Zoom out").press("Enter")
    page.get_by_text("Drag over the scale to zoom").wait_for()


def test_runs_that_are_chosen_are_counted_before_they_are_changed(page: Any, site: DraftSite) -> None:
    start(site, "judged", {"n": 3})
    start(site, "ask", {"id": "o-3", "amount": 5})
    page.goto(f"{site.url}/console/")
    page.locator(".rows-space .row").nth(1).wait_for()
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    page.get_by_text("2 runs chosen").wait_for()
    page.get_by_role("button", name="Cancel…").click()
    page.locator("dialog", has_text="1 of 2 runs would change.").wait_for()
    page.get_by_role("button", name="Cancel 1 run").wait_for()


def test_a_machine_whose_clock_is_wrong_shows_and_counts_by_that_of_the_server(page: Any, site: DraftSite) -> None:
    run_id = start(site, "called", {})
    page.add_init_script("const real = Date.now.bind(Date); Date.now = () => real() + 40 * 86_400_000;")
    asked: list[str] = []
    page.on("request", lambda request: asked.extend(re.findall(r"(?<!console)/errors\?since=(\d+)", request.url)))
    page.goto(f"{site.url}/console/errors?since=24h")
    group = page.locator(".group", has_text="no_luck")
    group.locator("time", has_text=RECENT).first.wait_for()
    page.locator("nav a", has_text="Errors").locator(".bar-count").wait_for()
    days = {round((SystemClock().now_ms() - int(since)) / 86_400_000) for since in asked[-2:]}
    assert days == {1}, "the count in the head is of what is listed"
    page.goto(f"{site.url}/console/?since=1h&workflow=called")
    page.locator(".rows-space .row time", has_text=RECENT).first.wait_for()
    page.goto(f"{site.url}/console/runs/{run_id}")
    page.locator(".run-facts time", has_text=RECENT).wait_for()


def test_every_page_leads_to_every_other_by_typing(page: Any, site: DraftSite) -> None:
    run_id = start(site, "ask", {"id": "o-9", "amount": 5})
    page.goto(f"{site.url}/console/")
    page.wait_for_selector(".filters")
    for typed, shown in (("approv", ".inbox"), ("ask", ".workflow-head"), (run_id, ".run-head"), ("err", ".errors")):
        page.keyboard.press("Control+k")
        page.locator(".picker input").fill(typed)
        page.locator(".picker li").first.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_selector(shown)
        page.wait_for_selector("dialog", state="detached")
    page.locator("body").press("?")
    page.get_by_role("dialog", name="Keys").get_by_text("go to a page, a workflow, a run").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Keys").wait_for(state="detached")
