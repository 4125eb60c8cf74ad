"""Two people in two browsers edit one draft: what its seed promises (M1 to M8), with the frames on the wire counted."""

from __future__ import annotations

from typing import Any

import pytest
from draft_site import DraftSite, Person
from example_drafts import REFUND
from windows import (
    Windows,
    block,
    blocks,
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
    wires,
)

pytestmark = pytest.mark.quick

NAMES = ["ask", "each", "order", "pay", "score", "tick"]
FIVE_MINUTES_AHEAD = """
const now = Date.now.bind(Date);
Date.now = () => now() + 300_000;
Object.defineProperty(performance, "timeOrigin", {value: performance.timeOrigin + 300_000});
"""
KEYS = 500


@pytest.fixture
def pair(draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, workflow: str) -> tuple[Any, Any]:
    """A window of each, on a draft of the refund example."""
    draft_site.open(workflow, {**REFUND, "id": workflow})
    return open_pair(people, windows, workflow)


def open_pair(people: tuple[Person, Person], windows: Windows, workflow: str) -> tuple[Any, Any]:
    ada, bo = (windows.open(person, person.page(workflow)) for person in people)
    for page in (ada, bo):
        page.wait_for_selector(".head-people li")
    return ada, bo


def test_m1_each_window_has_one_socket_and_comes_back_after_the_server_was_killed(
    draft_site: DraftSite, people: tuple[Person, Person], pair: tuple[Any, Any], workflow: str,
) -> None:  # fmt: skip
    for page, other in zip(pair, reversed(people), strict=True):
        frames = frames_of(page)
        assert len(frames.sockets) == 1 and len(frames.of("welcome")) == 1
        assert "entities" not in str(frames.received), "state never travels over the socket"
        assert other.shown in page.locator(".head-people").inner_text()
    draft_site.kill()
    for page in pair:
        page.wait_for_selector(".head-people", state="detached")
    draft_site.start()
    for page in pair:
        page.wait_for_selector(".head-people li")
        assert len(frames_of(page).of("welcome")) == 2
    ada, bo = pair
    choose(ada, "pay")
    ada.keyboard.press("d")
    block(bo, "pay").locator(".disabled").wait_for()
    assert draft_site.document(workflow)["nodes"]["pay"]["enabled"] is False


def test_m2_a_move_changes_the_row_of_the_place_and_no_other(draft_site: DraftSite, pair: tuple[Any, Any], workflow: str) -> None:
    ada, _ = pair
    choose(ada, "pay")
    ada.keyboard.press("d")
    saved(ada)
    pay = draft_site.key_of(workflow, "pay")
    before = draft_site.rows_after(workflow, lambda rows: pay in rows)
    drag(ada, "pay", 40, 80)
    saved(ada)
    place = pay.replace("block/", "place/")
    after = draft_site.rows_after(workflow, lambda rows: place in rows)
    changed = {key for key, seq in after.items() if before.get(key) != seq and not key.startswith("last/")}
    assert changed == {place}


def test_m4_typing_alone_is_sent_after_a_pause_and_beside_a_peer_at_once(
    draft_site: DraftSite, pair: tuple[Any, Any], workflow: str
) -> None:
    ada, bo = pair
    choose(ada, "ask")
    field(ada).focus()
    ada.keyboard.press("Control+End")
    text = "".join("abcdefghij"[place % 10] for place in range(KEYS))
    ada.keyboard.type(text)
    saved(ada)
    assert draft_site.document(workflow)["nodes"]["ask"]["with"] == {"message": "Pay?" + text}
    alone = len(frames_of(ada).ops())
    assert 1 < alone <= 25
    choose(bo, "ask")
    field(bo).focus()
    until(ada, "() => document.querySelector('.person-tag') !== null")
    for place, letter in enumerate("123456", 1):
        ada.keyboard.type(letter)
        until(bo, "end => (document.querySelector('.yaml textarea')?.value ?? '').trimEnd().endsWith(end)", "123456"[:place])
    assert len(frames_of(ada).ops()) - alone == 6


