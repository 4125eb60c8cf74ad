"""What a person does in the first hour with the console, and what every page owes to all who use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from axe import violations
from draft_site import DraftSite, Person
from example_drafts import REFUND
from quality import GOOD_SHIFT, MOST_SHIFT, WATCH, faults
from windows import Windows, block, canvas, choose, drag, saved, until, until_wires

ASK = {"id": "asks", "nodes": {
    "begin": {"type": "manual"},
    "ask": {"type": "approval", "after": "begin", "with": {"message": "Refund <begin.amount>?", "timeout": "2d"}},
    "pay": {"type": "transform", "after": "ask.approved", "with": {"value": "{{ 100 / <begin.amount> }}"}},
}}  # fmt: skip
FAILS = {"id": "fails", "nodes": {
    "begin": {"type": "manual"}, "divide": {"type": "transform", "after": "begin", "with": {"value": "{{ 1 / 0 }}"}},
}}  # fmt: skip
EXPORT = {"version": "1.0", "state": {
    "metadata": {"name": "From Sim"},
    "blocks": {
        key: {"id": key, "type": type_, "name": key, "enabled": True, "subBlocks": {}}
        for key, type_ in (("start", "start_trigger"), ("pause", "wait"))
    },
    "edges": [{"id": "e", "source": "start", "target": "pause"}],
}}  # fmt: skip
OF_N8N = {
    "name": "From n8n", "nodes": [
        {"name": "By hand", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}},
        {"name": "Greet", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": {"assignments": {"assignments": [
            {"name": "text", "value": "=Hello {{ $json.name }}", "type": "string"}]}}},
    ],
    "connections": {"By hand": {"main": [[{"node": "Greet", "type": "main", "index": 0}]]}},
}  # fmt: skip


@pytest.fixture(scope="module")
def ada(draft_site: DraftSite) -> Person:
    return draft_site.administrator()


@pytest.fixture
def refund(draft_site: DraftSite, workflow: str) -> str:
    draft_site.open(workflow, {**REFUND, "id": workflow})
    return workflow


def notes(draft_site: DraftSite, workflow: str) -> list[dict[str, Any]]:
    return [entity for key, entity in draft_site.draft(workflow)["entities"].items() if key.startswith("note/")]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_notes_are_written_by_two_moved_and_resized(
    windows: Windows, draft_site: DraftSite, ada: Person, refund: str, theme: str
) -> None:
    page = windows.open(ada, ada.page(refund), color_scheme=theme)
    canvas(page)
    page.keyboard.press("n")
    page.wait_for_selector(".note textarea:focus")
    page.keyboard.type("Asks the manager")
    saved(page)
    other = windows.open(ada, ada.page(refund))
    other.locator(".note", has_text="Asks the manager").dblclick()
    other.wait_for_selector(".note textarea:focus")
    other.keyboard.type(", who has two days")
    until(page, "() => document.querySelector('.note textarea').value === 'Asks the manager, who has two days'")
    page.keyboard.press("Control+Home")
    page.keyboard.type("He ")
    until(other, "() => document.querySelector('.note textarea').value === 'He Asks the manager, who has two days'")
    other.close()
    assert violations(page, f"a note that is written {theme}") == []
    page.keyboard.press("Escape")
    page.get_by_role("radio", name="Blue").check()
    before = notes(draft_site, refund)[0]
    corner = page.locator(".note-corner").bounding_box()
    page.mouse.move(corner["x"] + 12, corner["y"] + 12)
    page.mouse.down()
    page.mouse.move(corner["x"] + 52, corner["y"] + 32, steps=4)
    page.mouse.up()
    card = page.locator(".note").bounding_box()
    page.mouse.move(card["x"] + 30, card["y"] + 10)
    page.mouse.down()
    page.mouse.move(card["x"] + 30, card["y"] - 110, steps=6)
    page.mouse.up()
    saved(page)
    [note] = notes(draft_site, refund)
    assert note["text"] == "He Asks the manager, who has two days" and note["colour"] == "blue"
    assert note["w"] > before["w"] and note["h"] > before["h"] and note["y"] < before["y"]
    assert draft_site.document(refund) == {**REFUND, "id": refund}
    assert violations(page, f"a note that is selected {theme}") == []


def test_a_note_is_cut_and_pasted_together_with_a_node(windows: Windows, draft_site: DraftSite, ada: Person, refund: str) -> None:
    page = windows.open(ada, ada.page(refund), permissions=["clipboard-read", "clipboard-write"])
    canvas(page)
    page.keyboard.press("n")
    page.wait_for_selector(".note textarea:focus")
    page.keyboard.type("Why: see the ledger")
    page.keyboard.press("Escape")
    saved(page)
    before = notes(draft_site, refund)
    choose(page, "pay")
    page.locator(".note").click(modifiers=["Control"])
    canvas(page)
    page.keyboard.press("Control+x")
    page.locator(".note").wait_for(state="detached")
    saved(page)
    assert "pay" not in draft_site.document(refund)["nodes"] and notes(draft_site, refund) == []
    page.keyboard.press("Control+v")
    page.locator(".note", has_text="Why: see the ledger").wait_for()
    block(page, "pay").wait_for()
    saved(page)
    assert notes(draft_site, refund) == before
    page.keyboard.press("Control+z")
    page.locator(".note").wait_for(state="detached")
    saved(page)
    assert "pay" not in draft_site.document(refund)["nodes"], "one thing to undo"
    page.keyboard.press("Control+z")
    page.locator(".note").wait_for()
    block(page, "pay").wait_for()


def test_a_node_goes_between_and_nodes_are_aligned_by_the_menu(
    windows: Windows, draft_site: DraftSite, ada: Person, refund: str
) -> None:
    page = windows.open(ada, ada.page(refund), permissions=["clipboard-read", "clipboard-write"])
    canvas(page)
    page.locator(".react-flow__pane").click(button="right", position={"x": 200, "y": 460})
    page.get_by_role("menuitem", name="Add a node").click()
    page.locator(".picker input").fill("transform")
    page.keyboard.press("Enter")
    block(page, "transform").wait_for()
    path = page.locator(".react-flow__edge[aria-label='order to score'] path").first.bounding_box()
    held = block(page, "transform").bounding_box()
    drag(page, "transform", path["x"] + path["width"] / 2 - held["x"] - 60, path["y"] + path["height"] / 2 - held["y"] - 12)
    saved(page)
    nodes = draft_site.document(refund)["nodes"]
    assert nodes["transform"]["after"] == "order" and nodes["score"]["after"] == "transform"
    page.keyboard.press("Control+z")
    saved(page)
    assert draft_site.document(refund)["nodes"]["score"]["after"] == "order"
    choose(page, "pay")
    block(page, "score").click(modifiers=["Control"])
    block(page, "score").click(button="right")
    assert violations(page, "the menu") == []
    page.get_by_role("menuitem", name="Align top").click()
    saved(page)
    entities = draft_site.draft(refund)["entities"]
    tops = {entities[draft_site.key_of(refund, name).replace("block/", "place/")]["y"] for name in ("pay", "score")}
    assert len(tops) == 1
    block(page, "score").click()
    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="Copy link").press("Enter")
    until(page, "async () => (await navigator.clipboard.readText()).endsWith('?node=score')")
    page.keyboard.press("Escape")
    linked = windows.open(ada, ada.page(refund, "?node=each.tick"))
    until(linked, "() => document.querySelector('#name')?.value === 'tick'")


def test_a_person_is_followed_until_escape(windows: Windows, draft_site: DraftSite, ada: Person, refund: str) -> None:
    bo = draft_site.person("bo")
    page, other = windows.open(ada, ada.page(refund)), windows.open(bo, bo.page(refund))
    page.get_by_role("button", name="Follow bo").click()
    page.wait_for_selector(".following")
    assert violations(page, "following") == []
    canvas(other)
    for scale in ("-", "-"):
        before = page.eval_on_selector(".react-flow__viewport", "one => one.style.transform")
        other.keyboard.press(scale)
        until(page, "before => document.querySelector('.react-flow__viewport').style.transform !== before", before)
    canvas(page)
    page.keyboard.press("Escape")
    page.wait_for_selector(".following", state="detached")


def test_a_workflow_begins_with_an_example_a_paste_or_a_file_and_replaces_nothing(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str
) -> None:
    page = windows.open(ada, ada.workflows(), "button:text-is('New workflow')")

    def begin(way: str) -> None:
        page.goto(ada.workflows())
        page.get_by_role("button", name="New workflow").click()
        page.get_by_role("radio", name=way).check(force=True)

    def made(name: str) -> Any:
        page.locator("#new-id").fill(name)
        page.locator(".dialog-foot .first").click()
        page.wait_for_url(f"**/console/drafts/{name}")
        return draft_site.document(name)

    begin("Example")
    assert violations(page, "the examples") == []
    assert "manager" in made(f"e-{workflow}"[:60].rstrip("-"))["nodes"]
    begin("Paste")
    page.locator("#new-text").fill("# why\nid: pasted-here\nnodes:\n  a: {type: manual} # begins\n")
    until(page, "() => document.querySelector('#new-id').value === 'pasted-here'")
    page.locator("#new-text").fill(json.dumps(EXPORT))
    until(page, "() => document.querySelector('#new-id').value === 'from-sim'")
    assert list(made("from-sim")["nodes"]) == ["start", "pause"]
    begin("File")
    text = "# why\nid: other\nnodes:\n  a: {type: manual} # begins\n"
    page.locator("input[type=file]").set_input_files({"name": "a.yaml", "mimeType": "text/yaml", "buffer": text.encode()})
    until(page, "() => document.querySelector('#new-id').value === 'other'")
    assert made("filed")["nodes"] == {"a": {"type": "manual"}}
    kept = draft_site.client.get("/drafts/filed/yaml").json()["text"]
    assert kept == text.replace("id: other", "id: filed")
    begin("Empty")
    page.locator("#new-id").fill("filed")
    page.locator(".dialog-foot .first").click()
    page.get_by_text("A draft of filed already exists").wait_for()
    assert draft_site.document("filed")["nodes"] == {"a": {"type": "manual"}}


def test_an_export_is_pasted_into_a_draft_and_an_empty_canvas_begins(
    windows: Windows, draft_site: DraftSite, ada: Person, workflow: str
) -> None:
    draft_site.open(workflow)
    page = windows.open(ada, ada.page(workflow), permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", json.dumps(EXPORT))
    page.get_by_role("button", name="Paste").click()
    page.get_by_text("Converted from Sim").wait_for()
    until_wires(page, ["start to pause"])
    saved(page)
    assert draft_site.document(workflow)["name"] == "From Sim"
    page.evaluate("text => navigator.clipboard.writeText(text)", json.dumps(OF_N8N))
    canvas(page)
    page.keyboard.press("Control+v")
    page.get_by_text("Converted from n8n").wait_for()
    until_wires(page, ["start to pause", "By_hand to Greet"])
    saved(page)
    assert draft_site.document(workflow)["nodes"]["Greet"]["with"] == {"value": {"text": "Hello <By_hand.name>"}}
    page.evaluate("navigator.clipboard.writeText('just a sentence')")
    canvas(page)
    page.keyboard.press("Control+v")
    page.get_by_text("The pasted text has no nodes").wait_for()


@pytest.fixture(scope="module")
def run(draft_site: DraftSite) -> str:
    """A run that waits, one that has failed, and one of a draft: its row in the list shows no version."""
    for document in (ASK, FAILS):
        assert draft_site.client.put(f"/workflows/{document['id']}", json=document).status_code == 201
    wait = {"prefer": "wait=20"}
    draft_site.client.post("/workflows/fails/runs", json={"inputs": {}}, headers=wait)
    draft_site.open("asks-in-a-draft", {**ASK, "id": "asks-in-a-draft"})
    draft_site.client.post("/drafts/asks-in-a-draft/runs", json={"inputs": {"amount": 5}}).raise_for_status()
    return str(draft_site.client.post("/workflows/asks/runs", json={"inputs": {"amount": 5}}, headers=wait).json()["run_id"])


def test_a_link_to_a_run_leads_to_the_console_and_brings_its_token(windows: Windows, ada: Person, run: str) -> None:
    page = windows.tab(windows.bare(), f"{ada.cable.url}/runs/{run}/view#token={ada.token}", ".run-title")
    assert page.url == f"{ada.cable.url}/console/runs/{run}"
    page = windows.tab(windows.bare(), f"{ada.cable.url}/runs/{run}/view", "text=Sign in to Stepless")
    page.get_by_label("API key").fill(ada.token)
    page.keyboard.press("Enter")
    page.wait_for_selector(".run-title")


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
def test_every_page_has_contrast_names_a_title_a_focus_order_large_targets_and_stands_still(
    windows: Windows, draft_site: DraftSite, ada: Person, run: str, workflow: str, width: int, theme: str
) -> None:
    draft_site.open(workflow, {**REFUND, "id": workflow})
    look = {"viewport": {"width": width, "height": 844}, "color_scheme": theme}
    found = []
    for name, address, shown in (
        ("runs", ada.page(), "a[href*='/runs/run']"), ("run", f"{ada.page()}runs/{run}", ".run-title"),
        ("approvals", f"{ada.page()}approvals", ".question"), ("errors", f"{ada.page()}errors", ".group"),
        ("workflows", ada.workflows(), "table"), ("workflow", f"{ada.page()}workflows/asks", "h1"),
        ("draft", ada.page(workflow), ".react-flow__node, .outline-row"),
    ):
        page = windows.open(ada, address, shown, WATCH, **look)
        found += faults(page, f"{name} {width} {theme}", GOOD_SHIFT if name == "workflow" else MOST_SHIFT)
        page.set_viewport_size({"width": 320, "height": 640})
        if page.evaluate("document.documentElement.scrollWidth") > 320:
            found.append(f"{name}: scrolls sideways at 320 px")
        page.context.close()
    scope = windows.bare(**look)
    scope.add_init_script(WATCH)
    found += faults(windows.tab(scope, ada.page(), "text=Sign in to Stepless"), f"sign-in {width} {theme}")
    assert found == []


def test_an_empty_server_offers_templates_and_steps_that_tick_themselves_off(page: Any, tmp_path: Path) -> None:
    site = DraftSite(tmp_path)
    try:
        page.goto(f"{site.url}/console/workflows")
        page.get_by_role("heading", name="First steps, 0 of 5").wait_for()
        assert page.locator(".welcome-cards button").count() == 4
        assert violations(page, "an empty server") == []
        page.get_by_role("button", name="Write in Python").click()
        page.get_by_text("stepless init flows --python").wait_for()
        page.get_by_role("button", name="Close").last.click()
        page.get_by_role("button", name="Import from n8n or Sim").click()
        assert page.get_by_role("radio", name="File").is_checked()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Approval").click()
        page.wait_for_url("**/console/drafts/approval")
        assert set(site.document("approval")["nodes"]) == {"request", "size", "manager", "approved", "denied"}
        page.goto(f"{site.url}/console/workflows")
        page.get_by_role("heading", name="First steps, 1 of 5").wait_for()
        run = site.client.post("/drafts/approval/runs", json={"inputs": {"amount": 5, "who": "Ada"}})
        assert run.status_code == 202, run.text
        site.client.put("/workflows/approval", json=site.document("approval")).raise_for_status()
        page.reload()
        page.get_by_role("heading", name="First steps, 3 of 5").wait_for()
        done = page.locator(".steps li.done").all_inner_texts()
        assert [text.partition("\n")[0].strip() for text in done] == ["Begin a workflow", "Test it", "Publish it"], done
        page.get_by_role("button", name="Hide").click()
        page.reload()
        page.get_by_role("link", name="Approval of an amount").wait_for()
        assert page.locator(".steps").count() == 0
    finally:
        site.close()
