"""The inspector's forms in a real browser: a node is filled in by keyboard, with completion and the value over the last run."""

from __future__ import annotations

from typing import Any

import pytest
from axe import violations
from draft_site import DraftSite, Person
from windows import AS_FORM, Windows, canvas, choose, field, pick, saved, until

pytestmark = pytest.mark.quick

INPUTS = {"id": "o-12", "lines": [{"sku": "a-1", "price": 40}, {"sku": "b-2", "price": 80}]}
NODES: dict[str, Any] = {
    "order": {"type": "manual"},
    "score": {"type": "transform", "after": "order", "with": {"value": {"risk": 0.7, "of": "<order.id>"}}},
}
TRIAGE = {"type": "condition", "after": "score", "with": {"cases": {"review": "<score.risk> > 0.5", "pay": "else"}}}
VALUE = ".x-worth output"


@pytest.fixture(scope="module")
def ada(draft_site: DraftSite) -> Person:
    return draft_site.person("ada")


def parameters(draft_site: DraftSite, workflow: str, name: str) -> Any:
    return draft_site.document(workflow)["nodes"][name]["with"]


def label(page: Any, name: str) -> Any:
    return page.locator(".form").get_by_label(name, exact=True)


def says(page: Any, words: str) -> None:
    until(page, "words => document.querySelector('.x-worth')?.innerText.includes(words)", words)


def test_a_node_is_filled_in_by_keyboard(windows: Windows, draft_site: DraftSite, ada: Person, workflow: str) -> None:
    document = {"id": workflow, "nodes": NODES}
    assert draft_site.client.put(f"/workflows/{workflow}", json=document).status_code == 201
    started = draft_site.client.post(f"/workflows/{workflow}/runs", json={"inputs": INPUTS}, headers={"prefer": "wait=20"})
    assert started.json()["outcome"]["status"] == "completed"
    draft_site.open(workflow, document)
    page = windows.open(ada, ada.page(workflow), script=AS_FORM)
    choose(page, "score")
    canvas(page)
    pick(page, "a", "http")
    page.locator(".form").wait_for()
    label(page, "url").focus()
    page.keyboard.type("https://example.com/")
    page.get_by_role("button", name="Expression for url").click()
    until(page, "() => document.activeElement?.shadowRoot?.activeElement?.matches('.cm-content')")
    page.keyboard.type("<or")
    page.locator("#choices li").first.wait_for()
    page.keyboard.press("Enter")
    page.keyboard.type(".li")
    page.keyboard.press("Tab")
    page.keyboard.type("[-1].sku")
    says(page, "= https://example.com/b-2")
    page.keyboard.press("End")
    page.keyboard.type("/<score.o")
    page.keyboard.press("Tab")
    says(page, "= https://example.com/b-2/o-12")
    page.keyboard.press("Tab")  # out of the line, whose list is closed
    page.locator(".form summary").click()
    page.locator("#with-method").select_option("POST")
    page.locator("#with-query").focus()
    page.keyboard.press("Enter")
    until(page, "() => document.activeElement?.id === 'with-query-0-name'")
    page.keyboard.type("limit")
    page.keyboard.press("Enter")
    page.locator("#with-query-0").fill("5")
    saved(page)
    wanted = {"url": "https://example.com/<order.lines[-1].sku>/<score.of>", "method": "POST", "query": {"limit": 5}}
    assert parameters(draft_site, workflow, "http") == wanted
    page.locator("#with-query-0").focus()
    page.keyboard.press("Control+z")
    saved(page)
    assert parameters(draft_site, workflow, "http")["query"] == {"limit": ""}
    assert violations(page, "form") == []
    page.get_by_role("button", name="YAML").click()
    assert "url: https://example.com/<order" in field(page).input_value()