def test_m5_the_later_by_the_servers_time_stands_whatever_the_clocks_of_the_browsers(
    draft_site: DraftSite, people: tuple[Person, Person], windows: Windows, workflow: str
) -> None:
    draft_site.open(workflow, {**REFUND, "id": workflow})
    ada = windows.open(people[0], people[0].page(workflow), script=FIVE_MINUTES_AHEAD)
    bo = windows.open(people[1], people[1].page(workflow))
    assert ada.evaluate("Date.now()") - bo.evaluate("Date.now()") > 200_000
    for number, (first, second) in enumerate([(ada, bo), (bo, ada)]):
        for page, retries in ((first, 2 * number), (second, 2 * number + 1)):
            choose(page, "pay")
            field(page).fill(f"url: https://example.com/pay\nretries: {retries}")
            canvas(page)
            saved(page)
            for shown in (ada, bo):
                choose(shown, "pay")
                field(shown).wait_for()
                until(shown, "end => document.querySelector('.yaml textarea').value.includes(end)", f"retries: {retries}")
    times = [item["at"] for item in draft_site.items(workflow)]
    assert times == sorted(set(times)) and max(times) - min(times) < 120_000
    last = {page: page.locator(".inspector-head [title]").first.get_attribute("title") or "" for page in (ada, bo)}
    assert "by ada" in last[ada] and "by ada just now" in last[bo]


def test_m7_undo_takes_what_is_its_owners_and_tells_the_others(
    draft_site: DraftSite, people: tuple[Person, Person], pair: tuple[Any, Any], workflow: str
) -> None:
    ada, bo = pair
    canvas(ada)
    pick(ada, "a", "transform")
    block(bo, "transform").wait_for()
    ada.keyboard.press("1")
    bo.keyboard.press("1")
    before = wires(bo)
    choose(bo, "order")
    canvas(bo)
    pick(bo, "c", "transform")
    until(ada, "count => document.querySelectorAll('.react-flow__edge').length === count", len(before) + 1)
    choose(bo, "score")
    field(bo).fill("url: https://example.com/bo")
    canvas(bo)
    saved(bo)
    canvas(ada)
    ada.keyboard.press("Control+z")
    for page in pair:
        until_blocks(page, NAMES)
        until_wires(page, before)
    note = bo.locator(".tidings li")
    assert people[0].shown in note.inner_text()
    assert draft_site.document(workflow)["nodes"]["score"]["with"] == {"url": "https://example.com/bo"}, "bo's work stays"
    note.get_by_role("button", name="Restore").click()
    block(ada, "transform").wait_for()
    until_wires(ada, wires(bo))


def test_m7_a_drag_in_fifty_steps_is_one_undo(draft_site: DraftSite, pair: tuple[Any, Any], workflow: str) -> None:
    ada, bo = pair
    drag(ada, "pay", 60, 90, steps=50)
    saved(ada)
    assert len(frames_of(ada).ops()) == 1
    choose(bo, "score")
    field(bo).fill("url: https://example.com/bo")
    canvas(bo)
    saved(bo)
    canvas(ada)
    ada.keyboard.press("Control+z")
    saved(ada)
    assert len(frames_of(ada).ops()) == 2, "one op takes it back"
    entities = draft_site.draft(workflow)["entities"]
    assert not [key for key in entities if key.startswith("place/")]
    assert draft_site.document(workflow)["nodes"]["score"]["with"] == {"url": "https://example.com/bo"}


