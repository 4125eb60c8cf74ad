"""The network goes, the server dies, tabs are reloaded and copied: what was edited is all there, once, in every window."""

from __future__ import annotations

from typing import Any

from built_console import BUILT, at_once, files
from draft_site import DraftSite, Person
from example_drafts import REFUND
from windows import (
    AS_FORM,
    AS_YAML,
    TELLS_WELCOME,
    Windows,
    block,
    canvas,
    choose,
    connect,
    drag,
    field,
    frames_of,
    pick,
    saved,
    until,
    until_blocks,
    until_wires,
)

NAMES = ["ask", "each", "order", "pay", "score", "tick"]

NO_SOCKETS = """
window.WebSocket = class extends EventTarget {
    static OPEN = 1;
    constructor() { super(); setTimeout(() => { this.dispatchEvent(new Event("close")); }); }
    close() {}
};
"""


def open_pair(people: tuple[Person, Person], windows: Windows, workflow: str) -> tuple[Any, Any]:
    ada, bo = (windows.open(person, person.page(workflow)) for person in people)
    for page in (ada, bo):
        page.wait_for_selector(".head-people li")
        page.wait_for_load_state("networkidle")  # the scripts that are fetched ahead are there
    return ada, bo


def agree(draft_site: DraftSite, workflow: str, *pages: Any) -> None:
    """All windows show what is committed, and every edge of it has its ends."""
    for page in pages:
        saved(page)
    entities = draft_site.draft(workflow)["entities"]
    names = {key.removeprefix("block/"): entity["id"] for key, entity in entities.items() if key.startswith("block/")}
    edges = [entity for key, entity in entities.items() if key.startswith("edge/")]
    assert all(edge[end] in names for edge in edges for end in ("source", "target")), "an edge dangles"
    exits = {"source": ""}
    labels = [
        f"{names[edge['source']]}{exits.get(handle, '.' + handle)} to {names[edge['target']]}"
        for edge in edges
        for handle in [edge.get("handle", "source")]
    ]
    for page in pages:
        until_blocks(page, list(names.values()))
        until_wires(page, labels)


def fail_on_notice(page: Any) -> None:
    assert page.locator(".tidings li").count() == 0, page.locator(".tidings").inner_text()


def add(page: Any, kind: str, name: str) -> None:
    canvas(page)
    page.keyboard.press("Escape")
    pick(page, "a", kind)
    page.keyboard.press("F2")
    page.locator("#name").fill(name)
    page.keyboard.press("Enter")
    block(page, name).wait_for()


def type_url(page: Any, name: str, url: str) -> None:
    choose(page, name)
    field(page).fill(f"url: {url}")


