"""The pages of workflows in a real browser: health, versions, a start, schedules, webhooks that the page signs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe import violations

KEY = {"authorization": "Bearer key", "prefer": "wait=20"}
SECRET = "whisper"
INPUTS = {
    "type": "object", "required": ["order", "amount"],
    "properties": {
        "order": {"type": "string", "title": "Order", "minLength": 3},
        "amount": {"type": "integer", "minimum": 1, "title": "Amount", "description": "In cents"},
        "currency": {"enum": ["EUR", "USD"], "default": "EUR", "title": "Currency"},
        "note": {"type": "string", "maxLength": 500, "title": "Note"},
    },
}  # fmt: skip
REFUND: dict[str, Any] = {
    "id": "refund",
    "name": "Refund approval",
    "env": ["SHOP_SECRET"],
    "nodes": {
        "begin": {"type": "manual", "inputs": INPUTS},
        "shop": {"type": "webhook", "with": {"path": "/shop", "auth": {"hmac": "${SHOP_SECRET}"}, "response": "wait", "schema": {
            "type": "object", "required": ["amount"], "properties": {"amount": {"type": "integer", "minimum": 1}}}}},
        "night": {"type": "schedule", "with": {"cron": "15 2 * * *", "timezone": "Europe/Berlin", "catch_up": "last"}},
        "taken": {"type": "transform", "after": ["begin", "shop"], "join": {"mode": "any"}, "with": {"value": 1}},
        "said": {"type": "respond", "after": "taken", "with": {"status": 201, "body": {"thanks": True}}},
    },
}  # fmt: skip
CHECK = {
    "id": "check",
    "nodes": {
        "begin": {"type": "manual"},
        "price": {"type": "transform", "after": "begin", "with": {"value": "{{ 100 / <begin.count> }}"}},
    },
}
WIDTHS = (1440, 1024, 390)


class Dev:
    """`stepless dev` in a process of its own, over an empty folder."""

    def __init__(self, folder: Path) -> None:
        env = {**os.environ, "STEPLESS_API_KEY": "key", "SHOP_SECRET": SECRET, "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "stepless", "dev", ".", "--db", "runs.db", "--port", "0"]
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        lines = iter(self.process.stdout.readline, "")
        self.url = next(line for line in lines if "listens on" in line).split()[-1]

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    made = Dev(tmp_path_factory.mktemp("workflows"))
    yield made
    made.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A window that is signed in. No page may have an error, or break the content security policy."""
    scope, faults = browser.new_context(viewport={"width": 1440, "height": 900}), []
    scope.add_init_script("sessionStorage.setItem('stepless.token', 'key')")
    made = scope.new_page()
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    yield made
    scope.close()
    assert faults == []