def test_two_type_into_one_expression_and_see_what_is_wrong_with_it(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str
) -> None:
    draft_site.open(workflow, {"id": workflow, "nodes": {**NODES, "triage": TRIAGE}})
    bo = draft_site.person("bo")
    pages = [windows.open(person, person.page(workflow), script=AS_FORM) for person in (ada, bo)]
    lines = []
    for page in pages:
        choose(page, "triage")
        lines.append(page.get_by_label("cases review", exact=True))
        lines[-1].click()
    pages[0].keyboard.press("Home")
    pages[1].keyboard.press("End")
    for place in range(4):
        pages[0].keyboard.type("not "[place])
        pages[1].keyboard.type(" or "[place])
    pages[1].keyboard.type("<scor.x>")
    for page in pages:
        saved(page)
    whole = "not <score.risk> > 0.5 or <scor.x>"
    assert parameters(draft_site, workflow, "triage") == {"cases": {"review": whole, "pay": "else"}}
    for line in lines:
        line.get_by_text(whole).wait_for()
    says(pages[1], "Did you mean")
    pages[1].keyboard.press("Escape")
    fault = pages[1].locator(".form .fault", has_text="scor")
    fault.wait_for()
    assert pages[1].locator(".inspector-findings").count() == 0, "it is shown once, at its field"
    pages[1].locator(".form").get_by_role("button", name="Use score").click()
    fault.wait_for(state="detached")
    saved(pages[1])
    mended = whole.replace("<scor.", "<score.")
    assert parameters(draft_site, workflow, "triage") == {"cases": {"review": mended, "pay": "else"}}
    lines[0].get_by_text(mended).wait_for()
    pages[1].locator("[data-keys]").focus()
    pages[1].keyboard.press("Control+z")
    lines[1].get_by_text(whole).wait_for()
    saved(pages[1])
    assert parameters(draft_site, workflow, "triage") == {"cases": {"review": whole, "pay": "else"}}, "one thing to undo"


def test_a_finding_is_mended_from_the_list_below_the_canvas(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str
) -> None:
    lost = {"type": "htpp", "after": "scor", "with": {"url": "https://example.com/"}}
    draft_site.open(workflow, {"id": workflow, "nodes": {**NODES, "call": lost}})
    page = windows.open(ada, ada.page(workflow), script=AS_FORM)
    page.locator(".findings-sum").click()
    page.locator(".findings").get_by_role("button", name="Use http").click()
    page.locator(".findings").get_by_role("button", name="Use score").click()
    page.locator(".findings", has_text="No findings").wait_for()
    saved(page)
    assert draft_site.document(workflow)["nodes"]["call"] == {**lost, "type": "http", "after": "score"}


def test_a_node_that_was_just_added_is_not_wrong(windows: Windows, draft_site: DraftSite, workflow: str) -> None:
    admin = draft_site.administrator()
    draft_site.open(workflow, {"id": workflow, "nodes": NODES})
    page = windows.open(admin, admin.page(workflow), script=AS_FORM)
    page.locator(".findings", has_text="No findings").wait_for()
    kinds = page.locator(".palette li button").all_inner_texts()
    assert {"loop", "parallel", "webhook", "approval", "condition", "http"} <= set(kinds)
    for kind in kinds:
        page.locator(".flow").focus()
        page.keyboard.press("Escape")
        page.locator(".palette").get_by_role("button", name=kind, exact=True).click()
    saved(page)
    page.locator(".findings-sum.incomplete", has_text="to fill in").wait_for()
    assert page.locator(".block-wrong.error, .block-wrong.warning").count() == 0
    page.get_by_role("button", name="Publish…").click()
    page.locator(".publish-findings", has_text="errors first").wait_for()
    assert page.locator(".block-wrong.error").count() > 0, "who publishes is told"


