"""Who gets the slots of a limit: every rule as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, tuples

from stepless.core.limits.slots import (
    GRANTED,
    Asked,
    Holder,
    change,
    decode_holders,
    doubtful,
    encode_holders,
    kept_share,
    position_in_line,
    run_in_line,
    want_in_line,
    weight_in_line,
)

LEASE, LATER = 1_000, 9_000
A, B, C = (position_in_line(since, 1, 1, run) for since, run in ((1, "a"), (2, "b"), (3, "c")))
MANY = position_in_line(2, 1, 9, "b")
HEAVY = position_in_line(0, 3, 3, "h")


def held(**numbers: int) -> dict[str, Holder]:
    return {run: Holder(1, number, LEASE) for run, number in numbers.items()}


@pytest.mark.parametrize(("holders", "keep", "want", "weight", "line", "granted", "served"), [
    ({}, 0, 1, 1, (), 1, ()),
    ({}, 0, 9, 1, (), 4, ()),  # all that there are
    (held(x=4), 0, 1, 1, (), 0, ()),  # none is free
    (held(x=3), 0, 2, 1, (), 1, ()),
    (held(x=1), 0, 4, 2, (), 2, ()),  # a use is not split
    (held(x=3), 0, 2, 2, (), 0, ()),
    (held(a=2), 2, 2, 1, (), 2, ()),  # besides its own
    ({}, 0, 4, 1, (B,), 3, ("b",)),  # one keeps its use for those that wait longer
    ({}, 0, 4, 1, (MANY,), 2, ("b",)),  # each gets its share
    ({}, 0, 1, 1, (MANY,), 1, ("b",)),  # and what the other does not want
    (held(a=3), 3, 1, 1, (MANY,), 0, ("b",)),  # it has its share
    (held(a=3), 2, 0, 1, (MANY,), 0, ("b",)),
    (held(x=2), 0, 4, 1, (B, C), 0, ("b", "c")),
    (held(x=3), 0, 4, 1, (B, C), 0, ("b",)),
    (held(x=4), 0, 4, 1, (B, C), 0, ()),
    ({}, 0, 4, 1, (A, B), 3, ("b",)),  # those behind are served with the same write
    ({}, 0, 4, 1, (A, B, C), 2, ("b", "c")),
    (held(x=3), 0, 4, 1, (A, B, C), 1, ()),  # at least one use
    (held(x=1, b=2), 0, 4, 1, (B, A), 1, ()),  # who has its share comes after those who have less
    (held(x=1, b=1), 0, 1, 1, (B, A), 1, ("b",)),
    (held(x=2), 0, 1, 1, (HEAVY,), 0, ()),  # a heavy one is not overtaken
    (held(x=2), 0, 1, 1, (HEAVY, B), 0, ()),
    (held(x=1), 0, 1, 1, (HEAVY,), 0, ("h",)),
    (held(a=2), 1, 0, 1, (B,), 0, ("b",)),  # what is given back goes to the line
    (held(a=2), 0, 0, 1, (A, B), 0, ("b",)),
])  # fmt: skip
def test_slots_are_granted(
    holders: Mapping[str, Holder], keep: int, want: int, weight: int, line: Sequence[str], granted: int, served: Sequence[str]
) -> None:
    before = holders["a"].number if "a" in holders else 0
    changed = change(holders, "a", Holder(1, keep, LEASE), before, 4, Asked(want, weight), line, LATER)
    assert (changed.granted, tuple(map(run_in_line, changed.served))) == (granted, tuple(served))
    assert sum(holder.number for holder in changed.holders.values()) <= 4
    assert (changed.holders["a"].number if "a" in changed.holders else 0) == keep + granted
    for place in changed.served:
        had, has = holders.get(run_in_line(place)), changed.holders[run_in_line(place)]
        assert (has.epoch, has.until_ms) == ((GRANTED, LATER) if had is None else (had.epoch, had.until_ms))
        more = has.number - (had.number if had is not None else 0)
        assert 0 < more <= want_in_line(place)
        assert more % weight_in_line(place) == 0


@pytest.mark.parametrize(("max_slots", "runs", "weight", "line", "kept"), [
    (3, 2, 1, (B,), (2, 1)), (3, 3, 1, (B, C), (1, 1)), (3, 4, 1, (B,), (1, 0)), (1, 9, 1, (B,), (1, 0)),
    (100, 3, 1, (MANY,), (34, 33)), (4, 2, 3, (B,), (3, 0)), (12, 2, 4, (B,), (4, 4)),
    (4, 2, 1, (HEAVY,), (2, 0)), (6, 2, 1, (HEAVY,), (3, 3)),  # a heavy one gets its turn
])  # fmt: skip
def test_a_run_keeps_its_share_while_others_wait_and_less_after_its_turn(
    max_slots: int, runs: int, weight: int, line: Sequence[str], kept: tuple[int, int]
) -> None:
    assert tuple(kept_share(max_slots, runs, weight, line, had_turn=had_turn) for had_turn in (False, True)) == kept


def test_a_run_that_has_been_served_is_not_served_again() -> None:
    """It has been woken, or its place has not been removed yet."""
    changed = change({"b": Holder(GRANTED, 1, LATER), **held(a=2)}, "a", Holder(1, 0, LEASE), 2, 4, Asked(), (B, C), LATER + 1)
    assert changed.served == [C]
    assert changed.holders["b"] == Holder(GRANTED, 1, LATER)


def test_a_run_with_two_places_is_served_at_the_first() -> None:
    twice = (B, position_in_line(5, 1, 2, "b"))
    changed = change(held(x=1), "a", Holder(1, 0, LEASE), 0, 4, Asked(1), twice, LATER)
    assert (changed.served, changed.granted, changed.holders["b"].number) == ([B], 1, 1)


def test_a_run_that_does_not_know_its_weight_takes_all_that_is_kept_for_it() -> None:
    holders = {"a": Holder(GRANTED, 3, LATER)}
    asked = change(holders, "a", Holder(1, 0, LEASE), 0, 4, Asked(1), (HEAVY,), LATER)
    assert (asked.granted, list(asked.served)) == (1, [HEAVY])
    whole = change(holders, "a", Holder(1, 0, LEASE), 0, 4, Asked(1, all_kept=True), (HEAVY,), LATER)
    assert (whole.granted, list(whole.served)) == (3, [])


@pytest.mark.parametrize("holder", [Holder(GRANTED, 1, LATER), Holder(1, 3, LATER)])
def test_a_run_that_no_longer_waits_gives_back_what_was_kept_for_it(holder: Holder) -> None:
    held_now = 0 if holder.epoch == GRANTED else 2
    changed = change({"a": holder}, "a", Holder(1, held_now, LEASE), held_now, 4, Asked(gone=True), (B, C), LATER)
    assert (changed.holders.get("a", Holder(1, 0, LEASE)).number, len(changed.served)) == (held_now, 2)


@given(
    numbers=lists(integers(1, 4), max_size=4), kept=integers(0, 4), want=integers(0, 9), weight=integers(1, 3),
    waits=lists(tuples(integers(1, 3), integers(1, 4)), max_size=5), at=integers(0, 5), max_slots=integers(1, 9),
)  # fmt: skip
def test_no_slot_is_free_while_one_waits_for_it_and_none_is_given_twice(
    numbers: list[int], kept: int, want: int, weight: int, waits: list[tuple[int, int]], at: int, max_slots: int
) -> None:
    holders = held(**{f"h{place}": number for place, number in enumerate(numbers)})
    holders |= held(a=kept) if kept else {}
    asked = Asked(want * weight, weight)
    line = [position_in_line(place, heavy, heavy * uses, f"r{place}") for place, (heavy, uses) in enumerate(waits)]
    line.insert(at, position_in_line(at, weight, asked.want, "a"))
    changed = change(holders, "a", Holder(1, kept, LEASE), kept, max_slots, asked, line, LATER)
    before, after = (sum(holder.number for holder in some.values()) for some in (holders, changed.holders))
    assert after <= max(before, max_slots)
    assert changed.granted % weight == 0
    lacking = []
    for place in line:
        name = run_in_line(place)
        is_me = name == "a"
        has = changed.granted if is_me else changed.holders[name].number if name in changed.holders else 0
        wanted = asked.want if is_me else want_in_line(place)
        assert 0 <= has <= wanted
        if wanted - has >= weight_in_line(place):
            lacking.append(weight_in_line(place))
    assert not lacking or max_slots - after < max(lacking)


def test_a_run_that_was_served_takes_its_use_before_all_others() -> None:
    holders = {"a": Holder(GRANTED, 1, LATER), **held(x=3)}
    changed = change(holders, "a", Holder(7, 0, LEASE), 0, 4, Asked(3), (B, C), LATER)
    assert (changed.granted, changed.served) == (1, [])
    assert changed.holders["a"] == Holder(7, 1, LEASE)


def test_a_recovered_run_takes_over_what_it_held() -> None:
    changed = change(held(a=3, x=1), "a", Holder(2, 0, LEASE), 0, 4, Asked(3), (B,), LATER)
    assert (changed.granted, changed.holders["a"]) == (3, Holder(2, 3, LEASE))


@pytest.mark.parametrize("want", [0, 2])
def test_a_process_that_has_lost_the_lease_changes_nothing(want: int) -> None:
    holders = {"a": Holder(5, 2, LEASE)}
    changed = change(holders, "a", Holder(4, 0, LEASE), 1, 4, Asked(want), (B,), LATER)
    assert (changed.holders, changed.granted, changed.served) == (holders, 0, ())


def test_a_use_that_is_granted_meanwhile_survives_what_a_run_gives_back() -> None:
    holders = {"a": Holder(1, 3, LEASE)}  # it knows of two; one was granted to it in line
    kept = change(holders, "a", Holder(1, 1, LEASE), 2, 4, Asked(), (), LATER)
    assert kept.holders["a"] == Holder(1, 2, LEASE)
    left = change(holders, "a", Holder(1, 0, LEASE), 2, 4, Asked(), (), LATER)
    assert left.holders["a"] == Holder(GRANTED, 1, LATER)


def test_an_entry_without_slots_is_removed() -> None:
    assert change(held(a=2), "a", Holder(1, 0, LEASE), 2, 4, Asked(), (), LATER).holders == {}


@pytest.mark.parametrize(("max_slots", "want"), [(1, 5), (2, 5), (3, 1)])
def test_a_limit_that_was_lowered_is_not_exceeded_further(max_slots: int, want: int) -> None:
    changed = change(held(x=3), "a", Holder(1, 0, LEASE), 0, max_slots, Asked(want), (), LATER)
    assert (changed.granted, changed.short) == (0, True)


def test_those_whose_lease_seems_to_have_ended_are_doubted() -> None:
    holders = {"a": Holder(1, 1, 5), "b": Holder(1, 1, 10), "c": Holder(1, 1, 11), "d": Holder(1, 1, 4)}
    assert doubtful(holders, "a", 10) == ["d", "b"]


def test_holders_come_back_as_they_were_stored() -> None:
    holders = {f"run_{number}": Holder(number, number + 1, 10**13 + number) for number in range(200)}
    assert decode_holders(encode_holders(holders)) == holders
    assert decode_holders(None) == {}


def test_places_sort_by_time_and_name_their_run() -> None:
    places = [position_in_line(since, 2, 6, "run#x", "f00d") for since in (0, 9, 10, 10**14)]
    assert places == sorted(places)
    assert (run_in_line(places[0]), weight_in_line(places[0]), want_in_line(places[0])) == ("run#x", 2, 6)
    assert position_in_line(0, 1, 1, "run", "a") != position_in_line(0, 1, 1, "run", "b")
