"""The pages of open questions and of failures in a real browser, against a real `stepless dev`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe import violations

KEY = {"authorization": "Bearer key", "prefer": "wait=20"}
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


class Dev:
    """`stepless dev` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        for document in (ASK, CHECK):
            (folder / f"{document['id']}.json").write_text(json.dumps(document))
        env = {**os.environ, "STEPLESS_API_KEY": "key", "PYTHONUNBUFFERED": "1"}
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
    made = Dev(tmp_path_factory.mktemp("inbox"))
    yield made
    made.close()


@pytest.fixture(params=[(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")], ids=lambda one: f"{one[0]}-{one[1]}")
def look(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def page(browser: Any, look: Any) -> Iterator[Any]:
    """A window that is signed in, of each width and theme. No page may have an error, or break the content security policy."""
    width, theme = look
    scope, faults = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=theme), []
    scope.add_init_script("sessionStorage.setItem('stepless.token', 'key')")
    made = scope.new_page()
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    yield made
    scope.close()
    assert faults == []


def start(page: Any, dev: Dev, workflow: str, inputs: Any) -> str:
    answer = page.request.post(f"{dev.url}/workflows/{workflow}/runs", data={"inputs": inputs}, headers=KEY)
    return str(answer.json()["run_id"])


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def seen(page: Any, name: str, look: Any) -> list[str]:
    """What axe finds. Where STEPLESS_PICTURES names a folder, a picture of the page is kept in it."""
    assert fits(page), name
    if folder := os.environ.get("STEPLESS_PICTURES"):
        page.screenshot(path=f"{folder}/{name}-{look[0]}-{look[1]}.png")
    return violations(page, f"{name} {look}")


def test_a_question_is_answered_in_place_and_its_decision_listed(page: Any, dev: Dev, look: Any) -> None:
    page.goto(f"{dev.url}/console/approvals")
    page.get_by_text("No question is open").wait_for()
    assert seen(page, "approvals-empty", look) == []
    run_id = start(page, dev, "refund", {"id": f"o-{look[0]}", "amount": 120})
    page.reload()
    question = page.locator(".question", has_text=f"Refund 120 for order o-{look[0]}?")
    question.wait_for()
    page.locator(".bar-count", has_text="1").wait_for()
    assert seen(page, "approvals", look) == []
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
    page.get_by_text("No question is open").wait_for()
    page.get_by_role("link", name="Decided").click()
    page.locator(".decisions li").first.filter(has_text="within policy").wait_for()
    assert "approved by Ada" in page.locator(".decisions li").first.inner_text()
    assert seen(page, "decisions", look) == []
    run = page.request.get(f"{dev.url}/runs/{run_id}", headers=KEY).json()
    assert run["status"] == "completed" and run["outputs"]["pay"] == 90


def test_a_group_of_failures_is_run_again_and_leaves_when_that_succeeds(page: Any, dev: Dev, look: Any) -> None:
    runs = [start(page, dev, "check", {"count": 0}) for _ in range(3)]
    page.goto(f"{dev.url}/console/errors?since=24h")
    group = page.locator(".group")
    group.wait_for()
    group.get_by_role("button", name="3 runs").click()
    assert group.locator(".group-runs a").count() == 3
    assert seen(page, "errors", look) == []
    group.get_by_role("button", name="Rerun…").click()
    page.locator(".ask textarea").fill("mended")
    page.get_by_role("button", name="Rerun 3 runs").click()
    page.get_by_text("3 runs started again.").wait_for()
    assert seen(page, "errors-rerun", look) == []
    page.get_by_role("button", name="Close").click()
    group.get_by_role("button", name="6 runs").wait_for()
    reruns = [one["id"] for one in page.request.get(f"{dev.url}/runs?workflow=check&status=failed", headers=KEY).json()["runs"]]
    for run_id in set(reruns) - set(runs):
        found = page.request.post(f"{dev.url}/runs/{run_id}/rerun", data={"inputs": {"count": 4}}, headers=KEY)
        assert found.status == 202
    page.get_by_text("No failure is open").wait_for()
    page.locator("nav a", has_text="Errors").locator(".bar-count").wait_for(state="detached")
    assert seen(page, "errors-empty", look) == []
