"""The page of failures and what is run again, in a real browser, against a real `stepless dev`."""

from __future__ import annotations

import itertools
import json
import string
from collections.abc import Iterator
from typing import Any

import pytest
from axe import violations
from draft_site import DraftSite
from windows import Windows

from stepless.limits import MAX_LISTED_ERRORS

REFUSE = {
    "id": "refuse",
    "nodes": {
        "begin": {"type": "manual"},
        "no": {"type": "fail", "after": "begin", "with": {"code": "refused", "message": "No: <begin.why>"}},
    },
}
BREAKS = """
from stepless.nodes.function import function


@function("steps.breaks")
def breaks() -> None:
    raise RuntimeError("not yet")
"""
LATE = {
    "id": "late", "timeout": "100ms",
    "nodes": {"begin": {"type": "manual"}, "call": {
        "type": "function", "after": "begin", "with": {"call": "steps.breaks"}, "retry": {"attempts": 3, "backoff_ms": 60_000},
    }},
}  # fmt: skip
SHOWN_RUNS = 20


@pytest.fixture
def site(tmp_path: Any) -> Iterator[DraftSite]:
    (tmp_path / "steps.py").write_text(BREAKS)
    for document in (REFUSE, LATE):
        (tmp_path / f"{document['id']}.json").write_text(json.dumps(document))
    made = DraftSite(tmp_path)
    yield made
    made.close()


def start(site: DraftSite, workflow: str, inputs: Any = None) -> str:
    """Returns the id of the run once it has ended or waits."""
    body, headers = {"inputs": inputs or {}}, {"prefer": "wait=20"}
    return str(site.client.post(f"/workflows/{workflow}/runs", json=body, headers=headers).json()["run_id"])


def failed(site: DraftSite, why: str = "no stock") -> str:
    return start(site, "refuse", {"why": why})


def rerun(site: DraftSite, run_id: str) -> str:
    again = str(site.client.post(f"/runs/{run_id}/rerun", json={}).json()["run_id"])
    site.client.get(f"/runs/{again}/events?wait_s=20&limit=500")
    return again


# -- groups ----------------------------------------------------------------------------------------------------------------


def test_an_open_group_has_an_address_and_its_ids_are_copied(windows: Windows, site: DraftSite) -> None:
    run_id = failed(site)
    address, granted = f"{site.url}/console/errors?since=24h", ["clipboard-read", "clipboard-write"]
    page = windows.open(site.administrator(), address, ".group", permissions=granted)
    page.get_by_role("button", name="1 run").click()
    ids = page.locator(".group-runs li")
    ids.first.wait_for()
    assert "since=24h&group=" in page.url
    ids.first.get_by_role("button", name="Copy the id").click()
    ids.first.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == run_id
    page.go_back()
    ids.first.wait_for(state="detached")
    page.go_forward()
    ids.first.wait_for()
    page.get_by_label("Failures of").select_option("7d")
    page.reload()
    ids.first.wait_for()
    assert "since=7d" in page.url and violations(page, "open group") == []
    page.get_by_role("button", name="1 run").click()
    ids.first.wait_for(state="detached")
    assert "group=" not in page.url


def test_the_rest_of_a_group_of_runs_that_timed_out_is_in_the_list_of_runs(page: Any, site: DraftSite) -> None:
    failed(site)
    runs = [start(site, "late") for _ in range(SHOWN_RUNS + 2)]
    page.goto(f"{site.url}/console/errors")
    group = page.locator(".group", has_text="timed_out")
    group.get_by_role("button", name=f"{len(runs)} runs").click()
    group.get_by_role("link", name="and 2 more").click()
    page.locator(".runs-summary > p", has_text=f"{len(runs)} runs").wait_for()
    listed = page.locator(".rows-space .row").evaluate_all("rows => rows.map((row) => row.id.slice(4))")
    assert {*listed} == {*runs}


def test_groups_that_are_not_listed_are_told(page: Any, site: DraftSite) -> None:
    words = ["".join(letters) for letters in itertools.product(string.ascii_lowercase[:15], repeat=2)]
    for word in words[: MAX_LISTED_ERRORS + 3]:
        failed(site, f"no {word}")
    page.goto(f"{site.url}/console/errors")
    groups = MAX_LISTED_ERRORS + 3
    page.get_by_text(f"{groups} failures; the first {MAX_LISTED_ERRORS} of {groups} groups are shown").wait_for()
    assert page.locator(".group").count() == MAX_LISTED_ERRORS


# -- what was rerun already -------------------------------------------------------------------------------------------------


def test_a_rerun_of_all_that_match_leaves_out_what_was_rerun_already(page: Any, site: DraftSite) -> None:
    runs = [failed(site) for _ in range(3)]
    rerun(site, runs[0])
    page.goto(f"{site.url}/console/?workflow=refuse&status=failed")
    page.locator(".rows-space .row").nth(3).wait_for()
    page.get_by_role("button", name="Rerun…").click()
    page.get_by_text("1 was rerun already and is left out.").wait_for()
    again = page.get_by_label("Rerun those too")
    assert not again.is_checked() and violations(page, "rerun") == []
    page.locator(".ask textarea").fill("mended")
    again.check()
    page.get_by_role("button", name="Rerun 4 runs").wait_for()
    again.uncheck()
    page.get_by_role("button", name="Rerun 3 runs").click()
    page.get_by_text("3 runs started again, 1 left out: rerun already.").wait_for()
    assert len(site.client.get("/runs?workflow=refuse").json()["runs"]) == 4 + 3


def test_all_that_match_are_rerun_once_more_where_a_person_asks_for_it(page: Any, site: DraftSite) -> None:
    first = failed(site)
    rerun(site, first)
    page.goto(f"{site.url}/console/?workflow=refuse&status=failed")
    page.locator(".rows-space .row").nth(1).wait_for()
    page.get_by_role("button", name="Rerun…").click()
    page.get_by_label("Rerun those too").check()
    page.locator(".ask textarea").fill("both")
    page.get_by_role("button", name="Rerun 2 runs").click()
    page.get_by_text("2 runs started again.").wait_for()
    page.get_by_role("button", name="Close").click()
    failed(site)
    page.goto(f"{site.url}/console/?workflow=refuse&search={first}")
    page.locator(".rows-space .row").first.wait_for()
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_text("0 runs of 1 match would change.").wait_for()
    assert page.get_by_label("Rerun those too").count() == 0


def test_of_runs_that_were_chosen_those_that_were_rerun_meanwhile_are_left_out(page: Any, site: DraftSite) -> None:
    """Another caller reruns a run of the group after the page has read it."""
    runs = [failed(site) for _ in range(2)]
    page.goto(f"{site.url}/console/errors")
    page.locator(".group").get_by_role("button", name="Rerun…").click()
    page.locator(".ask textarea").fill("mended")
    rerun(site, runs[0])
    page.get_by_role("button", name="Rerun 2 runs").click()
    page.get_by_text("1 run started again, 1 left out: rerun already.").wait_for()
    page.get_by_role("button", name="Rerun the one left out, too").click()
    page.get_by_text("1 run started again.").wait_for()
    assert len(site.client.get("/runs?workflow=refuse").json()["runs"]) == 2 + 1 + 1 + 1
