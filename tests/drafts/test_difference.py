"""The writes that follow from a typed document: they lead to exactly it, and touch only what changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from retyped import check, is_container
from sweeps import first_quick
from test_documents import DOCUMENTS, canonical
from typed import play

from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.rules.diff import OtherWorkflow, difference, flattened, hunks, towards, transplanted
from stepless.drafts.rules.diff.sequences import orders
from stepless.drafts.rules.document import from_document, to_document
from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fractional_index import is_order
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import Entities, prefix_of, snapshot
from stepless.drafts.rules.values import spliced
from stepless.runtime.wiring.local import local

DOCUMENT: dict[str, Any] = {
    "id": "w", "name": "Refunds", "nodes": {
        "begin": {"type": "manual"},
        "score": {"type": "http", "after": "begin", "with": {"url": "https://a.example", "headers": {"a": "1", "b": "2"}}},
        "triage": {"type": "condition", "after": ["score"], "with": {"cases": {"auto": "<score.risk> < 2", "review": "else"}}},
        "each": {"type": "loop", "after": "triage.auto", "with": {"items": "<score.all>", "body": {"nodes": {
            "say": {"type": "llm", "with": {"messages": [{"role": "user", "content": "hello"}, {"content": "b"}]}},
            "tell": {"type": "http", "after": "say", "with": {"url": "https://b.example"}},
        }}}},
    },
}  # fmt: skip


def state_of(document: dict[str, Any]) -> Entities:
    return Entities(from_document(document, "e", is_container))


def changed(edit: Any) -> tuple[Entities, list[Write], dict[str, Any]]:
    """The state of the document, the writes that lead to it edited, and the edited one."""
    state, goal = state_of(DOCUMENT), json.loads(canonical(DOCUMENT))
    edit(goal)
    writes = flattened(difference(state, goal, "s", is_container)).writes
    decided = resolve(state, [Operation(writes)])
    assert canonical(to_document(decided.state)) == canonical(goal) and not decided.outcomes
    return state, list(writes), goal


def key_of(state: Entities, name: str) -> str:
    return next(key for key in state if prefix_of(key) == "block" and (state.get(key) or {})["id"] == name)


@pytest.mark.parametrize("start", first_quick(range(0, 400, 50), 2))
def test_a_typed_document_is_reached_and_nothing_else_is_written(start: int) -> None:
    for seed in range(start, start + 50):
        rng = Random(seed)
        check(rng, rng.choice(DOCUMENTS))


@pytest.fixture(scope="module")
def verbs() -> Iterator[DraftVerbs]:
    built = local(None)
    yield DraftVerbs(built.world)
    built.close()


@pytest.mark.parametrize("start", first_quick(range(0, 300, 50), 2))
def test_a_typed_text_is_what_the_draft_says_then_to_the_letter(start: int, verbs: DraftVerbs) -> None:
    for seed in range(start, start + 50):
        play(Random(seed), verbs)


def test_a_changed_text_is_one_splice_of_what_differs() -> None:
    state, writes, _ = changed(lambda goal: goal["nodes"]["score"]["with"].update(url="https://a.long.example"))
    assert writes == [Splice(key_of(state, "score"), ("with", "url"), 10, 0, "long.")]


def test_an_item_of_a_list_is_changed_under_its_key() -> None:
    def edit(goal: Any) -> None:
        say = goal["nodes"]["each"]["with"]["body"]["nodes"]["say"]["with"]
        say["messages"].insert(0, {"role": "system", "content": "be brief"})
        say["messages"][2]["content"] = "bye"

    _, writes, _ = changed(edit)
    assert [type(one) for one in writes] in ([Set, Splice, Splice], [Set, Splice])
    assert {one.path[:3] for one in writes if isinstance(one, Set | Splice)} == {("with", "messages", "[]")}


def test_a_node_under_another_name_is_renamed_and_keeps_its_edges() -> None:
    def edit(goal: Any) -> None:
        nodes = goal["nodes"]
        goal["nodes"] = {"rated" if name == "score" else name: node for name, node in nodes.items()}
        goal["nodes"]["triage"]["after"] = ["rated"]

    state, writes, _ = changed(edit)
    assert writes == [Rename(key_of(state, "score"), "rated", True)]


def test_two_nodes_that_change_names_are_renamed() -> None:
    def edit(goal: Any) -> None:
        nodes = goal["nodes"]
        names = {"score": "triage", "triage": "score"}
        goal["nodes"] = {names.get(name, name): node for name, node in nodes.items()}
        goal["nodes"]["score"]["after"] = ["triage"]
        goal["nodes"]["each"]["after"] = "score.auto"

    changed(edit)


def test_a_case_that_moves_is_set_at_its_new_place_and_the_others_stay() -> None:
    def edit(goal: Any) -> None:
        cases = goal["nodes"]["triage"]["with"]["cases"]
        cases["auto"] = cases.pop("auto")

    state, writes, _ = changed(edit)
    path = ("with", "cases", "review")
    key = key_of(state, "triage")
    assert writes in (
        [Unset(key, path), Set(key, path, "else", "auto")],
        [Unset(key, (*path[:2], "auto")), Set(key, (*path[:2], "auto"), "<score.risk> < 2")],
    )


def test_a_node_that_is_carried_into_a_body_keeps_its_key() -> None:
    def edit(goal: Any) -> None:
        node = goal["nodes"].pop("score")
        del node["after"]
        goal["nodes"]["each"]["with"]["body"]["nodes"]["score"] = node
        goal["nodes"]["triage"]["after"] = ["begin"]

    state, writes, _ = changed(edit)
    key = key_of(state, "score")
    assert [one.key for one in writes if isinstance(one, Set) and one.path == ("parent",)] == [key]
    assert not any(isinstance(one, Put | Delete) and one.key == key for one in writes)


def test_places_notes_and_the_text_stay() -> None:
    state = state_of(DOCUMENT)
    beside: dict[str, Any] = {
        key_of(state, "score").replace("block", "place"): {"x": 1, "y": 2}, "note/n1": {"x": 0, "y": 0, "text": "a"},
        "text": {"yaml": "id: w"}, key_of(state, "score").replace("block", "pin"): {"output": 1},
    }
    for key, entity in beside.items():
        state.put(key, entity)
    goal = json.loads(canonical(DOCUMENT))
    del goal["nodes"]["score"]["type"]  # it is taken away and put again
    decided = resolve(state, [flattened(difference(state, goal, "s", is_container))])
    assert canonical(to_document(decided.state)) == canonical(goal)
    assert {key: decided.state.get(key) for key in beside} == beside


def test_the_second_edge_of_a_tie_stays_as_it_is_written() -> None:
    changed(lambda goal: goal["nodes"]["triage"].update(after=["score", "score", {"from": "score", "param": "x"}, "score"]))


@pytest.mark.parametrize("edit", [lambda goal: goal.update(id="other"), lambda goal: goal.pop("id")])
def test_the_id_of_the_workflow_is_not_changed(edit: Any) -> None:
    goal = json.loads(canonical(DOCUMENT))
    edit(goal)
    with pytest.raises(OtherWorkflow):
        difference(state_of(DOCUMENT), goal, "s", is_container)


def test_a_former_state_is_reached_with_its_keys() -> None:
    state = state_of(DOCUMENT)
    now = resolve(state, [Operation((Delete(key_of(state, "score")), Rename(key_of(state, "triage"), "sorted")))]).state
    back = resolve(now, [flattened(towards(now, snapshot(state)))])
    assert not back.outcomes and snapshot(back.state) == snapshot(state)


def test_orders_stay_where_the_sequence_stays() -> None:
    rng = Random(7)
    for _ in range(500):
        present = [rng.choice([None, "0", "V", "V1", "V2", "a", "z", 5, *"bcdefg"]) for _ in range(rng.randrange(20))]
        made = orders(present)
        assert made == sorted(set(made)) and all(map(is_order, made))
    assert orders(["G", None, "V"])[::2] == ["G", "V"]
    assert orders(["V", "G", "k"]) in ([orders(["V", "G", "k"])[0], "G", "k"], ["V", orders(["V", "G", "k"])[1], "k"])
    assert len(set(orders([None] * 5_000))) == 5_000


def test_hunks_lead_from_one_text_to_the_other_and_touch_the_lines_that_differ() -> None:
    rng = Random(3)
    for _ in range(300):
        old = "".join(rng.choice("ab\n\N{GRINNING FACE}") for _ in range(rng.randrange(60)))
        new = "".join(rng.choice("ab\n\N{GRINNING FACE}") for _ in range(rng.randrange(60)))
        made = old
        for hunk in hunks(old, new):
            made = spliced(made, *hunk)
        assert made == new
    lines = "\n".join(f"line {number}" for number in range(100))
    after = lines.replace("line 5\n", "line five\n").replace("line 90", "")
    assert hunks(lines, after) == [(40, 1, "five"), (lines.index("line 90") + 3, 7, "")]


def test_a_change_is_carried_over_to_the_text_below_where_both_have_its_lines() -> None:
    base, shown = "a: 1\nb: 2\nc: 3\n", "a: 1\nb: 9\nc: 3\n"
    assert transplanted(base, shown, shown.replace("c: 3", "c: 3  # said")) == "a: 1\nb: 2\nc: 3  # said\n"
    assert transplanted(base, shown, "# top\n" + shown) == "# top\n" + base
    assert transplanted(base, shown, shown.replace("b: 9", "b: 8")) is None