def test_m8_a_drag_is_followed_while_it_lasts_and_is_one_item_when_it_is_dropped(
    draft_site: DraftSite, pair: tuple[Any, Any], workflow: str
) -> None:
    ada, bo = pair
    where = """name => [...document.querySelectorAll('.react-flow__node')]
        .find(one => one.textContent.includes(name)).style.transform"""
    before = bo.evaluate(where, "pay")
    bo.evaluate("""name => {
        const node = [...document.querySelectorAll('.react-flow__node')].find(one => one.textContent.includes(name));
        window.seen = new Set();
        const seen = new MutationObserver(() => { window.seen.add(node.style.transform); });
        seen.observe(node, {attributes: true, attributeFilter: ['style']});
    }""", "pay")  # fmt: skip
    box = block(ada, "pay").bounding_box()
    ada.mouse.move(box["x"] + 60, box["y"] + 12)
    ada.mouse.down()
    for step in range(1, 31):
        ada.mouse.move(box["x"] + 60 + 4 * step, box["y"] + 12 + 4 * step)
        ada.evaluate("() => new Promise(requestAnimationFrame)")
    until(bo, f"before => ({where})('pay') !== before", before)
    until(bo, "() => window.seen.size >= 5")
    assert draft_site.draft(workflow)["seq"] == 0, "frames of a drag are presence"
    ada.mouse.up()
    saved(ada)
    end = ada.evaluate(where, "pay")
    until(bo, f"end => ({where})('pay') === end", end)
    assert draft_site.draft(workflow)["seq"] == 1
    assert [frame["item"]["effects"][0][0] for frame in frames_of(bo).of("item")] == ["put"]


def test_m8_structure_that_is_refused_rolls_back_and_says_so(
    draft_site: DraftSite, people: tuple[Person, Person], pair: tuple[Any, Any], workflow: str
) -> None:
    ada, bo = pair
    with people[0].cable.deaf():
        rename(ada, "order", "same")
        rename(bo, "pay", "same")
        saved(bo)
        assert "same" in blocks(ada)
    until_blocks(ada, ["ask", "each", "order", "same", "score", "tick"])
    until_blocks(bo, blocks(ada))
    assert "name" in ada.locator(".tidings li").inner_text()
    saved(ada)


def rename(page: Any, name: str, to: str) -> None:
    choose(page, name)
    canvas(page)
    page.keyboard.press("F2")
    page.locator("#name").fill(to)
    page.keyboard.press("Enter")


def test_what_two_people_type_into_one_text_at_once_is_all_kept(
    draft_site: DraftSite, pair: tuple[Any, Any], workflow: str
) -> None:
    ada, bo = pair
    for page in pair:
        choose(page, "ask")
        field(page).focus()
    ada.keyboard.press("Control+End")
    bo.keyboard.press("Control+Home")
    for _ in range(len("message: ")):
        bo.keyboard.press("ArrowRight")
    for one, two in zip("abcdefghijklmnopqrst", "ABCDEFGHIJKLMNOPQRST", strict=True):
        ada.keyboard.type(one)
        bo.keyboard.type(two)
    for page in pair:
        canvas(page)
        saved(page)
    typed = draft_site.document(workflow)["nodes"]["ask"]["with"]["message"]
    assert typed == "ABCDEFGHIJKLMNOPQRSTPay?abcdefghijklmnopqrst"
    for page in pair:
        until(page, "text => (document.querySelector('.yaml textarea')?.value ?? '').includes(text)", typed)


def test_edges_that_are_drawn_by_both_stand_once(draft_site: DraftSite, pair: tuple[Any, Any], workflow: str) -> None:
    ada, bo = pair
    before = len(wires(ada))
    connect(ada, "ask", "each", "rejected")
    connect(bo, "ask", "each", "rejected")
    for page in pair:
        saved(page)
        until(page, "count => document.querySelectorAll('.react-flow__edge').length === count", before + 1)
    assert draft_site.document(workflow)["nodes"]["each"]["after"] == ["pay", "ask.rejected"]


def test_what_others_change_is_announced_to_those_who_do_not_see_it(people: tuple[Person, Person], pair: tuple[Any, Any]) -> None:
    ada, bo = pair
    choose(ada, "pay")
    ada.keyboard.press("d")
    bo.locator("p[role=status]", has_text=f"{people[0].shown} changed pay.").wait_for(state="attached")
    pick(ada, "a", "wait")
    bo.locator("p[role=status]", has_text="added wait").wait_for(state="attached")
    assert "added" not in ada.locator("p[role=status]").first.inner_text(), "to others alone"