def seen(page: Any, name: str) -> None:
    """Axe finds nothing in both themes, nor on a narrow screen, and nothing is wider than the window. Where STEPLESS_PICTURES
    names a folder, pictures of the page are kept in it."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("() => Promise.all(document.getAnimations().map(one => one.finished.catch(() => null)))")
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), (name, width)
            if folder := os.environ.get("STEPLESS_PICTURES"):
                page.screenshot(path=f"{folder}/{name}-{width}-{theme}.png", full_page=True)
            if width == 1440 or (width == 390 and theme == "dark"):
                assert violations(page, f"{name} {width} {theme}") == []
    page.set_viewport_size({"width": 1440, "height": 900})


def put(page: Any, dev: Dev, document: dict[str, Any]) -> None:
    answer = page.request.put(f"{dev.url}/workflows/{document['id']}", data=document, headers=KEY)
    assert answer.status == 201, answer.text()


def start(page: Any, dev: Dev, workflow: str, inputs: Any) -> None:
    answer = page.request.post(f"{dev.url}/workflows/{workflow}/runs", data={"inputs": inputs}, headers=KEY)
    assert answer.status in (200, 202), answer.text()


def test_the_pages_of_workflows(page: Any, dev: Dev) -> None:
    page.goto(f"{dev.url}/console/workflows")
    page.get_by_role("heading", name="No workflows yet").wait_for()
    seen(page, "list-empty")
    page.get_by_role("button", name="New workflow").click()
    page.wait_for_function("() => document.activeElement.id === 'new-id'")
    page.keyboard.press("Escape")

    put(page, dev, REFUND)
    nodes = REFUND["nodes"]
    put(page, dev, {**REFUND, "nodes": {**nodes, "taken": {**nodes["taken"], "with": {"value": "taken"}}}, "description": "Two"})
    put(page, dev, CHECK)
    put(page, dev, {"id": "quiet", "nodes": {"begin": {"type": "manual"}}})
    for count in (1, 2, 4, 0, 5, 0):
        start(page, dev, "check", {"count": count})
    page.request.post(f"{dev.url}/drafts/fresh", data={"from": "empty"}, headers=KEY)
    list_page(page, dev)
    versions(page)
    start_by_form(page)
    schedules(page, dev)
    webhook(page, dev)
    page.get_by_role("link", name="Overview").click()
    page.locator(".last-runs tbody tr").nth(2).wait_for()
    seen(page, "overview")
    page.goto(f"{dev.url}/console/workflows/quiet")
    page.get_by_text("No runs yet").wait_for()
    seen(page, "overview-quiet")
    page.goto(f"{dev.url}/console/workflows/none")
    page.get_by_text("Could not load the workflow none.").wait_for()


def list_page(page: Any, dev: Dev) -> None:
    page.goto(f"{dev.url}/console/drafts")  # the former address
    line = page.locator("tr", has=page.get_by_role("link", name="check", exact=True))
    line.get_by_text("33%").wait_for()
    assert line.get_by_role("img").get_attribute("aria-label") == "2 of 6 runs failed"
    assert page.locator("tr", has_text="fresh").get_by_text("not published").count() == 1
    assert page.locator("tbody tr").count() == 4
    seen(page, "list")
    page.get_by_label("Sort by").select_option("failures")
    page.wait_for_function("document.querySelectorAll('tbody .fleet-name a')[1].textContent === 'check'")
    page.get_by_label("Search by name or id").fill("refund")
    page.get_by_role("status").get_by_text("1 workflow", exact=True).wait_for()
    assert "search=refund" in page.url and "sort=failures" in page.url
    page.get_by_role("link", name="Refund approval").click()
    page.get_by_role("heading", name="Refund approval").wait_for()


def versions(page: Any) -> None:
    page.get_by_role("link", name="Versions").click()
    page.get_by_role("link", name="Changes in v2").click()
    change = page.locator(".change", has_text="taken")
    change.locator(".went").wait_for()
    assert page.url.endswith("/workflows/refund/versions?from=1&to=2")
    seen(page, "diff")
    page.get_by_role("link", name="By line").click()
    page.locator(".lines .came").first.wait_for()
    seen(page, "diff-lines")
    page.get_by_label("From").select_option("2")
    page.get_by_text("No differences").wait_for()
    page.go_back()
    page.get_by_role("link", name="All versions").click()
    page.locator("tr", has_text="v1").get_by_role("button", name="Open a draft").click()
    page.wait_for_url("**/console/drafts/refund")
    page.go_back()
    page.reload()
    page.get_by_text("draft by").wait_for()
    page.locator("tr", has_text="v2").get_by_role("button", name="Open a draft").click()
    page.get_by_role("button", name="Replace the draft").wait_for()
    seen(page, "replace")
    page.get_by_role("button", name="Keep the draft").click()
    seen(page, "versions")


def start_by_form(page: Any) -> None:
    page.get_by_role("link", name="Start a run").click()
    page.get_by_label("Amount").fill("0")
    assert page.get_by_label("Currency").input_value() == ""
    page.get_by_role("button", name="Start the run").click()
    page.locator(".schema-field", has_text="Order").get_by_text("This is required.").wait_for()
    assert "minimum" in page.locator(".schema-field", has_text="Amount").locator(".fault").inner_text()
    seen(page, "start")
    page.get_by_label("Order").fill("o-17")
    page.get_by_role("button", name="Write JSON").click()
    text = page.get_by_role("textbox", name="JSON")
    assert '"order": "o-17"' in text.input_value()
    text.fill('{"order": "o-18", "amount": 120}')
    page.get_by_role("button", name="Use the form").click()
    assert (page.get_by_label("Order").input_value(), page.get_by_label("Amount").input_value()) == ("o-18", "120")
    page.get_by_label("Keywords").fill("customer:c-17")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/console/runs/run_*")
    page.go_back()
    page.get_by_role("button", name="As the last run").click()
    page.wait_for_function("() => [...document.querySelectorAll('.schema-field input')].some(one => one.value === 'o-18')")


def schedules(page: Any, dev: Dev) -> None:
    page.get_by_role("link", name="Schedules").click()
    page.locator(".upcoming li").nth(4).wait_for()
    assert page.locator(".upcoming li").count() == 5
    page.get_by_role("button", name="Pause…").click()
    assert page.get_by_role("button", name="Pause the schedule").is_disabled()
    page.get_by_label("Reason").fill("the warehouse moves")
    seen(page, "pause")
    page.get_by_role("button", name="Pause the schedule").click()
    page.get_by_text("the warehouse moves").wait_for()
    page.get_by_role("button", name="Fire now").click()
    page.get_by_text("A run was started.").wait_for()
    seen(page, "schedules")
    page.get_by_role("button", name="Resume").click()
    page.get_by_text("The schedule is resumed.").wait_for()
    page.locator(".upcoming").wait_for()
    run_id = page.request.get(f"{dev.url}/runs?workflow=refund&limit=1", headers=KEY).json()["runs"][0]["id"]
    assert page.request.get(f"{dev.url}/runs/{run_id}", headers=KEY).json()["inputs"]["node"] == "night"


def webhook(page: Any, dev: Dev) -> None:
    page.get_by_role("link", name="Webhooks").click()
    page.get_by_text(f"{dev.url}/hooks/shop").wait_for()
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("button", name="Sign and send").click()
    page.get_by_text("Type the secret first.").wait_for()
    body = page.get_by_role("textbox", name="Body")
    assert '"amount": 1' in body.input_value()
    secret = page.get_by_label("Secret (SHOP_SECRET)")
    secret.fill("wrong")
    page.get_by_role("button", name="Sign and send").click()
    page.locator(".try-answer b", has_text="401").first.wait_for()
    secret.fill(SECRET)
    body.fill('{"amount": 7}')
    sent: list[str] = []
    page.on("request", lambda made: sent.append(f"{made.url} {made.all_headers()} {made.post_data}"))
    page.get_by_role("button", name="Sign and send").click()
    page.locator(".try-answer b", has_text="201").first.wait_for()
    assert any("/hooks/shop" in one for one in sent) and not any(SECRET in one for one in sent)
    assert not any("Bearer" in one for one in sent if "/hooks/" in one)
    assert SECRET not in str(page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])"))
    seen(page, "webhooks")
    path = page.locator(".try-answer a").get_attribute("href")
    run = page.request.get(f"{dev.url}{path.removeprefix('/console')}", headers=KEY).json()
    assert run["inputs"]["body"] == {"amount": 7}
