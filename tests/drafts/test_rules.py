"""What the server decides, rule by rule; the tables of `editing.resolve` and `editing.shapes`."""

from __future__ import annotations

import json

import pytest
from expansion import expand
from invariants import faults

from stepless.drafts.rules.effects import Delete, Effect, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fold import fold
from stepless.drafts.rules.pins import pin_bytes
from stepless.drafts.rules.requests import Guard, Operation
from stepless.drafts.rules.resolve import Change, Decision, resolve
from stepless.drafts.rules.state import Entities, snapshot
from stepless.drafts.rules.values import Object
from stepless.limits import MAX_ORDER_CHARACTERS, MAX_PIN_BYTES, MAX_PINS_BYTES
from stepless.model.json import JSON


def block(id_: str, parent: str | None = None, order: str = "V", **fields: JSON) -> Object:
    return {"id": id_, "type": "http", "parent": parent, "order": order, **fields}


def edge(source: str, target: str, **fields: JSON) -> Object:
    return {"source": source, "target": target, "order": "V", "home": "after", **fields}


STATE: dict[str, Object] = {
    "doc": {"id": "w", "nodes": None},
    "block/a": block("a", order="A"),
    "block/b": block("b", order="B", **{"with": {"prompt": "<a.x> and <a>, <ab.x>"}}),
    "block/l": block("l", order="C", **{"with": {}}),
    "subflow/l": {"items": "<a.rows>", "body": {"nodes": None}},
    "block/c": block("c", "l", "A", **{"with": {"text": "<a.y> <c.z>"}}),
    "block/d": block("d", "l", "B"),
    "edge/ab": edge("a", "b"),
    "edge/cd": edge("c", "d"),
    "place/b": {"x": 1, "y": 2},
    "pin/b": {"output": 1},
}


def decide(
    *writes: Write, guards: tuple[Guard, ...] = (), since: tuple[Effect, ...] = (), state: dict[str, Object] = STATE,
) -> Decision:
    made = resolve(fold(Entities(state), since), [Operation(writes, guards)], [Change("Bo", since)])
    assert list(faults(made.state)) == []
    return made


def codes(decision: Decision) -> list[tuple[str, str, str | None, bool]]:
    return [(one.code, one.key, one.by, one.refused) for one in decision.outcomes]


# -- names -------------------------------------------------------------------------------------------------------------


def test_a_second_block_of_one_name_gets_a_number() -> None:
    made = decide(Put("block/n", block("a")), Put("block/m", block("a")))
    assert [effect.entity["id"] for effect in made.effects if isinstance(effect, Put)] == ["a_2", "a_3"]


def test_what_an_operation_adds_follows_the_name_that_its_block_gets() -> None:
    fragment = (
        Put("block/n", block("a")), Put("block/m", block("user", **{"with": {"t": "<a.out> <b.x>"}})),
        Put("block/k", block("loop", **{"with": {}})), Put("subflow/k", {"items": "<a.rows>", "body": {"nodes": None}}),
    )
    made = decide(*fragment).state
    assert (made.get("block/m") or {})["with"] == {"t": "<a_2.out> <b.x>"}
    assert (made.get("subflow/k") or {})["items"] == "<a_2.rows>"
    assert (made.get("block/b") or {})["with"] == {"prompt": "<a.x> and <a>, <ab.x>"}


def test_two_bodies_may_have_blocks_of_one_name() -> None:
    assert decide(Put("block/n", block("a", "l"))).state.get("block/n") == block("a", "l")


def test_a_rename_rewrites_every_reference_that_means_the_block() -> None:
    made = decide(Rename("block/a", "first")).state
    assert (made.get("block/b") or {})["with"] == {"prompt": "<first.x> and <first>, <ab.x>"}
    assert (made.get("subflow/l") or {})["items"] == "<first.rows>"
    assert (made.get("block/c") or {})["with"] == {"text": "<first.y> <c.z>"}


def test_a_rename_leaves_references_to_another_block_of_that_name() -> None:
    shadowed = {**STATE, "block/d": block("a", "l", "B")}
    made = decide(Rename("block/a", "first"), state=shadowed).state
    assert (made.get("block/c") or {})["with"] == {"text": "<a.y> <c.z>"}


def test_a_rename_to_a_taken_name_is_refused_alone() -> None:
    state = Entities(STATE)
    made = resolve(state, [Operation((Rename("block/a", "b"),)), Operation((Set("doc", ("name",), "x"),))])
    assert made.effects == (Set("doc", ("name",), "x"),)
    assert codes(made) == [("name_taken", "block/b", None, True)]


def test_a_reference_typed_meanwhile_is_not_rewritten_by_an_expanded_rename() -> None:
    asked = expand(Entities(STATE), Operation((Rename("block/a", "first"),))).operation
    assert asked is not None
    typed = Splice("block/b", ("with", "prompt"), 0, 0, "<a.new> ")
    made = resolve(fold(Entities(STATE), [typed]), [asked], [Change("Bo", [typed])])
    assert (made.state.get("block/b") or {})["with"] == {"prompt": "<a.new> <first.x> and <first>, <ab.x>"}