def test_retries_joins_and_limits_are_entered_by_two_at_once(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str
) -> None:
    call = {"type": "http", "after": ["score", "order"], "timeout_ms": "90s", "with": {"url": "https://example.com/"}}
    draft_site.open(workflow, {"id": workflow, "nodes": {**NODES, "call": call}})
    pages = [windows.open(person, person.page(workflow), script=AS_FORM) for person in (ada, draft_site.person("bo"))]
    for page in pages:
        choose(page, "call")
        page.locator("#set-timeout_ms").wait_for()  # it is open: something is set in it, and it is wrong
        assert page.locator("#set-join-mode").count() == 0, "what nothing is set in is folded"
        page.get_by_text("Branches that meet here").click()
    one, two = pages
    one.locator("#set-retry-attempts").fill("3")
    two.get_by_role("checkbox", name="http_error").check()
    one.locator("#set-join-mode").select_option("any")
    two.locator("#set-join-vars").select_option("custom")
    two.locator("#set-join-vars-custom").fill("<input>[0]")
    two.get_by_role("button", name="Write 90000").click()
    two.locator(".form .finding").wait_for(state="detached")
    for page in pages:
        saved(page)
    causes = ["timeout", "rate_limit", "provider_error", "http_error"]
    until(one, "() => document.querySelector('#set-join-vars-custom')?.value === '<input>[0]'")
    assert draft_site.document(workflow)["nodes"]["call"] == {
        **call, "timeout_ms": 90_000, "retry": {"attempts": 3, "retry_on": causes},
        "join": {"mode": "any", "vars": {"custom": "<input>[0]"}},
    }
    two.get_by_role("checkbox", name="http_error").uncheck()
    saved(two)
    assert draft_site.document(workflow)["nodes"]["call"]["retry"] == {"attempts": 3}, "the default is not written"
    assert violations(one, "settings") == []
    one.locator(".form").get_by_role("button", name="Edit as YAML").click()
    text = one.get_by_role("textbox", name="Settings")
    assert "attempts: 3" in text.input_value()


def test_what_the_whole_workflow_has_is_entered_in_a_form_that_is_loaded_when_it_is_unfolded(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str
) -> None:
    draft_site.open(workflow, {"id": workflow, "nodes": NODES, "concurrency": 2, "timeout": "15m"})
    page = windows.open(ada, ada.page(workflow), script=AS_FORM)
    fold = page.get_by_text("Name, messages, variables and limits")
    fold.wait_for()
    assert page.locator("#set-name").count() == 0, "its form is not there before it is asked for"
    fold.click()
    page.locator("#set-name").fill("Refunds")
    page.locator("#set-description").fill("Pays back.\nAt once.")
    page.locator("#set-concurrency-number").fill("5")
    page.get_by_text("Values", exact=True).click()
    page.locator("#set-variables").click()
    page.locator("#set-variables-0").fill("7")
    page.locator("#set-timeout").fill("soon")
    page.get_by_text("Failures", exact=True).click()
    page.locator("#set-on_failure").select_option("halt")
    page.locator(".form .finding", has_text="soon").wait_for()
    page.locator("#set-timeout").fill("2h")
    page.locator(".form .finding").wait_for(state="detached")
    saved(page)
    document = draft_site.document(workflow)
    assert {name: value for name, value in document.items() if name not in ("id", "nodes")} == {
        "name": "Refunds", "description": "Pays back.\nAt once.", "concurrency": 5, "timeout": "2h", "variables": {"name": 7},
        "on_failure": "halt",
    }  # fmt: skip
    page.locator("#set-concurrency").select_option("concurrency")
    page.locator("#set-concurrency-max").fill("3")
    saved(page)
    assert draft_site.document(workflow)["concurrency"] == {"max": 3}
    assert violations(page, "settings of a workflow") == []
    page.locator(".form").get_by_role("button", name="Edit as YAML").click()
    assert "max: 3" in page.get_by_role("textbox", name="Settings").input_value()
    page.get_by_role("button", name="Edit in a form").click()
    page.locator("#set-concurrency-max").wait_for()
