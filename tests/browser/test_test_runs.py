"""Two people try a draft before it is published: pins, a run to a node, and what both see of it."""

from __future__ import annotations

from typing import Any

import axe
import pytest
from draft_site import DraftSite
from windows import Windows, block, canvas, choose, until

LINE = {
    "nodes": {
        "order": {
            "type": "manual",
            "inputs": {"type": "object", "properties": {
                "order_id": {"type": "string", "title": "Order"}, "amount": {"type": "integer"}, "vip": {"type": "boolean"},
            }},
        },
        "score": {"type": "http", "after": "order", "with": {"url": "http://127.0.0.1:9/score", "body": "<order>"}},
        "risk": {"type": "condition", "after": "score", "with": {"cases": {"high": "<score.body.risk> > 5", "low": "else"}}},
        "refuse": {"type": "transform", "after": "risk.high", "with": {"value": "refused at <score.body.risk>"}},
        "pay": {"type": "transform", "after": "risk.low", "with": {"value": "<order.amount> for <order.order_id>"}},
    },
}  # fmt: skip
ROLES = ("read", "edit", "run")


@pytest.fixture
def pair(draft_site: DraftSite, windows: Windows, workflow: str) -> tuple[Any, Any]:
    draft_site.open(workflow, {**LINE, "id": workflow})
    ada, bo = draft_site.person("ada", *ROLES), draft_site.person("bo", *ROLES)
    pages = windows.open(ada, ada.page(workflow)), windows.open(bo, bo.page(workflow))
    for page in pages:
        page.wait_for_selector(".head-people li")
    return pages


def status(page: Any, name: str, wanted: str) -> None:
    block(page, name).locator(f".block-kind[data-status={wanted}]").wait_for()


def test_two_people_try_a_draft_with_pins_and_up_to_a_node(draft_site: DraftSite, pair: tuple[Any, Any], workflow: str) -> None:
    ada, bo = pair
    canvas(ada)
    ada.keyboard.press("Control+Enter")
    dialog = ada.locator("dialog[open]")
    dialog.get_by_label("Order", exact=True).fill("A-17")
    dialog.get_by_label("amount").fill("120")
    assert axe.violations(ada, "the dialog of a test run") == []
    dialog.get_by_role("button", name="Start the test run").click()
    dialog.get_by_text("Pin their outputs").wait_for()
    dialog.get_by_role("button", name="Pin score").click()
    dialog.get_by_label("Output", exact=True).fill(f'"{"x" * 260_000}"')
    dialog.get_by_role("button", name="Pin", exact=True).click()
    dialog.get_by_text("This output takes 260,002 bytes. A pin has at most 256,000.").wait_for()
    dialog.get_by_label("Output", exact=True).fill('{"status": 200, "body": {"risk": 3}}')
    assert axe.violations(ada, "the dialog of a pin") == []
    dialog.get_by_role("button", name="Pin", exact=True).click()
    block(bo, "score").locator(".block-pin").wait_for()

    ada.keyboard.press("Control+Enter")
    assert dialog.get_by_label("Order", exact=True).input_value() == "A-17", "the inputs are kept in this browser"
    dialog.get_by_role("button", name="Start the test run").click()
    for page in (ada, bo):
        for name in ("order", "score", "risk", "pay"):
            status(page, name, "completed")
        status(page, "refuse", "skipped")
        page.locator(".testbar .status.completed").wait_for()
        assert "by ada" in page.locator(".testbar").inner_text()
    choose(ada, "pay")
    ada.locator(".node-tests").get_by_text("120 for A-17").wait_for()
    assert axe.violations(ada, "a draft with a test run") == []

    choose(bo, "score")
    canvas(bo)
    bo.keyboard.press("p")
    bo.locator("dialog[open]").get_by_label("Output", exact=True).fill('{"body": {"risk": 9}}')
    bo.locator("dialog[open]").get_by_role("button", name="Pin", exact=True).click()
    choose(bo, "risk")
    canvas(bo)
    bo.keyboard.press("r")
    assert bo.locator("dialog[open]").get_by_label("Stop after").input_value() == "risk"
    bo.locator("dialog[open]").get_by_label("Order", exact=True).fill("B-1")
    bo.locator("dialog[open]").get_by_role("button", name="Start the test run").click()
    for page in (ada, bo):
        until(page, "() => document.querySelector('.testbar')?.textContent.includes('by bo')")
        status(page, "risk", "completed")
        assert block(page, "pay").locator("[data-status]").count() == 0, "nothing ran after it"
    assert draft_site.document(workflow) == {"id": workflow, **LINE}, "a pin is no part of the document"

    choose(ada, "score")
    canvas(ada)
    ada.keyboard.press("p")
    dialog.get_by_role("button", name="Unpin").click()
    block(bo, "score").locator(".block-pin").wait_for(state="detached")
    canvas(ada)
    ada.keyboard.press("Control+z")
    block(bo, "score").locator(".block-pin").wait_for()

    bo.locator(".testbar a").click()
    bo.locator(".run-head").get_by_text("pinned: score").wait_for()
    bo.locator(".react-flow__node").first.wait_for()
    assert "stops after risk" in bo.locator(".run-head").inner_text()


def test_a_test_run_begins_at_a_node_with_the_outputs_of_a_published_run_and_at_one_entry(
    draft_site: DraftSite, windows: Windows, workflow: str
) -> None:
    nodes = {
        "night": {"type": "schedule", "with": {"rate": "1d"}}, "begin": {"type": "manual"},
        "first": {"type": "transform", "after": "begin", "with": {"value": "<begin.n>"}},
        "last": {"type": "transform", "after": "first", "with": {"value": "{{ <first> + 1 }}"}},
    }
    draft_site.client.put(f"/workflows/{workflow}", json={"id": workflow, "nodes": nodes}).raise_for_status()
    body, wait = {"inputs": {"n": 41}, "entry": "begin"}, {"prefer": "wait=20"}
    run = draft_site.client.post(f"/workflows/{workflow}/runs", json=body, headers=wait).json()
    assert run["outcome"]["status"] == "completed", run
    draft_site.client.post(f"/drafts/{workflow}").raise_for_status()
    ada = draft_site.person("ada", *ROLES)
    page = windows.open(ada, ada.page(workflow))
    choose(page, "last")
    canvas(page)
    page.keyboard.press("Shift+R")
    dialog = page.locator("dialog[open]")
    assert dialog.get_by_label("Entry").input_value() == "begin", "what is started by hand comes first"
    dialog.get_by_label("With the outputs of").select_option(run["run_id"])
    assert dialog.get_by_label("Begin at").input_value() == "last"
    dialog.get_by_role("button", name="Start the test run").click()
    status(page, "last", "completed")
    assert block(page, "night").locator("[data-status=completed]").count() == 0
    page.locator(".node-tests").get_by_text("42").wait_for()
