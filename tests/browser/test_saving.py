"""Saving a draft to its file, in browsers over `stepless dev`: what another program writes meanwhile is not lost."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from draft_site import DraftSite, Person
from example_drafts import REFUND_FILE, many
from windows import Windows, block, canvas, choose, field, saved

LARGE = 5_200
MAX_LOOKS = 500


@pytest.fixture
def ada(file_site: DraftSite) -> Person:
    return file_site.person("ada", "read", "edit", "admin")


def typed(page: Any, text: str) -> None:
    """Changes the parameters of `score`."""
    choose(page, "score")
    field(page).fill(text)
    canvas(page)
    saved(page)


def save(page: Any) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def said(page: Any, text: str) -> None:
    page.locator(".head-said", has_text=text).wait_for(state="attached")


def conflict(page: Any) -> Any:
    """The dialog of conflicts, once the person has come back from the program that saved the file."""
    button = page.get_by_role("button", name="1 conflict")
    for _ in range(MAX_LOOKS):
        with page.expect_response("**/drafts/refund"):
            page.evaluate("() => { window.dispatchEvent(new Event('focus')); }")
        if button.count() > 0:
            break
    button.click()
    return page.get_by_role("dialog", name="Conflicts")


def test_save_writes_the_file_and_only_the_lines_that_changed(file_site: DraftSite, ada: Person, windows: Windows) -> None:
    page = windows.open(ada, ada.page("refund"))
    typed(page, "url: https://example.com/<order.id>\nmethod: POST")
    assert (file_site.folder / "refund.yaml").read_text() == REFUND_FILE, "nothing is written before a person saves"
    save(page)
    said(page, "Saved to refund.yaml")
    assert (file_site.folder / "refund.yaml").read_text() == REFUND_FILE.replace("GET", "POST")
    typed(page, "url: https://example.com/<order.id>\nmethod: PUT")
    canvas(page)
    with page.expect_response("**/drafts/refund/save"):
        page.keyboard.press("Control+s")
    page.wait_for_function("() => document.querySelector('.head-said').textContent.includes('Saved to refund.yaml')")
    assert (file_site.folder / "refund.yaml").read_text() == REFUND_FILE.replace("GET", "PUT")


def test_a_value_that_the_file_and_the_draft_both_changed_is_chosen_from_three(
    file_site: DraftSite, ada: Person, windows: Windows
) -> None:
    page = windows.open(ada, ada.page("refund"))
    typed(page, "url: https://example.com/<order.id>\nmethod: POST")
    theirs = REFUND_FILE.replace("GET", "PUT").replace("name: Refund", "name: Refunds of orders")
    (file_site.folder / "refund.yaml").write_text(theirs)
    page.get_by_role("heading", name="Refunds of orders").wait_for()  # what only the file changed comes in by itself
    dialog = conflict(page)
    dialog.locator(".conflicts li").wait_for()
    shown = [" ".join(text.split()) for text in dialog.locator(".conflicts dl > div").all_inner_texts()]
    assert shown == ["Before GET", "This draft POST", "File refund.yaml PUT"]
    dialog.get_by_role("button", name="Take the value of file refund.yaml for score method").click()
    dialog.get_by_text("No conflicts.").wait_for()
    assert file_site.document("refund")["nodes"]["score"]["with"]["method"] == "PUT"
    page.locator(".dialog-foot button").click()
    page.get_by_role("button", name="1 conflict").wait_for(state="detached")
    canvas(page)
    page.keyboard.press("Control+z")  # a choice is an edit like any other
    saved(page)
    assert file_site.document("refund")["nodes"]["score"]["with"]["method"] == "POST"
    save(page)
    said(page, "Saved to refund.yaml")
    text = REFUND_FILE.replace("GET", "POST").replace("name: Refund", "name: Refunds of orders")
    assert (file_site.folder / "refund.yaml").read_text() == text


def test_the_draft_keeps_its_own_value_where_a_person_says_so(file_site: DraftSite, ada: Person, windows: Windows) -> None:
    page = windows.open(ada, ada.page("refund"))
    typed(page, "url: https://example.com/<order.id>\nmethod: POST")
    (file_site.folder / "refund.yaml").write_text(REFUND_FILE.replace("GET", "PUT"))
    conflict(page)
    page.get_by_role("button", name="Keep the draft's value of score method").click()
    page.get_by_text("No conflicts.").wait_for()
    page.locator(".dialog-foot button").click()
    save(page)
    said(page, "Saved to refund.yaml")
    assert (file_site.folder / "refund.yaml").read_text() == REFUND_FILE.replace("GET", "POST")


def test_a_person_chooses_the_file_where_two_have_the_id(file_site: DraftSite, ada: Person, windows: Windows) -> None:
    file_site.open("twice")
    page = windows.open(ada, ada.page("twice"))
    for name in ("one.yaml", "other.yaml"):
        (file_site.folder / name).write_text(f"id: twice\nname: {name}\nnodes:\n  begin: {{type: manual}}\n")
    canvas(page)
    page.keyboard.press("a")
    page.locator(".picker input").fill("manual")
    page.keyboard.press("Enter")
    block(page, "manual").wait_for()
    saved(page)
    save(page)
    dialog = page.get_by_role("dialog", name="Save to which file?")
    dialog.get_by_role("button", name="Save to other.yaml").click()
    page.get_by_text("No conflicts.").wait_for()  # what the file has is in the draft first
    page.locator(".dialog-foot button").click()
    save(page)
    dialog.get_by_role("button", name="Save to other.yaml").click()
    said(page, "Saved to other.yaml")
    assert "manual" in yaml.safe_load((file_site.folder / "other.yaml").read_text())["nodes"]
    assert "manual" not in yaml.safe_load((file_site.folder / "one.yaml").read_text())["nodes"]


def test_a_draft_of_more_than_5000_nodes_opens_in_the_outline_and_is_edited_as_text(
    file_site: DraftSite, ada: Person, windows: Windows
) -> None:
    file_site.open("large", many("large", LARGE))
    page = windows.open(ada, ada.page("large"), ".outline-row")
    assert page.get_by_role("tab").all_inner_texts() == ["Outline", "YAML", "Diff", "History"]
    page.get_by_role("tab", name="YAML").click()
    page.locator(".cm-line").nth(1).wait_for()
    page.locator(".cm-line", has_text="name: Many").click()
    page.keyboard.press("End")
    page.keyboard.type(" of them")
    page.wait_for_selector(".text-state.same")
    saved(page)
    assert file_site.document("large")["name"] == "Many of them"
    assert len(file_site.document("large")["nodes"]) == LARGE


def test_a_reader_has_no_copy_of_the_text_to_take_away(file_site: DraftSite, ada: Person, windows: Windows) -> None:
    reader = file_site.person("reader", "read")
    for person, count in ((ada, 1), (reader, 0)):
        page = windows.open(person, person.page("refund", "?view=yaml"), ".cm-line")
        page.wait_for_selector(".head-saved.read_only" if count == 0 else ".head-saved.saved")
        page.wait_for_selector(".text-state.same")
        for name in ("Copy", "Download"):
            assert page.get_by_role("button", name=name, exact=True).count() == count
