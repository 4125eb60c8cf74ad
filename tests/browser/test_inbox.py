"""The pages of open questions and of failures in a real browser, against a real `stepless dev`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from axe import violations
from draft_site import KEY, DraftSite

from stepless.limits import MAX_LISTED_APPROVALS

pytestmark = pytest.mark.quick

WAITING = {"authorization": f"Bearer {KEY}", "prefer": "wait=20"}
ASK = {
    "id": "refund",
    "nodes": {
        "order": {"type": "manual"},
        "manager": {"type": "approval", "after": "order", "with": {
            "message": "Refund <order.amount> for order <order.id>?", "approvers": ["ada@example.com"], "timeout": "2d",
            "fields": {
                "amount": {"type": "integer", "minimum": 1, "maximum": 500, "title": "Amount", "description": "In euros"},
                "goods": {"type": "boolean", "title": "Goods were returned", "default": False},
                "how": {"enum": ["card", "voucher"], "title": "Paid by"},
            },
        }},
        "pay": {"type": "transform", "after": "manager.approved", "with": {"value": "<manager.amount>"}},
    },
}  # fmt: skip
CHECK = {
    "id": "check",
    "nodes": {
        "begin": {"type": "manual"},
        "price": {"type": "transform", "after": "begin", "with": {"value": "{{ 100 / <begin.count> }}"}},
    },
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftSite]:
    folder = tmp_path_factory.mktemp("inbox")
    for document in (ASK, CHECK):
        (folder / f"{document['id']}.json").write_text(json.dumps(document))
    made = DraftSite(folder)
    yield made
    made.close()


def start(page: Any, site: DraftSite, workflow: str, inputs: Any) -> str:
    answer = page.request.post(f"{site.url}/workflows/{workflow}/runs", data={"inputs": inputs}, headers=WAITING)
    return str(answer.json()["run_id"])


def seen(page: Any, name: str) -> list[str]:
    """What axe finds, in each width and theme, none of which may scroll sideways. Where STEPLESS_PICTURES names a folder,
    pictures are kept in it."""
    found = []
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        for theme in ("dark", "light"):
            page.emulate_media(color_scheme=theme)
            look = f"{name}-{width}-{theme}"
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), look
            if folder := os.environ.get("STEPLESS_PICTURES"):
                page.screenshot(path=f"{folder}/{look}.png")
            found += violations(page, look)
    return found


def test_a_question_is_answered_in_place_and_its_decision_listed(page: Any, site: DraftSite) -> None:
    page.goto(f"{site.url}/console/approvals")
    page.get_by_text("No open questions").wait_for()
    assert seen(page, "approvals-empty") == []
    run_id = start(page, site, "refund", {"id": "o-17", "amount": 120})
    page.reload()
    question = page.locator(".question", has_text="Refund 120 for order o-17?")
    question.wait_for()
    page.locator(".bar-count", has_text="1").wait_for()
    assert seen(page, "approvals") == []
    question.get_by_label("Amount").fill("0")
    question.get_by_role("button", name="Approve").click()
    question.locator("input[aria-invalid=true]").wait_for()
    assert question.locator(".fault").all_inner_texts() != []
    question.get_by_label("Amount").fill("90")
    question.get_by_label("Goods were returned").check()
    question.get_by_label("Paid by").select_option(label="voucher")
    question.get_by_label("Comment").fill("within policy")
    question.get_by_label("Your name").fill("Ada")
    question.get_by_role("button", name="Approve").click()
    page.get_by_text("No open questions").wait_for()
    page.get_by_role("link", name="Decided").click()
    page.locator(".decisions li").first.filter(has_text="within policy").wait_for()
    assert "approved by Ada" in page.locator(".decisions li").first.inner_text()
    assert seen(page, "decisions") == []
    run = page.request.get(f"{site.url}/runs/{run_id}", headers=WAITING).json()
    assert run["status"] == "completed" and run["outputs"]["pay"] == 90


def test_every_open_question_can_be_reached_and_their_number_is_said(page: Any, site: DraftSite) -> None:
    runs = [start(page, site, "refund", {"id": f"o-{number:03}", "amount": 5}) for number in range(MAX_LISTED_APPROVALS + 5)]
    page.goto(f"{site.url}/console/approvals")
    page.get_by_text(f"{MAX_LISTED_APPROVALS} of {len(runs)} questions are shown.").wait_for()
    assert page.locator(".question").count() == MAX_LISTED_APPROVALS
    page.get_by_role("button", name="Show more").click()
    last = page.locator(".question", has_text=f"order o-{len(runs) - 1:03}?")
    last.locator(".question-open").click()
    last.get_by_label("Your name").fill("Ada")
    assert page.locator(".question").count() == len(runs)
    assert page.get_by_role("button", name="Show more").count() == 0
    last.get_by_role("button", name="Reject").click()
    last.wait_for(state="detached")
    assert page.locator(".question").count() == len(runs) - 1, "what was read on stays"
    for run_id in runs[:-1]:
        page.request.post(f"{site.url}/runs/{run_id}/cancel", data={}, headers=WAITING)
    page.get_by_text("No open questions").wait_for()


def test_several_questions_are_answered_at_once_and_each_is_recorded_alone(page: Any, site: DraftSite) -> None:
    runs = [start(page, site, "refund", {"id": f"many-{number}", "amount": 40 + number}) for number in range(4)]
    page.goto(f"{site.url}/console/approvals?workflow=refund&due=7d")
    rows = page.locator(".question", has_text="many-")
    rows.nth(3).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    page.get_by_text("3 questions chosen").wait_for()
    assert seen(page, "approvals-chosen") == []
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name="Answer 3 questions")
    assert dialog.get_by_role("button", name="Reject").evaluate("one => one === document.activeElement")
    dialog.get_by_label("Comment").fill("outside of the policy")
    dialog.get_by_label("Your name").fill("Ada")
    assert seen(page, "approvals-together") == []
    dialog.get_by_role("button", name="Reject").click()
    dialog.get_by_text("3 answers recorded.").wait_for()
    dialog.get_by_role("button", name="Close").last.click()
    rows.nth(1).wait_for(state="detached")
    entries = page.request.get(f"{site.url}/audit?verb=decide&limit=10", headers=WAITING).json()["entries"]
    made = [each for each in entries if each["target"] in runs]
    assert {each["details"]["comment"] for each in made} == {"outside of the policy"} and len(made) == 3
    page.keyboard.press("ArrowDown")
    page.keyboard.press("a")
    approve = page.locator(".question.open").get_by_role("button", name="Approve")
    assert approve.evaluate("one => one === document.activeElement"), "no single key decides"
    page.keyboard.press("Enter")
    page.get_by_text("No matching questions").wait_for()
    found = [page.request.get(f"{site.url}/runs/{run_id}", headers=WAITING).json() for run_id in runs]
    assert [run["outputs"] for run in found].count({"pay": None}) == 1, "one was approved"


def test_questions_are_filtered_by_workflow_deadline_and_approver(page: Any, site: DraftSite) -> None:
    run_id = start(page, site, "refund", {"id": "filtered", "amount": 1})
    page.goto(f"{site.url}/console/approvals")
    row = page.locator(".question", has_text="filtered")
    row.wait_for()
    page.get_by_label("Due").select_option(label="Due in 24 hours")
    page.get_by_text("No matching questions").wait_for()
    page.get_by_label("Due").select_option(label="Due in 7 days")
    row.wait_for()
    page.get_by_role("button", name="Assigned to me").click()
    page.get_by_text("No matching questions").wait_for()
    assert page.url.endswith("?due=7d&mine=1")
    assert seen(page, "approvals-none") == []
    page.get_by_role("link", name="Show all questions").click()
    row.wait_for()
    page.request.post(f"{site.url}/runs/{run_id}/cancel", data={}, headers=WAITING)


def test_decisions_are_read_on(page: Any, site: DraftSite) -> None:
    """Of three pages: a page may have none that were made, and still another one after it."""
    made = [
        {"run_id": f"run_{n}", "workflow": "refund", "pause": "manager", "decision": "approved", "by": "Ada",
         "comment": f"number {n}", "at": f"2026-11-26T10:00:{n:02}.000Z"} for n in range(3)
    ]  # fmt: skip
    pages = {"": ([made[0]], "a"), "a": ([], "b"), "b": (made[1:], None)}

    def answer(route: Any) -> None:
        decisions, cursor = pages[route.request.url.partition("cursor=")[2]]
        route.fulfill(json={"decisions": decisions, "cursor": cursor})

    page.route("**/approvals/decisions*", answer)
    page.goto(f"{site.url}/console/approvals?show=decided")
    more = page.get_by_role("button", name="Show more")
    for _ in range(2):
        more.click()
    page.get_by_text("number 2").wait_for()
    more.wait_for(state="detached")
    assert page.locator(".decisions li").count() == 3


def test_a_group_of_failures_is_run_again_and_leaves_when_that_succeeds(page: Any, site: DraftSite) -> None:
    runs = [start(page, site, "check", {"count": 0}) for _ in range(3)]
    page.goto(f"{site.url}/console/errors?since=24h")
    group = page.locator(".group")
    group.wait_for()
    group.get_by_role("button", name="3 runs").click()
    assert group.locator(".group-runs a").count() == 3
    assert seen(page, "errors") == []
    group.get_by_role("button", name="Rerun…").click()
    page.locator(".ask textarea").fill("mended")
    page.get_by_role("button", name="Rerun 3 runs").click()
    page.get_by_text("3 runs started again.").wait_for()
    assert seen(page, "errors-rerun") == []
    page.get_by_role("button", name="Close").click()
    again = set[str]()
    while len(again) < 3:  # of each run and its rerun the last one counts: what is run again is never done twice
        failed = page.request.get(f"{site.url}/errors?workflow=check", headers=WAITING).json()
        again = {run for one in failed["errors"] for run in one["runs"]} - set(runs)
    group.get_by_role("button", name="3 runs").wait_for()
    failed = page.request.get(f"{site.url}/runs?workflow=check&status=failed", headers=WAITING).json()["runs"]
    for run_id in {one["id"] for one in failed} - set(runs):
        found = page.request.post(f"{site.url}/runs/{run_id}/rerun", data={"inputs": {"count": 4}}, headers=WAITING)
        assert found.status == 202
    page.get_by_text("No open failures").wait_for()
    page.locator("nav a", has_text="Errors").locator(".bar-count").wait_for(state="detached")
    assert seen(page, "errors-empty") == []
