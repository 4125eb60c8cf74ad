"""What one message may ask of the process that decides it: counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from budgets import NAMES, cases
from budgets import decided as decided_within
from world import mutated

import stepless.drafts.rules.transform as crossing
from stepless.drafts.rules import budget
from stepless.drafts.rules.budget import Budget, Exhausted
from stepless.drafts.rules.document import to_document
from stepless.drafts.rules.effects import Effect, Put, Rename, Set, Splice, Write
from stepless.drafts.rules.requests import Guard, Operation
from stepless.drafts.rules.resolve import Change, Decision, resolve
from stepless.drafts.rules.state import Entities
from stepless.drafts.rules.values import Object
from stepless.limits import (
    MAX_COUNT,
    MAX_CROSSED_PAIRS,
    MAX_DECIDED_CHARACTERS,
    MAX_DECIDED_EFFECTS,
    MAX_DOCUMENT_DEPTH,
    MAX_DRAFT_DEPTH,
    MAX_INTENT_WRITES,
    MAX_ORDER_CHARACTERS,
    MAX_REWRITTEN_PARTS,
)
from stepless.model.json import JSON


def block(id_: str, parent: str | None = None, **fields: JSON) -> Object:
    return {"id": id_, "type": "loop", "parent": parent, "order": "V", **fields}


def draft(**entities: Object) -> Entities:
    return Entities({"doc": {"id": "w", "nodes": None, "description": "here"}, **entities})


def decided(state: Entities, *operations: Sequence[Write], since: Sequence[Effect] = (), guard: bool = False) -> Decision:
    guards = (Guard("doc", ("id",), "other"),) if guard else ()
    made = [Operation(tuple(writes), guards) for writes in operations]
    return resolve(state, made, [Change("Bo", since)] if since else [], Budget())


def codes(decision: Decision) -> list[tuple[str, bool]]:
    return [(one.code, one.refused) for one in decision.outcomes]


def splices(count: int, path: str = "description") -> list[Write]:
    return [Splice("doc", (path,), 0, 0, "x") for _ in range(count)]


@pytest.fixture
def pairs() -> Iterator[list[int]]:
    """Counts pairs of writes that were transformed."""
    counted, pair = [0], crossing._pair

    def counting(mine: Write, theirs: Write, first: bool) -> tuple[list[Write], list[Write]]:
        counted[0] += 1
        return pair(mine, theirs, first)

    with mutated(crossing, "_pair", counting):
        yield counted


@pytest.mark.check
def test_as_many_writes_as_a_request_may_have_are_done() -> None:
    notes: list[Write] = [Put(f"note/n{place}", {"x": place, "y": 0}) for place in range(MAX_INTENT_WRITES)]
    fields: list[Write] = [Set("doc", (f"field{place}",), place) for place in range(MAX_INTENT_WRITES)]
    for writes in (notes, fields, splices(MAX_INTENT_WRITES)):
        made = decided(draft(), writes)
        assert made.outcomes == () and len(made.effects) in (MAX_INTENT_WRITES, 1)
    assert made.state.get("doc") is not None


def test_splices_that_find_no_text_are_crossed_with_each_other_within_bounds(pairs: list[int]) -> None:
    small = decided(draft(), splices(100, "nowhere"))
    assert codes(small) == [("superseded", False)] and len(small.outcomes[0].writes) == 100
    large = decided(draft(), splices(MAX_INTENT_WRITES, "nowhere"))
    assert codes(large) == [("gesture_too_large", True)] and pairs[0] <= 2 * MAX_CROSSED_PAIRS


def test_many_refused_operations_are_too_much_together_and_not_each_alone(pairs: list[int]) -> None:
    with pytest.raises(Exhausted) as raised:
        decided(draft(), *([write] for write in splices(MAX_INTENT_WRITES)), guard=True)
    assert raised.value.by == "transform" and pairs[0] <= 2 * MAX_CROSSED_PAIRS
    assert codes(decided(draft(), *([write] for write in splices(200)), guard=True)) == [("changed_since", True)] * 200


def test_what_was_typed_since_is_crossed_within_bounds(pairs: list[int]) -> None:
    theirs = [Splice("doc", ("description",), 0, 0, "y") for _ in range(1_000)]
    made = decided(draft(), splices(100), since=theirs)
    assert made.outcomes == () and made.state.get("doc") != draft().get("doc")
    with pytest.raises(Exhausted):
        decided(draft(), splices(2_000), since=theirs)
    assert pairs[0] <= 100 * 1_000 + 2 * MAX_CROSSED_PAIRS
    elsewhere = [Splice("block/a", ("with", "t"), 0, 0, "y") for _ in range(1_000)]
    assert decided(draft(), splices(2_000), since=elsewhere).outcomes == ()


def test_a_splice_that_claims_to_remove_more_than_there_is_takes_no_room() -> None:
    for path in ("nowhere", "description"):
        made = decided(draft(), [Splice("doc", (path,), MAX_COUNT, MAX_COUNT, "x"), Splice("doc", ("description",), 0, 0, "a")])
        assert (made.state.get("doc") or {})["description"].startswith("ahere")
    refused = decided(draft(), [Splice("doc", ("description",), 0, MAX_COUNT, "x")], guard=True)
    assert codes(refused) == [("changed_since", True)]


def test_effects_that_follow_from_few_writes_are_bounded() -> None:
    siblings = {f"block/b{place}": block(f"n{place}") for place in range(1_000)}
    long = "V" * MAX_ORDER_CHARACTERS
    orders: list[Write] = [Set("block/b1", ("order",), f"{long}{'V' * (1 + place % 2)}") for place in range(101)]
    made = decided(draft(**siblings), orders)
    assert codes(made) == [("gesture_too_large", True)] and made.effects == ()
    with pytest.raises(Exhausted) as raised:
        decided(draft(**siblings), *([write] for write in orders))
    assert raised.value.by == "effects"
    deleted = decided(draft(**siblings), [Set(f"block/b{place}", ("name",), "x") for place in range(1_000)])
    assert len(deleted.effects) == 1_000 < MAX_DECIDED_EFFECTS


def test_a_long_name_is_not_typed_at_every_reference_without_end() -> None:
    state = draft(**{"block/a": block("a"), "block/b": block("b", **{"with": {"t": "<a.x> " * 100}})})
    name = "n" * (MAX_DECIDED_CHARACTERS // 100 + 1)
    assert codes(decided(state, [Rename("block/a", name)])) == [("gesture_too_large", True)]
    made = decided(state, [Rename("block/a", "n" * 1_000)])
    assert made.outcomes == () and len(made.effects) == 101


def test_containers_are_nested_as_deep_as_a_document_may_be() -> None:
    def nest(depth: int) -> list[Write]:
        return [Put(f"block/b{level}", block(f"n{level}", f"b{level - 1}" if level else None)) for level in range(depth)]

    made = decided(draft(), nest(MAX_DRAFT_DEPTH + 1))
    assert made.outcomes == ()
    levels, node = 0, to_document(made.state)["nodes"]
    while node:
        levels, node = levels + 1, next(iter(node.values())).get("with", {}).get("body", {}).get("nodes")
    assert levels == MAX_DRAFT_DEPTH + 1 and 4 * levels > MAX_DOCUMENT_DEPTH
    assert codes(decided(draft(), nest(MAX_DRAFT_DEPTH + 2))) == [("too_deep", True)]
    # moved there
    deep = Entities({key: made.state.get(key) or {} for key in made.state})
    deep.put("block/x", block("x"))
    deep.put("block/y", block("y", "x"))
    last = f"b{MAX_DRAFT_DEPTH}"
    assert codes(decided(deep, [Set("block/y", ("parent",), last)])) == [("too_deep", True)]
    assert codes(decided(deep, [Set("block/x", ("parent",), f"b{MAX_DRAFT_DEPTH - 1}")])) == [("too_deep", True)]
    assert codes(decided(deep, [Set("block/x", ("parent",), f"b{MAX_DRAFT_DEPTH - 2}")])) == []


def test_many_changes_of_a_text_with_very_many_references_are_too_much() -> None:
    state = draft(**{"block/a": block("a", **{"with": {"t": "<a.x> " * 3_000}})})
    typed: list[Write] = [Splice("block/a", ("with", "t"), 0, 0, "x") for _ in range(200)]
    with mutated(budget, "MAX_REWRITTEN_PARTS", MAX_REWRITTEN_PARTS // 100):
        assert codes(decided(state, typed)) == [("gesture_too_large", True)]
        assert decided(state, typed[:10]).outcomes == ()


def test_blocks_of_one_name_try_names_within_bounds() -> None:
    def named(count: int) -> list[Write]:
        return [Put(f"block/b{place}", block("same")) for place in range(count)]

    few = decided(draft(), named(200))
    assert few.outcomes == () and named_last(few, 199) == "same_200"
    assert codes(decided(draft(), named(2_000))) == [("gesture_too_large", True)]


def named_last(decision: Decision, place: int) -> JSON:
    made = decision.state.get(f"block/b{place}")
    return made["id"] if made is not None else None


def test_every_case_has_a_name() -> None:
    assert tuple(cases()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_takes_as_much_as_allowed_is_done_and_more_is_refused_whole(name: str) -> None:
    case = cases()[name]
    rest = Operation((Set("doc", ("name",), "x"),))
    for operation, refused in ((case.most, False), (case.beyond, True)):
        made = decided_within(case, operation, rest)
        assert [one.code for one in made.outcomes if one.refused] == ["gesture_too_large"] * refused
        assert (made.state.get("doc") or {})["name"] == "x", "what comes behind it is done"
    assert made.effects == (rest.writes[0],) and made.outcomes[0].writes == case.beyond.writes
