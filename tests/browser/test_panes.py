"""The views of a draft besides its canvas, in browsers over `stepless dev`: its text, differences, history, publishing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from draft_site import DraftSite
from example_drafts import REFUND_FILE
from windows import Windows

Window = Callable[[str, str], Any]


@pytest.fixture
def window(windows: Windows, file_site: DraftSite) -> Window:
    """Opens a window of one person at a view of the draft."""
    person = file_site.person("ada", "read", "edit", "admin")
    return lambda view, wait: windows.open(person, person.page("refund", f"?view={view}"), wait)


def text_of(site: DraftSite) -> str:
    made: str = site.client.get("/drafts/refund/yaml").json()["text"]
    return made


def line(page: Any, text: str) -> Any:
    return page.locator(".cm-line").filter(has_text=text)


def at_end_of(page: Any, text: str) -> None:
    line(page, text).first.click()
    page.keyboard.press("End")


def taken(page: Any) -> None:
    """The draft has what was typed, and all of it is committed."""
    page.wait_for_selector(".text-state.same")
    page.wait_for_selector(".head-saved.saved")


def test_a_typed_text_is_an_edit_that_keeps_comments_and_is_undone(window: Window, file_site: DraftSite) -> None:
    page = window("yaml", ".cm-line")
    at_end_of(page, "method: GET")
    page.keyboard.type(" # cheap")
    page.keyboard.press("Enter")
    page.keyboard.type("retries: 2")
    page.wait_for_selector(".text-state.typing, .text-state.checking, .text-state.saving")
    taken(page)
    wanted = REFUND_FILE.replace("method: GET\n", "method: GET # cheap\n      retries: 2\n")
    assert text_of(file_site) == wanted
    assert file_site.document("refund")["nodes"]["score"]["with"]["retries"] == 2
    page.keyboard.press("Control+z")
    line(page, "retries: 2").wait_for(state="detached")
    taken(page)
    assert text_of(file_site) == REFUND_FILE


def test_a_text_that_does_not_parse_waits_and_says_where(window: Window, file_site: DraftSite) -> None:
    page, other = window("yaml", ".cm-line"), window("yaml", ".cm-line")
    at_end_of(page, "method: GET")
    page.keyboard.press("Enter")
    page.keyboard.type("query: [a")
    fault = page.locator(".pane-fault")
    fault.wait_for()
    assert re.match(r"Line \d+, column \d+: ", fault.inner_text())
    assert page.locator(".cm-faulty").count() == 1
    assert text_of(file_site) == REFUND_FILE
    at_end_of(other, "name: Refund")
    other.keyboard.type(" of an order")
    taken(other)
    line(page, "name: Refund of an order").wait_for()  # others' changes come in meanwhile
    page.get_by_role("tab", name="Outline").click()
    page.get_by_role("treegrid").wait_for()
    page.get_by_role("tab", name="YAML").click()
    at_end_of(page, "query: [a")  # it is still there
    page.keyboard.type("]")
    fault.wait_for(state="detached")
    taken(page)
    wanted = REFUND_FILE.replace("Refund\n", "Refund of an order\n").replace("GET\n", "GET\n      query: [a]\n")
    assert text_of(file_site) == wanted


def test_two_people_type_into_one_text_and_each_cursor_stays(window: Window, file_site: DraftSite) -> None:
    one, other = window("yaml", ".cm-line"), window("yaml", ".cm-line")
    at_end_of(one, "<order.id>")
    at_end_of(other, "# Pays back")
    other.keyboard.type("\n# Says so.")
    line(one, "# Says so.").wait_for()
    one.keyboard.type("/x")
    other.keyboard.type(" Twice.")
    for page in (one, other):
        line(page, "<order.id>/x").wait_for()
        line(page, "# Says so. Twice.").wait_for()
        taken(page)
    wanted = REFUND_FILE.replace("like.\n", "like.\n# Says so. Twice.\n").replace("<order.id>\n", "<order.id>/x\n")
    assert text_of(file_site) == wanted


def test_differences_by_node_and_by_line_and_the_way_back(window: Window, file_site: DraftSite) -> None:
    page = window("yaml", ".cm-line")
    at_end_of(page, "method: GET")
    page.keyboard.press("Shift+Home")
    page.keyboard.type("method: POST")
    taken(page)
    page.get_by_role("tab", name="Diff").click()
    page.locator(".change.changed").filter(has_text="score").wait_for()
    assert [" ".join(text.split()) for text in page.locator(".value").all_inner_texts()] == ["before: GET", "now: POST"]
    page.get_by_role("link", name="By line").click()
    page.locator(".lines tr.came").wait_for()
    assert page.locator(".lines tr.came td:last-child").inner_text().strip().endswith("method: POST")
    page.get_by_role("tab", name="History").click()
    page.get_by_text("changed score (method)").wait_for()
    page.get_by_role("button", name="Restore the draft as it was opened").click()
    page.get_by_text("The draft is as it was when it was opened. Undo takes that back.").wait_for()
    page.wait_for_selector(".head-saved.saved")
    assert text_of(file_site) == REFUND_FILE
    page.get_by_role("button", name="Undo").last.click()
    page.wait_for_function("() => document.querySelector('.head-saved.saved') !== null")
    page.get_by_role("tab", name="YAML").click()
    line(page, "method: POST").wait_for()


def test_a_draft_is_published_with_a_message_once_nothing_is_wrong(window: Window, file_site: DraftSite) -> None:
    page = window("yaml", ".cm-line")
    at_end_of(page, "after: score")
    page.keyboard.type("d")
    page.locator(".findings-sum.error").wait_for()
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish v2")
    dialog.get_by_text("Fix the error first.").wait_for()
    assert dialog.get_by_role("button", name="Publish v2").is_disabled()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    at_end_of(page, "after: scored")
    page.keyboard.press("Backspace")
    at_end_of(page, "method: GET")
    page.keyboard.press("Shift+Home")
    page.keyboard.type("method: PUT")
    page.get_by_text("No findings").wait_for()
    page.get_by_role("button", name="Publish…").click()
    dialog.get_by_text("changed").first.wait_for()
    dialog.get_by_label("Message").fill("Three tries")
    dialog.get_by_role("button", name="Publish v2").click()
    page.get_by_role("dialog", name="Published").get_by_text("v2").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text(re.compile(r"^draft of .*v2")).wait_for()
    assert file_site.client.get("/workflows/refund").json()["version"] == 2
    page.get_by_role("tab", name="Diff").click()
    page.get_by_label("Against").select_option("v1")
    page.locator(".change.changed").filter(has_text="score").wait_for()
    page.get_by_role("button", name="Restore v1").click()
    page.locator(".pane-empty").get_by_role("heading", name="No differences").wait_for()
