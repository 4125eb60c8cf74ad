"""Numbers that people type in the console reach a run with every digit: starts, reruns, answers, test runs, webhooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from draft_site import KEY, DraftSite
from windows import WITH_TOKEN, Windows, block, canvas, choose, unfolded, until

WAITING = {"authorization": f"Bearer {KEY}", "prefer": "wait=20"}
BIG = 12345678901234567890  # above 2^53: a double reads it as 12345678901234567168
EXACT = f'{{"id": {BIG}, "share": 1.0, "list": [{BIG + 1}, 2.50], "#": "1.0"}}'
DIGITS = (f'"id":{BIG}', '"share":1.0', f'"list":[{BIG + 1},2.5]', '"#":"1.0"')
ASK: dict[str, Any] = {
    "id": "exact",
    "nodes": {
        "begin": {"type": "manual", "inputs": {"type": "object", "properties": {
            "id": {"type": "integer", "title": "Number"}, "share": {"type": "number", "title": "Share"},
            "rest": {"title": "Rest"}}}},
        "shop": {"type": "webhook", "with": {"path": "/exact", "auth": "none", "response": "wait"}},
        "manager": {"type": "approval", "after": "begin", "with": {
            "message": "Which?", "timeout": "2d", "fields": {
                "account": {"type": "integer", "title": "Account"}, "rate": {"type": "number", "title": "Rate"}}}},
        "pay": {"type": "transform", "after": "manager.approved", "with": {"value": "<manager.account>"}},
        "taken": {"type": "transform", "after": "shop", "with": {"value": "<shop.body>"}},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftSite]:
    folder = tmp_path_factory.mktemp("exact")
    (folder / "exact.json").write_text(json.dumps(ASK))
    made = DraftSite(folder)
    yield made
    made.close()


def events(page: Any, site: DraftSite, kind: str) -> str:
    """The events of one type of the run that the page shows, as the server writes them."""
    page.wait_for_url("**/console/runs/run_*")
    run = page.url.rpartition("/")[2].partition("?")[0]
    answer = page.request.get(f"{site.url}/runs/{run}/events?type={kind}&limit=500", headers=WAITING)
    return str(answer.text()).replace(", ", ",").replace(": ", ":")


def test_digits_are_kept_from_a_form_a_rerun_and_an_answer(page: Any, site: DraftSite) -> None:
    page.goto(f"{site.url}/console/workflows/exact/start?entry=begin")
    page.get_by_label("Number").fill(str(BIG))
    page.get_by_label("Share").fill("1.0")
    page.get_by_label("Rest").fill(EXACT)
    page.get_by_role("button", name="Start the run").click()
    for part in DIGITS:
        assert part in events(page, site, "run.started"), part
    page.get_by_role("tab", name="Values").click()
    page.get_by_role("group", name="Inputs").get_by_text(str(BIG)).first.wait_for()

    page.goto(f"{site.url}/console/workflows/exact/start?entry=begin")
    page.get_by_role("button", name="As the last run").click()
    until(page, f"() => [...document.querySelectorAll('.schema-field input')].some(one => one.value === '{BIG}')")
    page.get_by_role("button", name="Write JSON").click()
    assert f'"share": 1.0,\n  "rest": {{\n    "id": {BIG}' in page.get_by_role("textbox", name="JSON").input_value()
    page.get_by_role("button", name="Start the run").click()
    for part in DIGITS:
        assert part in events(page, site, "run.started"), part

    page.get_by_role("button", name="Rerun…").click()
    text = page.get_by_label("Inputs of the run")
    assert f'"id": {BIG}' in text.input_value() and '"share": 1.0' in text.input_value()
    before = page.url
    text.fill(f'{{"id": {BIG + 2}, "share": 3.0}}')
    page.get_by_label("Reason").fill("another number")
    page.get_by_role("button", name="Start the new run").click()
    until(page, f"() => location.href !== {json.dumps(before)}")
    assert f'"inputs":{{"id":{BIG + 2},"share":3.0}}' in events(page, site, "run.started")

    last = page.url.rpartition("/")[2].partition("?")[0]
    page.goto(f"{site.url}/console/approvals")
    question = unfolded(page.locator(".question", has=page.locator(f"a[href*='{last}']")))
    question.get_by_label("Account").fill(str(BIG))
    question.get_by_label("Rate").fill("1.0")
    question.get_by_label("Your name").fill("Ada")
    question.get_by_role("button", name="Approve").click()
    question.wait_for(state="detached")
    page.goto(f"{site.url}/console/runs/{last}")
    page.locator(".run-status", has_text="completed").wait_for()
    done = events(page, site, "node.completed")
    assert f'"account":{BIG}' in done and '"rate":1.0' in done and f'"output":{BIG}' in done


def test_digits_are_kept_by_a_test_run_a_pin_and_a_webhook(windows: Windows, page: Any, site: DraftSite) -> None:
    page.goto(f"{site.url}/console/workflows/exact/webhooks")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("textbox", name="Body").fill(EXACT)
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator(".try-answer b").first.wait_for()
    page.locator(".try-answer a").first.click()
    for part in DIGITS:
        assert part in events(page, site, "node.completed"), part

    site.open("tried", {"id": "tried", "nodes": {
        "begin": {"type": "manual"}, "score": {"type": "http", "after": "begin", "with": {"url": "http://127.0.0.1:9/"}},
        "sum": {"type": "transform", "after": "score", "with": {"value": ["<begin.id>", "<score>"]}}}})  # fmt: skip
    scope = windows.bare()
    scope.add_init_script(WITH_TOKEN.format(KEY))
    editor = scope.new_page()
    editor.goto(f"{site.url}/console/drafts/tried")
    choose(editor, "score")
    canvas(editor)
    editor.keyboard.press("p")
    dialog = editor.locator("dialog[open]")
    dialog.get_by_label("Output", exact=True).fill(EXACT)
    dialog.get_by_role("button", name="Pin", exact=True).click()
    block(editor, "score").locator(".block-pin").wait_for()
    canvas(editor)
    editor.keyboard.press("Control+Enter")
    dialog.get_by_label("Inputs", exact=True).fill(EXACT)
    dialog.get_by_role("button", name="Start the test run").click()
    editor.locator(".testbar .status.completed").wait_for()
    editor.locator(".testbar a").click()
    done = events(editor, site, "node.completed")
    for part in DIGITS:
        assert part in events(editor, site, "run.started"), part
        assert part in done, part
    assert f'"output":[{BIG},{{"id":{BIG}' in done
    shown = editor.get_by_role("table", name="Events").get_by_role("row").filter(has_text="run.started")
    editor.get_by_role("tab", name="Events").click()
    assert str(BIG) in shown.inner_text()
    shown.click()
    assert f'"id": {BIG}' in editor.locator(".event-whole").inner_text()