def test_what_is_typed_behind_a_refused_rename_stays_where_it_was_typed() -> None:
    view = Entities(STATE)
    asked = expand(view, Operation((Rename("block/a", "first"),)))
    assert asked.operation is not None
    typed = Splice("block/b", ("with", "prompt"), len("<first.x> and"), 0, " also")
    taken = Put("block/n", block("first"))
    made = resolve(fold(view, [taken]), [asked.operation, Operation((typed,))], [Change("Bo", [taken])])
    assert codes(made) == [("name_taken", "block/n", "Bo", True)]
    assert (made.state.get("block/b") or {})["with"] == {"prompt": "<a.x> and also <a>, <ab.x>"}


# -- edges -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("put", "code"), [
    (edge("a", "gone"), "gone"), (edge("a", "c"), "other_body"),
    (edge("a", "b", handle="source", param="input"), "already_there"),
])
def test_an_edge_holds_only_between_two_blocks_of_one_body_and_once(put: Object, code: str) -> None:
    made = decide(Put("edge/n", put))
    assert made.effects == () and [one.code for one in made.outcomes] == [code]


def test_two_keys_of_one_exit_may_feed_one_param() -> None:
    assert len(decide(Put("edge/n", edge("a", "b", key="rows"))).effects) == 1


def test_an_edge_to_a_deleted_block_is_dropped_and_names_who_deleted_it() -> None:
    made = decide(Put("edge/n", edge("b", "l")), since=(Delete("subflow/l"), Delete("block/l")), state=STATE | {
        "block/c": block("c"), "block/d": block("d"),
    })
    assert codes(made) == [("gone", "block/l", "Bo", False)]
    assert made.outcomes[0].writes == (Put("edge/n", edge("b", "l")),)


def test_moving_both_ends_keeps_the_edge_and_moving_one_deletes_it() -> None:
    both = decide(Set("block/a", ("parent",), "l"), Set("block/b", ("parent",), "l"))
    assert both.state.get("edge/ab") is not None
    assert decide(Set("block/b", ("parent",), "l")).state.get("edge/ab") is None


def test_an_edge_may_be_tied_before_its_block_moves() -> None:
    made = decide(Put("edge/n", edge("c", "b")), Set("block/b", ("parent",), "l"))
    assert made.state.get("edge/n") is not None


def test_an_edge_never_changes_its_ends() -> None:
    assert codes(decide(Set("edge/ab", ("source",), "b"))) == [("not_allowed", "edge/ab", None, True)]


# -- deletions and moves -----------------------------------------------------------------------------------------------


def test_what_hangs_on_a_block_goes_with_it() -> None:
    made = decide(Delete("block/b"))
    assert {effect.key for effect in made.effects} == {"edge/ab", "place/b", "pin/b", "block/b"}
    assert snapshot(decide(Delete("block/l")).state).keys() == {"doc", "block/a", "block/b", "edge/ab", "place/b", "pin/b"}


def test_a_child_that_moved_out_before_stays() -> None:
    moved = Set("block/c", ("parent",), None)
    made = decide(Delete("block/l"), since=(Delete("edge/cd"), moved))
    assert made.state.get("block/c") is not None and made.state.get("block/d") is None


def test_a_block_cannot_be_put_inside_itself() -> None:
    nested = STATE | {"block/m": block("m", "l", **{"with": {}}), "subflow/m": {"body": {"nodes": None}}}
    assert codes(decide(Set("block/l", ("parent",), "m"), state=nested)) == [("parent_cycle", "block/l", None, True)]


def test_moving_into_a_container_that_is_gone_is_dropped_and_a_taken_name_is_numbered() -> None:
    gone = decide(Set("block/b", ("parent",), "z"))
    assert codes(gone) == [("gone", "block/z", None, False)]
    named = decide(Set("block/n", ("parent",), "l"), state=STATE | {"block/n": block("c")})
    assert (named.state.get("block/n") or {})["id"] == "c_2"


def test_an_order_beyond_its_limit_gives_the_siblings_new_ones() -> None:
    made = decide(Set("block/b", ("order",), "A" * MAX_ORDER_CHARACTERS + "V")).state
    orders = {key: (made.get(key) or {})["order"] for key in ("block/a", "block/b", "block/l")}
    assert max(map(len, orders.values())) == 1 and sorted(orders, key=orders.__getitem__) == ["block/a", "block/b", "block/l"]


# -- values ------------------------------------------------------------------------------------------------------------


def test_text_over_which_a_value_was_set_is_dropped_and_given_back() -> None:
    typed = Splice("block/b", ("with", "prompt"), 0, 0, "hi")
    made = decide(typed, since=(Set("block/b", ("with", "prompt"), "new"),))
    assert codes(made) == [("superseded", "block/b", "Bo", False)] and made.outcomes[0].writes == (typed,)


def test_a_write_below_what_is_no_object_any_more_is_dropped() -> None:
    made = decide(Set("block/b", ("with", "headers", "a"), 1), since=(Set("block/b", ("with",), 5),))
    assert [one.code for one in made.outcomes] == ["superseded"]


