"""What the console's page of a run does with the run, and what of it stands in the address. Against a real `stepless dev`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from draft_site import KEY, DraftSite
from processes import PATIENCE_S, ROOT
from windows import Windows

FLAKY = '''
from stepless.nodes.function import FunctionCall, function


@function("steps.flaky")
def flaky(call: FunctionCall) -> int:
    call.log(f"attempt {call.attempt} begins")
    if call.attempt < 3:
        raise RuntimeError(f"attempt {call.attempt} failed")
    return call.attempt
'''
BEGIN = {"type": "manual"}
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "flaky", "nodes": {"begin": BEGIN, "call": {
        "type": "function", "after": "begin", "with": {"call": "steps.flaky"},
        "retry": {"attempts": 3, "backoff_ms": 1},
    }}},
    {"id": "asks", "nodes": {
        "begin": BEGIN, "boss": {"type": "approval", "after": "begin", "with": {"message": "Go on?"}},
        "pay": {"type": "transform", "after": "boss.approved", "with": {"value": 1}},
    }},
    {"id": "sleeps", "nodes": {
        "begin": BEGIN, "night": {"type": "wait", "after": "begin", "with": {"for": "2d"}},
        "day": {"type": "transform", "after": "night", "with": {"value": 1}},
    }},
    {"id": "mixed", "nodes": {
        "begin": BEGIN, "bad": {"type": "transform", "after": "begin", "with": {"value": "{{ 1 / <begin.by> }}"}},
        "mend": {"type": "transform", "after": "bad.error", "with": {"value": 2}},
    }},
]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftSite]:
    folder = tmp_path_factory.mktemp("view")
    (folder / "steps.py").write_text(FLAKY)
    for document in DOCUMENTS:
        (folder / f"{document['id']}.json").write_text(json.dumps(document))
    made = DraftSite(folder)
    yield made
    made.close()


def start(site: DraftSite, workflow: str, inputs: Any = None) -> str:
    answer = site.client.post(f"/workflows/{workflow}/runs", json={"inputs": inputs or {}}, headers={"prefer": "wait=20"})
    assert answer.status_code in (200, 202), answer.text
    return str(answer.json()["run_id"])


def events(site: DraftSite, run_id: str) -> list[dict[str, Any]]:
    return list(site.client.get(f"/runs/{run_id}/events?limit=500").json()["events"])


# -- what is done from the page --------------------------------------------------------------------------------------------


def test_the_history_is_downloaded_with_every_event_of_the_run(page: Any, site: DraftSite) -> None:
    run_id = start(site, "flaky")
    page.goto(f"{site.url}/console/runs/{run_id}")
    page.locator(".run-status", has_text="completed").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download history").click()
    assert waiting.value.suggested_filename == f"{run_id}.ndjson"
    lines = Path(waiting.value.path()).read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == events(site, run_id) and len(lines) > 8


def test_the_command_that_is_copied_shows_the_run(windows: Windows, site: DraftSite) -> None:
    run_id = start(site, "flaky")
    address, granted = f"{site.url}/console/runs/{run_id}", ["clipboard-read", "clipboard-write"]
    page = windows.open(site.administrator(), address, ".run-status", permissions=granted)
    page.get_by_role("button", name="Copy as command").click()
    page.get_by_role("button", name="Copied").wait_for()
    command, *words = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert command == "stepless"
    done = subprocess.run(
        [sys.executable, "-m", "stepless", *words, "--json"], capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "engine"), "STEPLESS_API_KEY": KEY},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["id"], told["status"]) == (run_id, "completed")


def test_a_run_is_held_and_released_from_the_page(page: Any, site: DraftSite) -> None:
    run_id = start(site, "asks")
    page.goto(f"{site.url}/console/runs/{run_id}")
    page.get_by_role("button", name="Hold…").click()
    confirm = page.get_by_role("button", name="Hold the run")
    assert confirm.is_disabled(), "a reason is demanded"
    page.get_by_label("Reason").fill("an incident")
    confirm.click()
    page.locator(".run-held", has_text="an incident").wait_for()
    page.locator(".run-status", has_text="held").wait_for()
    (pause,) = site.client.get(f"/runs/{run_id}").json()["pauses"]
    assert site.client.post(pause["resume"], json={"decision": "approved"}).status_code == 200
    page.locator(".block.ran:not(.unseen)", has_text="pay").wait_for()
    assert site.client.get(f"/runs/{run_id}").json()["status"] == "paused", "an answer does not release it"
    page.get_by_role("button", name="Release…").click()
    page.get_by_label("Reason").fill("it is over")
    page.get_by_role("button", name="Release the run").click()
    page.locator(".run-status", has_text="completed").wait_for()
    assert page.get_by_role("button", name="Release…").count() == 0
    assert "an incident" in json.dumps(events(site, run_id))


# -- what stands in the address --------------------------------------------------------------------------------------------


def test_a_link_to_an_attempt_opens_with_that_attempt_marked(page: Any, site: DraftSite) -> None:
    run_id = start(site, "flaky")
    page.goto(f"{site.url}/console/runs/{run_id}?node=call&attempt=2")
    marked = page.locator(".attempts li.chosen")
    marked.wait_for()
    assert marked.count() == 1 and "attempt 2 failed" in marked.inner_text()
    page.locator(".attempts a", has_text="3").click()
    page.locator(".attempts li.chosen", has_text="attempt 3 begins").wait_for()
    assert "attempt=3" in page.url
    page.go_back()
    page.locator(".attempts li.chosen", has_text="attempt 2 failed").wait_for()


def test_the_status_of_the_timeline_stands_in_the_address(page: Any, site: DraftSite) -> None:
    run_id = start(site, "mixed", {"by": 0})
    page.goto(f"{site.url}/console/runs/{run_id}?tab=timeline&status=failed")
    page.get_by_text("1 instance", exact=True).wait_for()
    choice = page.get_by_label("Status of the instances")
    assert choice.input_value() == "failed" and page.locator(".timeline-row").all_inner_texts()[0].startswith("bad")
    choice.select_option("completed")
    page.get_by_text("2 instances", exact=True).wait_for()
    assert "status=completed" in page.url
    page.go_back()
    page.get_by_text("1 instance", exact=True).wait_for()
    page.goto(f"{site.url}/console/runs/{run_id}?tab=timeline&status=nonsense")
    page.get_by_text("3 instances", exact=True).wait_for()


def test_all_nodes_of_a_comparison_have_an_address(page: Any, site: DraftSite) -> None:
    run_id, other = start(site, "mixed", {"by": 0}), start(site, "mixed", {"by": 1})
    page.goto(f"{site.url}/console/runs/{run_id}?tab=compare&with={other}")
    page.locator("tr.differs", has_text="bad").wait_for()
    rows = page.locator(".differences tbody tr")
    assert rows.filter(has_text="begin").count() == 0
    page.get_by_role("button", name="Show all").click()
    rows.filter(has_text="begin").wait_for()
    assert "show=all" in page.url
    page.reload()
    rows.filter(has_text="begin").wait_for()
    page.go_back()
    rows.filter(has_text="begin").wait_for(state="detached")
    page.get_by_role("button", name="Show all").wait_for()


# -- time ----------------------------------------------------------------------------------------------------------------


def test_of_a_run_that_only_waited_the_fold_has_half_of_the_width(page: Any, site: DraftSite) -> None:
    run_id = start(site, "sleeps")
    page.goto(f"{site.url}/console/runs/{run_id}?tab=timeline")
    page.locator(".run-status", has_text="paused").wait_for()
    assert site.client.post(f"/runs/{run_id}/skip").json()["skipped_ms"] > 1.9 * 86_400_000
    page.locator(".run-status", has_text="completed").wait_for()
    fold = page.locator(".ruler .fold")
    page.get_by_text("2 d idle, folded").wait_for()
    left, width, whole = fold.evaluate("one => [one.offsetLeft, one.offsetWidth, one.parentElement.offsetWidth]")
    assert fold.count() == 1 and abs(width / whole - 0.5) < 0.01 and left + width < whole
    bar = page.locator(".timeline-row", has_text="day").locator(".whole")
    assert bar.evaluate("one => one.offsetLeft") >= left + width - 6, "what came after it is behind it"


def test_logs_and_attempts_are_told_by_the_clock_of_the_reader(windows: Windows, site: DraftSite) -> None:
    zone = "Asia/Kathmandu"  # 5:45 ahead: neither hours nor minutes are those of UTC
    run_id = start(site, "flaky")
    address = f"{site.url}/console/runs/{run_id}?node=call"
    page = windows.open(site.administrator(), address, ".attempts .logs", timezone_id=zone, locale="en-GB")
    logged = [event["timestamp"] for event in events(site, run_id) if event["type"] == "node.log"]
    local = [datetime.fromisoformat(at).astimezone(ZoneInfo(zone)) for at in logged]
    assert page.locator(".attempts .logs").all_inner_texts() == [
        f"{at:%H:%M:%S}.{at.microsecond // 1000:03}  attempt {number} begins" for number, at in enumerate(local, 1)
    ]
    began = page.locator(".attempts li").first.inner_text()
    assert f"{local[0]:%H:%M:}" in began


def test_relative_times_go_on_while_the_page_is_open(page: Any, site: DraftSite) -> None:
    run_id = start(site, "mixed", {"by": 1})
    page.clock.install()
    page.goto(f"{site.url}/console/runs/{run_id}")
    page.locator(".run-status", has_text="completed").wait_for()
    page.locator(".run-facts time", has_text="just now").wait_for()
    page.context.set_offline(True)  # an answer would tell the time of the server, which does not go faster
    page.clock.fast_forward("05:10")
    page.locator(".run-facts time", has_text="5 min ago").wait_for()
    page.clock.fast_forward("02:00:00")
    page.locator(".run-facts time", has_text="2 h ago").wait_for()
