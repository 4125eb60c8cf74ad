"""Values of a run above 4 MB: what the page shows in their place, and the file that it gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from draft_site import DraftSite

TEXT = "é" + "x" * 900_000
WIDE = "{{ 'é' + repeat('x', 900000) }}"
LARGE = {
    "id": "large",
    "nodes": {
        "begin": {"type": "manual"},
        "whole": {"type": "transform", "after": "begin", "with": {"value": [WIDE] * 5}},
        "parts": {"type": "transform", "after": "begin", "with": {"value": {"few": 1, "many": [WIDE] * 5}}},
    },
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftSite]:
    folder = tmp_path_factory.mktemp("large")
    (folder / "large.json").write_text(json.dumps(LARGE))
    made = DraftSite(folder)
    yield made
    made.close()


def downloaded(page: Any, section: Any) -> Any:
    with page.expect_download() as waiting:
        section.get_by_role("button", name="Download").click()
    assert waiting.value.suggested_filename.endswith(".json")
    return json.loads(Path(waiting.value.path()).read_text("utf-8"))


def test_a_value_that_is_too_large_is_named_with_its_size_and_downloaded_whole(page: Any, site: DraftSite) -> None:
    answer = site.client.post("/workflows/large/runs", json={}, headers={"prefer": "wait=20"})
    assert answer.status_code == 200, answer.text[:500]
    run_id = answer.json()["run_id"]
    page.goto(f"{site.url}/console/runs/{run_id}?node=whole")
    output = page.locator(".panel section[aria-label='Output']")
    output.get_by_text("Too large to display").wait_for()
    assert "4.5 MB" in output.inner_text() and '["éxxx' in output.locator("pre").inner_text()
    assert downloaded(page, output) == [TEXT] * 5
    page.goto(f"{site.url}/console/runs/{run_id}?node=parts")
    part = page.locator(".panel section[aria-label='Output: many']")
    part.get_by_text("Too large to display").wait_for()
    assert "few" in page.locator(".panel section[aria-label='Output']").inner_text()
    assert page.get_by_text("large_value").count() == 0
    assert downloaded(page, part) == [TEXT] * 5
    page.get_by_role("tab", name="Values").click()
    page.locator(".values section[aria-label^='Outputs']", has_text="Too large to display").first.wait_for()
    assert page.get_by_text("large_value").count() == 0


def test_inputs_that_are_too_large_to_edit_are_taken_as_they_are(page: Any, site: DraftSite) -> None:
    """No request brings such inputs: the answer about the run is given here."""
    run = site.client.post("/workflows/large/runs", json={}).json()["run_id"]
    told = {"size": 5_000_000, "preview": "[", "hash": "ab", "url": "/"}

    def answer(route: Any) -> None:
        body = route.fetch().json()
        route.fulfill(json={**body, "inputs": {"items": {"large_value": told}}})

    page.route(f"**/runs/{run}", lambda route: answer(route) if route.request.resource_type == "fetch" else route.continue_())
    page.goto(f"{site.url}/console/runs/{run}")
    page.get_by_role("button", name="Rerun…").click()
    page.get_by_text("too large to edit here").wait_for()
    assert page.get_by_label("Inputs of the run").count() == 0
    page.get_by_label("Reason").fill("once more")
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/rerun")) as asked:
        page.get_by_role("button", name="Start the new run").click()
    assert "inputs" not in asked.value.post_data_json
    page.wait_for_url(lambda url: run not in url)
    page.unroute_all(behavior="ignoreErrors")  # the page may ask just now