def test_a_guard_that_does_not_hold_refuses_the_operation() -> None:
    guard = Guard("place/b", ("x",), 7)
    assert codes(decide(Set("place/b", ("x",), 9), guards=(guard,))) == [("changed_since", "place/b", None, True)]
    assert len(decide(Set("place/b", ("x",), 9), guards=(Guard("place/b", ("x",), 1), Guard("place/n", (), None))).effects) == 1


def test_a_guard_compares_the_order_of_keys_and_the_types_of_numbers() -> None:
    state = STATE | {"block/a": block("a", **{"with": {"x": 1, "y": 2}})}
    for value in ({"y": 2, "x": 1}, {"x": True, "y": 2}, {"x": 1.0, "y": 2}):
        made = decide(Set("doc", ("name",), "n"), guards=(Guard("block/a", ("with",), value),), state=state)
        assert [one.code for one in made.outcomes] == ["changed_since"], value


@pytest.mark.parametrize("write", [
    Put("doc", {}), Delete("doc"), Set("doc", ("id",), "x"), Put("block/n", {"id": "n"}), Unset("block/a", ("id",)),
    Unset("block/a", ("order",)), Set("block/a", ("id", "x"), 1), Set("block/a", ("order",), "10"), Set("block/a", (), {}),
    Splice("block/a", ("id",), 0, 0, "x"), Put("place/a", {"x": "1", "y": 2}), Put("place/a", {"x": 1, "y": 2, "z": 3}),
    Put("what/a", {}), Put("block/a/b", block("n")),
    Delete("subflow/l"), Unset("edge/ab", ("target",)), Rename("edge/ab", "x"), Put("text", {"yaml": 5}),
])
def test_the_table_forbids(write: Write) -> None:
    assert [(one.code, one.refused) for one in decide(write).outcomes] == [("not_allowed", True)]


def test_a_write_that_changes_nothing_is_neither_an_effect_nor_an_outcome() -> None:
    made = decide(Set("place/b", ("x",), 1), Unset("block/a", ("retry",)), Put("block/a", STATE["block/a"]))
    assert made.effects == () == made.outcomes


def test_deciding_costs_what_is_touched_and_many_operations_do_not_nest() -> None:
    operations = [Operation((Set("doc", ("variables", f"v{number}"), number),)) for number in range(5_000)]
    assert len(resolve(Entities(STATE), operations).effects) == 5_000


def test_a_rename_rewrites_strict_references() -> None:
    reader = block("user", **{"with": {"t": "<a!> <a.x!> <ab!> <a!b>"}})
    made = decide(Put("block/m", reader), Rename("block/a", "first")).state
    assert (made.get("block/m") or {})["with"] == {"t": "<first!> <first.x!> <ab!> <a!b>"}


# -- pins --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kept", "output"), [
    (None, None), (1.5, 1.5), ({"#": "1.0"}, 1.0), ("ä\"\n", "ä\"\n"), ([1, True], [1, True]), ({"[]": {}}, []), ({}, {}),
    ({"a": {"b": []}, "ü": "x"}, {"a": {"b": []}, "ü": "x"}),
    ({"[]": {"k1": {"order": "A", "is": "one"}, "k2": {"order": "B", "is": {"x": 1}}}}, ["one", {"x": 1}]),
])
def test_a_pin_is_measured_as_what_a_run_puts_out(kept: JSON, output: JSON) -> None:
    assert pin_bytes(kept) == len(json.dumps(output, ensure_ascii=False, separators=(",", ":")).encode())


def test_a_pin_that_is_too_large_is_refused() -> None:
    most = "x" * (MAX_PIN_BYTES - 2)
    assert decide(Put("pin/b", {"output": most})).outcomes == decide(Set("pin/b", ("output",), most)).outcomes
    assert codes(decide(Put("pin/b", {"output": most}))) == []
    for write in (Put("pin/b", {"output": most + "x"}), Set("pin/b", ("output",), {"a": most})):
        assert codes(decide(write)) == [("pin_too_large", "pin/b", None, True)]
    state = {**STATE, "pin/b": {"output": most}}
    assert codes(decide(Splice("pin/b", ("output",), 0, 0, "x"), state=state)) == [("pin_too_large", "pin/b", None, True)]


def test_the_pins_of_a_draft_are_bounded_together() -> None:
    tails = [f"p{number}" for number in range(MAX_PINS_BYTES // MAX_PIN_BYTES)]
    blocks = {f"block/{tail}": block(tail) for tail in tails}
    full = {**STATE, **blocks, **{f"pin/{tail}": {"output": "x" * (MAX_PIN_BYTES - 2)} for tail in tails}}
    left = MAX_PINS_BYTES - len(tails) * MAX_PIN_BYTES - 2
    assert codes(decide(Put("pin/b", {"output": "x" * left}), state=full)) == []
    assert codes(decide(Put("pin/b", {"output": "x" * (left + 1)}), state=full)) == [("pins_too_large", "pin/b", None, True)]
    over = {**full, "pin/a": {"output": "x" * MAX_PIN_BYTES}}
    assert codes(decide(Delete("pin/p0"), state=over)) == [], "less is never refused"