def test_both_edit_while_one_is_cut_off_and_both_have_all_of_it_when_it_returns(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    ada, bo = open_pair(people, windows, refund)
    with people[0].cable.cut():
        connect(ada, "ask", "each", "rejected")  # bo deletes what this leads to
        add(ada, "transform", "mine")
        add(ada, "end", "same")
        type_url(ada, "pay", "https://example.com/ada")
        ada.wait_for_selector(".head-saved:not(.saved)")
        choose(bo, "each")
        bo.keyboard.press("Delete")
        add(bo, "end", "same")
        type_url(bo, "score", "https://example.com/bo")
        canvas(bo)
        saved(bo)
        assert draft_site.document(refund)["nodes"]["pay"]["with"] == REFUND["nodes"]["pay"]["with"]
    agree(draft_site, refund, ada, bo)
    nodes = draft_site.document(refund)["nodes"]
    assert sorted(nodes) == ["ask", "end", "mine", "order", "pay", "same", "score"]
    assert nodes["pay"]["with"]["url"].endswith("/ada") and nodes["score"]["with"]["url"].endswith("/bo")
    notes = ada.locator(".tidings").inner_text()
    assert "bo deleted the item that you were changing" in notes and "Another node in this body has this name" in notes
    fail_on_notice(bo)


def test_m6_what_needs_a_block_that_was_deleted_meanwhile_is_not_sent_and_can_be_restored(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    ada, bo = open_pair(people, windows, refund)
    each = draft_site.key_of(refund, "each")
    with people[1].cable.cut():
        connect(bo, "ask", "each", "rejected")
        choose(bo, "each")
        field(bo).fill("times: 5")
        choose(ada, "each")
        ada.keyboard.press("Delete")
        saved(ada)
    agree(draft_site, refund, ada, bo)
    tail = each.removeprefix("block/")
    assert frames_of(bo).ops(lambda text: tail in text) == [], "nothing about the deleted block is sent"
    notes = bo.locator(".tidings li")
    assert "ada deleted the item that you were changing" in notes.last.inner_text()
    notes.last.get_by_role("button", name="Restore").click()
    for page in (ada, bo):
        until_blocks(page, NAMES)
    agree(draft_site, refund, ada, bo)


def test_m3_an_unanswered_edit_is_tried_three_times_then_kept_and_committed_once(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    person = people[0]
    page = windows.open(person, person.page(refund), script=TELLS_WELCOME)
    page.wait_for_load_state("networkidle")  # the scripts that are fetched ahead are there
    until(page, "() => window.isWelcome === true")
    page.clock.install()  # the waits of the tries pass at once
    sent = len(frames_of(page).ops())
    seen = []
    with person.cable.deaf():
        choose(page, "pay")
        page.keyboard.press("d")
        page.wait_for_selector(".head-saved.saving")
        choose(page, "score")
        page.keyboard.press("d")
        for _ in range(40):
            page.clock.run_for(500)
            words = page.locator(".head-saved .cut").inner_text()
            if not seen or seen[-1] != words:
                seen.append(words)
            if words.startswith("Offline"):
                break
        assert seen == ["Saving", "Retrying 1 of 3", "Retrying 2 of 3", "Retrying 3 of 3", "Offline, 2 edits kept"]
        ops = frames_of(page).ops()[sent:]
        assert len(ops) >= 4 and len({(op["n"], op["tag"]) for op in ops}) == 1, "one intent is in flight"
        assert page.locator(".head-saved button").inner_text() == "Try now"
        page.close()
    again = windows.tab(page.context, person.page(refund))  # another tab of the browser adopts what the closed one kept
    agree(draft_site, refund, again)
    nodes = draft_site.document(refund)["nodes"]
    assert [name for name in nodes if nodes[name].get("enabled") is False] == ["score", "pay"]
    assert len(draft_site.items(refund)) == 2


def test_a_tab_that_is_reloaded_keeps_its_edits_and_its_undo(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    person = people[0]
    page = windows.open(person, person.page(refund))
    page.wait_for_load_state("networkidle")  # the scripts that are fetched ahead are there
    with person.cable.cut():
        type_url(page, "pay", "https://example.com/kept")
        canvas(page)
        page.keyboard.press("Escape")
        choose(page, "each")
        page.keyboard.press("Delete")
        page.wait_for_selector(".head-saved:not(.saved)")
        until_blocks(page, ["ask", "order", "pay", "score"])
        page.goto("about:blank")
    page.goto(person.page(refund))
    page.wait_for_selector(".react-flow__node")
    agree(draft_site, refund, page)
    nodes = draft_site.document(refund)["nodes"]
    assert "each" not in nodes and nodes["pay"]["with"]["url"].endswith("/kept")
    canvas(page)
    page.keyboard.press("Control+z")
    saved(page)
    page.keyboard.press("1")  # what came back lies outside of what the reloaded page shows
    block(page, "tick").wait_for()
    page.keyboard.press("Control+z")
    agree(draft_site, refund, page)
    assert draft_site.document(refund) == {**REFUND, "id": refund}


def test_a_copied_tab_is_another_client_and_both_keep_their_edits(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    person = people[0]
    page = windows.open(person, person.page(refund))
    with page.expect_popup() as opened:
        page.evaluate("() => { window.open(location.href); }")  # with the session's storage of this tab, as a copy has it
    copy = opened.value
    windows.watch(copy)
    copy.wait_for_selector(".react-flow__node")
    page.wait_for_selector(".head-people li")
    for one, name in ((page, "pay"), (copy, "score"), (page, "ask"), (copy, "order")):
        choose(one, name)
        one.keyboard.press("d")
    agree(draft_site, refund, page, copy)
    items = draft_site.items(refund)
    assert len({item["client"] for item in items}) == 2
    nodes = draft_site.document(refund)["nodes"]
    disabled = {name for name in nodes if nodes[name].get("enabled", True) is not True}  # `ask` leaves by one of its exits
    assert disabled == {"pay", "score", "ask", "order"}


def test_two_editors_come_back_after_the_server_was_killed_with_their_edits_in_flight(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    ada, bo = open_pair(people, windows, refund)
    for page in (ada, bo):
        choose(page, "ask")
    field(ada).focus()
    ada.keyboard.press("Control+End")
    field(bo).focus()
    bo.keyboard.press("Control+Home")
    for _ in range(len("message: ")):
        bo.keyboard.press("ArrowRight")
    for number in range(3):
        ada.keyboard.type(f"a{number}")
        bo.keyboard.type(f"B{number}")
        draft_site.kill()  # what was typed last may be committed or not: no client can know
        ada.keyboard.type("-")
        bo.keyboard.type("+")
        draft_site.start()
    for page in (ada, bo):
        canvas(page)
    agree(draft_site, refund, ada, bo)
    assert draft_site.document(refund)["nodes"]["ask"]["with"] == {"message": "B0+B1+B2+Pay?a0-a1-a2-"}
    for page in (ada, bo):
        until(page, "() => (document.querySelector('.yaml textarea')?.value ?? '') === 'message: B0+B1+B2+Pay?a0-a1-a2-'")
        fail_on_notice(page)
    tags = [(item["client"], item["tag"]) for item in draft_site.items(refund)]
    assert len(tags) == len(set(tags))


def test_a_draft_that_is_replaced_under_open_editors_is_read_only_and_what_waits_is_listed(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    page = windows.open(people[0], people[0].page(refund))
    with people[0].cable.cut():
        choose(page, "pay")
        page.keyboard.press("d")
        draft_site.open(refund, {**REFUND, "id": refund})
    page.wait_for_selector(".head-saved.read_only")
    page.wait_for_selector(".tidings")
    assert "1 edit" in page.locator(".tidings").inner_text()
    assert draft_site.items(refund) == [], "none applies itself"


def test_where_the_script_of_a_part_does_not_come_the_part_says_so_and_the_editor_goes_on(
    page: Any, draft_site: DraftSite, refund: str
) -> None:
    page.add_init_script(AS_YAML)
    for script in ("**/field-*.js", "**/aside-*.js"):
        page.route(script, lambda route: route.abort())
    page.goto(f"{draft_site.url}/console/drafts/{refund}")
    choose(page, "ask")
    part = page.locator(".parameters")
    part.get_by_text("Its script could not be loaded").wait_for()
    page.keyboard.press("d")
    block(page, "ask").locator(".disabled").wait_for()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Could not load this dialog")
    dialog.get_by_text("Its script could not be loaded").wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    saved(page)
    page.unroute_all()
    part.get_by_role("button", name="Try again").click()
    until(page, "() => document.querySelector('.yaml textarea')?.value.startsWith('message: ')")
    canvas(page)
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()


def test_a_page_without_sockets_edits_and_follows_by_long_poll(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    poller = windows.open(people[0], people[0].page(refund), script=NO_SOCKETS)
    bo = windows.open(people[1], people[1].page(refund))
    choose(poller, "pay")
    poller.keyboard.press("d")
    block(bo, "pay").locator(".disabled").wait_for()
    choose(bo, "score")
    bo.keyboard.press("d")
    block(poller, "score").locator(".disabled").wait_for()
    agree(draft_site, refund, poller, bo)
    assert frames_of(poller).sockets == []


def test_a_ticket_that_cannot_be_had_for_a_moment_is_asked_for_again(page: Any, draft_site: DraftSite, refund: str) -> None:
    page.route("**/ticket", lambda route: route.fulfill(status=503, json={"code": "store_unavailable"}), times=1)
    page.goto(f"{draft_site.url}/console/drafts/{refund}")
    page.wait_for_selector(".react-flow__node")
    saved(page)
    choose(page, "pay")
    page.keyboard.press("d")
    agree(draft_site, refund, page)
    assert len(frames_of(page).sockets) == 1


def test_a_page_without_sockets_learns_that_its_draft_was_discarded(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, refund: str
) -> None:
    poller = windows.open(people[0], people[0].page(refund), script=NO_SOCKETS)
    saved(poller)
    draft_site.client.delete(f"/drafts/{refund}").raise_for_status()
    choose(poller, "pay")
    poller.keyboard.press("d")
    poller.wait_for_selector(".head-saved.read_only")


def test_the_first_edits_need_only_what_is_loaded_with_the_editor(
    windows: Windows, draft_site: DraftSite, people: tuple[Person, Person], refund: str,
) -> None:  # fmt: skip
    """What tests/console/test_build.py counts as the canvas to the first edit: every other file is still on its way here."""
    served = at_once(files(BUILT), "editor")
    page = windows.open(people[0], "about:blank", "body", script=AS_FORM)
    held: list[str] = []

    def answer(route: Any) -> None:
        name = route.request.url.partition("/console/")[2]
        if name in served:
            route.continue_()
        else:
            held.append(name)

    page.route("**/console/assets/*", answer)
    page.goto(people[0].page(refund))
    choose(page, "score")
    page.locator(".palette").get_by_role("button", name="wait", exact=True).click()
    block(page, "wait").wait_for()
    choose(page, "wait")
    page.locator("#name").fill("later")
    page.keyboard.press("Enter")
    block(page, "later").wait_for()
    connect(page, "later", "pay")
    drag(page, "later", 40, 80)
    page.keyboard.press("Control+z")
    saved(page)
    assert held, "nothing is loaded after the editor"
    document = draft_site.document(refund)["nodes"]
    assert document["later"]["type"] == "wait"
    assert "later" in str(document["pay"]["after"])
