"""Who is signed in, and the way out."""

from __future__ import annotations

import pytest
from axe import violations
from draft_site import DraftSite, Person
from windows import Windows

pytestmark = pytest.mark.quick

SIGNED_OUT = "text=Sign in to Stepless"


@pytest.fixture(scope="module")
def ada(draft_site: DraftSite) -> Person:
    return draft_site.person("ada")


def test_the_head_says_who_is_signed_in_and_what_they_may_do(windows: Windows, draft_site: DraftSite) -> None:
    bo = draft_site.person("bo", "approve")
    page = windows.open(bo, bo.workflows(), "main")
    page.get_by_role("button", name="Account bo").click()
    dialog = page.get_by_role("dialog", name="Account")
    dialog.get_by_text("Signed in as bo.").wait_for()
    rows = dialog.locator(".account > div").all_inner_texts()
    assert [row.replace("\n", " ") for row in rows] == [
        "read see workflows, runs and drafts", "run no: you cannot start, cancel, hold and rerun runs",
        "edit no: you cannot change drafts", "approve answer the questions of runs",
        "admin no: you cannot publish, and manage keys",
    ]  # fmt: skip
    assert violations(page, "account") == []


def test_sign_out_leaves_the_tab_without_a_token_and_keeps_the_address(windows: Windows, ada: Person) -> None:
    page = windows.tab(windows.bare(), ada.workflows(), SIGNED_OUT)
    page.get_by_label("API key").fill(ada.token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector("main h1")
    page.get_by_role("button", name="Account ada").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_selector(SIGNED_OUT)
    assert page.evaluate("sessionStorage.getItem('stepless.token')") is None
    assert page.url == ada.workflows()
    page.reload()
    page.wait_for_selector(SIGNED_OUT)
