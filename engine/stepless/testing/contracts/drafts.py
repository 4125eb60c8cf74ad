"""Tests the contract of stored drafts. A database that keeps none skips it."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import EngineBug, LimitExceeded
from stepless.limits import MAX_BATCH_BYTES, MAX_ENTITY_KEY_CHARACTERS, MAX_ORIGIN_BYTES
from stepless.ports import Draft, DraftHead, Drafts, Entity, Op, StateAt

FAR = 4_000_000_000_000
ONE = Draft("wf", 1)
FIRST = DraftHead("wf", 1, b"{}", b"{}", 5, "ada")


def entities(drafts: Drafts, draft: Draft = ONE, limit: int = 1000) -> list[Entity]:
    """All pages."""
    found, cursor = list[Entity](), None
    for _ in range(1000):
        page = drafts.read_entities(draft, limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found
    raise AssertionError("the listing does not end")


def heads(drafts: Drafts, limit: int = 100) -> list[str]:
    """The workflows of all pages."""
    found, cursor = list[str](), None
    for _ in range(1000):
        page = drafts.list_heads(limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        found += [head.workflow_id for head in page.items]
        cursor = page.cursor
        if cursor is None:
            return found
    raise AssertionError("the listing does not end")


# -- heads -----------------------------------------------------------------------------------------------------------


def test_a_first_head_is_stored_once(drafts: Drafts) -> None:
    assert drafts.get_head("wf") is None
    assert drafts.put_head(FIRST, None) == FIRST
    assert drafts.put_head(FIRST, None) == FIRST  # again, after its response was lost
    assert drafts.put_head(FIRST._replace(created_by="bo"), None) == FIRST == drafts.get_head("wf")


def test_a_head_replaces_the_one_of_the_epoch_before_and_no_other(drafts: Drafts) -> None:
    second = FIRST._replace(epoch=2, origin=b"[2]", base=b"[2]", created_ms=9, created_by="bo", former=1)
    assert drafts.put_head(second, 1) is None is drafts.get_head("wf")
    drafts.put_head(FIRST, None)
    assert drafts.put_head(second._replace(epoch=3), 2) == FIRST
    assert drafts.put_head(second, 1) == second == drafts.get_head("wf")
    assert drafts.put_head(FIRST._replace(epoch=2), 1) == second
    discarded = FIRST._replace(epoch=3, is_open=False, former=2)
    assert drafts.put_head(discarded, 2) == discarded == drafts.get_head("wf")


def test_of_many_first_heads_one_is_stored(drafts: Drafts, race: Any) -> None:
    stored = race(lambda i: drafts.put_head(FIRST._replace(created_by=f"p{i}"), None))
    assert set(stored) == {drafts.get_head("wf")}


def test_of_many_next_heads_one_is_stored(drafts: Drafts, race: Any) -> None:
    drafts.put_head(FIRST, None)
    stored = race(lambda i: drafts.put_head(FIRST._replace(epoch=2, created_by=f"p{i}"), 1))
    assert set(stored) == {drafts.get_head("wf")}


def test_checked_only_rises_and_within_its_epoch(drafts: Drafts) -> None:
    assert not drafts.raise_checked(ONE, 1)
    drafts.put_head(FIRST, None)
    assert [drafts.raise_checked(ONE, seq) for seq in (3, 2, 3, 4)] == [True, False, False, True]
    assert not drafts.raise_checked(Draft("wf", 2), 9)
    assert drafts.get_head("wf") == FIRST._replace(checked=4)
    drafts.put_head(FIRST._replace(epoch=2), 1)
    assert not drafts.raise_checked(ONE, 9)
    assert drafts.get_head("wf") == FIRST._replace(epoch=2)


def test_checked_that_many_raise_ends_at_the_highest(drafts: Drafts, race: Any) -> None:
    drafts.put_head(FIRST, None)
    race(lambda i: drafts.raise_checked(ONE, i + 1))
    assert drafts.get_head("wf") == FIRST._replace(checked=20)


def test_the_base_moves_from_the_one_that_the_caller_knows(drafts: Drafts) -> None:
    drafts.put_head(FIRST, None)
    assert not drafts.move_base(Draft("wf", 2), b"{}", b"[1]")
    assert drafts.move_base(ONE, b"{}", b"[1]")
    assert drafts.move_base(ONE, b"{}", b"[1]")  # again, after its response was lost
    assert not drafts.move_base(ONE, b"{}", b"[2]")
    assert drafts.get_head("wf") == FIRST._replace(base=b"[1]")


def test_heads_are_listed_by_workflow_discarded_ones_too(drafts: Drafts) -> None:
    assert heads(drafts) == []
    for name in ("c", "a", "e", "b", "d"):
        drafts.put_head(FIRST._replace(workflow_id=name), None)
    drafts.put_head(FIRST._replace(workflow_id="b", epoch=2, is_open=False), 1)
    for limit in (1, 2, 5, 100):
        assert heads(drafts, limit) == ["a", "b", "c", "d", "e"]
    assert [head.is_open for head in drafts.list_heads().items] == [True, False, True, True, True]


def test_a_head_has_a_workflow_that_fits_into_keys(drafts: Drafts) -> None:
    for wrong in ("", "a#1", "x" * (MAX_ENTITY_KEY_CHARACTERS + 1)):
        with pytest.raises(EngineBug):
            drafts.put_head(FIRST._replace(workflow_id=wrong), None)


def test_a_head_is_small(drafts: Drafts) -> None:
    fits, large = b"x" * MAX_ORIGIN_BYTES, b"x" * (MAX_ORIGIN_BYTES + 1)
    for wrong in (FIRST._replace(origin=large), FIRST._replace(base=large)):
        with pytest.raises(LimitExceeded):
            drafts.put_head(wrong, None)
    assert drafts.get_head("wf") is None
    head = FIRST._replace(origin=fits, base=fits)
    assert drafts.put_head(head, None) == head == drafts.get_head("wf")
    with pytest.raises(LimitExceeded):
        drafts.move_base(ONE, fits, large)


# -- the log -----------------------------------------------------------------------------------------------------------


def test_the_items_of_a_log_come_back_in_order(drafts: Drafts) -> None:
    assert drafts.last_op(ONE) is None
    ops = [Op(seq, b"%d" % seq * seq, FAR) for seq in range(1, 31)]
    for op in ops:
        assert drafts.append_op(ONE, op)
    assert list(drafts.read_ops(ONE)) == ops
    assert list(drafts.read_ops(ONE, 12, limit=7)) == ops[12:19]
    assert list(drafts.read_ops(ONE, 28, limit=7)) == ops[28:]
    assert list(drafts.read_ops(ONE, 30)) == []
    assert drafts.last_op(ONE) == ops[-1]


def test_a_place_in_the_log_is_taken_once(drafts: Drafts) -> None:
    op = Op(1, b"a", FAR)
    assert drafts.append_op(ONE, op)
    assert not drafts.append_op(ONE, op)
    assert not drafts.append_op(ONE, Op(1, b"b", FAR))
    assert list(drafts.read_ops(ONE)) == [op]


def test_of_many_items_for_one_place_one_is_stored(drafts: Drafts, race: Any) -> None:
    won = race(lambda i: drafts.append_op(ONE, Op(1, b"%d" % i, FAR)))
    assert won.count(True) == 1 and won.count(False) == 19
    assert drafts.last_op(ONE) == Op(1, b"%d" % won.index(True), FAR)


def test_an_epoch_has_its_own_log_entities_and_states(drafts: Drafts) -> None:
    others = (Draft("wf", 2), Draft("wf2", 1), Draft("wf", 11))
    for number, draft in enumerate((ONE, *others)):
        assert drafts.append_op(draft, Op(1, b"%d" % number, FAR))
        drafts.put_entities(draft, [Entity("doc", 1, b"%d" % number)])
        drafts.put_state(draft, StateAt(1, b"%d" % number, FAR))
    for number, draft in enumerate((ONE, *others)):
        value = b"%d" % number
        assert list(drafts.read_ops(draft)) == [Op(1, value, FAR)] == [drafts.last_op(draft)]
        assert entities(drafts, draft) == [Entity("doc", 1, value)]
        assert drafts.nearest_state(draft, 1) == StateAt(1, value, FAR)


def test_an_item_has_a_largest_size(drafts: Drafts) -> None:
    assert drafts.append_op(ONE, Op(1, b"x" * MAX_BATCH_BYTES, FAR))
    with pytest.raises(LimitExceeded):
        drafts.append_op(ONE, Op(2, b"x" * (MAX_BATCH_BYTES + 1), FAR))
    with pytest.raises(EngineBug):
        drafts.append_op(ONE, Op(0, b"x", FAR))
    assert [len(op.data) for op in drafts.read_ops(ONE)] == [MAX_BATCH_BYTES]


def test_many_items_are_read_in_pages(drafts: Drafts) -> None:
    for seq in range(1, 13):
        drafts.append_op(ONE, Op(seq, b"x" * 200_000, FAR))
    assert [op.seq for op in drafts.read_ops(ONE)] == [*range(1, 13)]  # more than one response of DynamoDB holds
    found, after = list[int](), 0
    while page := drafts.read_ops(ONE, after, limit=5):
        found, after = [*found, *(op.seq for op in page)], page[-1].seq
    assert found == [*range(1, 13)]


# -- entities -----------------------------------------------------------------------------------------------------------


def test_entities_come_back_by_key_over_all_pages(drafts: Drafts) -> None:
    wanted = [Entity(f"{kind}/k{number}", number + 1, b"%d" % number) for number in range(7)
              for kind in ("block", "edge", "last", "note", "pin", "place", "subflow")]  # fmt: skip
    wanted += [Entity("doc", 3, b"{}"), Entity("text", 4, b"..."), Entity("last/é~ #/x", 5, b"[1]", FAR)]
    drafts.put_entities(ONE, wanted)
    for seq in range(1, 4):
        drafts.append_op(ONE, Op(seq, b"x", FAR))
        drafts.put_state(ONE, StateAt(seq, b"x", FAR))
    ordered = sorted(wanted, key=lambda entity: entity.key.encode())
    for limit in (1, 4, 13, 1000):
        assert entities(drafts, limit=limit) == ordered


def test_no_entities_are_one_empty_page(drafts: Drafts) -> None:
    drafts.put_entities(ONE, [])
    assert entities(drafts) == []


def test_an_entity_replaces_only_an_older_one(drafts: Drafts) -> None:
    for seq, value in ((5, b"five"), (4, b"four"), (5, b"again"), (7, None), (6, b"six")):
        drafts.put_entities(ONE, [Entity("block/a", seq, value, FAR if value is None else None)])
    assert entities(drafts) == [Entity("block/a", 7, None, FAR)]
    drafts.put_entities(ONE, [Entity("block/a", 8, b"back")])
    assert entities(drafts) == [Entity("block/a", 8, b"back")]


def test_the_newest_of_an_entity_stands_however_many_write_it(drafts: Drafts, race: Any) -> None:
    keys = [f"block/{name}" for name in "abcd"]
    race(lambda i: drafts.put_entities(ONE, [Entity(key, 1 + (i * 7 + 3) % 20, b"%d" % (1 + (i * 7 + 3) % 20)) for key in keys]))
    assert entities(drafts) == [Entity(key, 20, b"20") for key in keys]


def test_one_call_may_have_an_entity_twice(drafts: Drafts) -> None:
    drafts.put_entities(ONE, [Entity("block/a", 2, b"2"), Entity("block/b", 1, b"1"), Entity("block/a", 3, b"3")])
    assert entities(drafts) == [Entity("block/a", 3, b"3"), Entity("block/b", 1, b"1")]


def test_an_entity_has_a_key_and_a_size_that_fit(drafts: Drafts) -> None:
    for wrong in ("op/1", "at/1", "head", "", "Block/a", "blocks/a"):
        with pytest.raises(EngineBug):
            drafts.put_entities(ONE, [Entity("block/a", 1, b""), Entity(wrong, 1, b"")])
    with pytest.raises(EngineBug):
        drafts.put_entities(ONE, [Entity("block/a", 0, b"")])
    for large in (Entity("last/" + "x" * MAX_ENTITY_KEY_CHARACTERS, 1, b""), Entity("doc", 1, b"x" * (MAX_BATCH_BYTES + 1))):
        with pytest.raises(LimitExceeded):
            drafts.put_entities(ONE, [large])
    assert entities(drafts) == []  # nothing was written of a refused call
    drafts.put_entities(ONE, [Entity("doc", 1, b"x" * MAX_BATCH_BYTES), Entity("text", 1, b"")])
    assert [len(entity.value or b"") for entity in entities(drafts)] == [MAX_BATCH_BYTES, 0]


# -- states -------------------------------------------------------------------------------------------------------------


def test_the_nearest_state_is_the_latest_at_or_before_an_item(drafts: Drafts) -> None:
    assert drafts.nearest_state(ONE, 9) is None
    for seq in (1000, 3000, 2000):
        drafts.put_state(ONE, StateAt(seq, b"%d" % seq, FAR))
    drafts.put_state(ONE, StateAt(2000, b"other", FAR))
    drafts.put_entities(ONE, [Entity("block/a", 1, b"")])
    found = [drafts.nearest_state(ONE, seq) for seq in (999, 1000, 2999, 10_000)]
    assert [state.data if state else None for state in found] == [None, b"1000", b"2000", b"3000"]


# -- removal ------------------------------------------------------------------------------------------------------------


def test_the_entities_of_an_epoch_that_was_left_get_an_expiry(drafts: Drafts) -> None:
    other = Draft("wf", 2)
    drafts.put_entities(ONE, [Entity("block/a", 1, b"a"), Entity("block/b", 2, None, 7_000), Entity("last/c", 3, b"[]", FAR)])
    drafts.put_entities(other, [Entity("block/a", 1, b"a")])
    for _ in range(2):
        drafts.expire_entities(ONE, 9_000)
    assert [entity.expires_ms for entity in entities(drafts)] == [9_000, 7_000, 9_000]
    assert entities(drafts, other) == [Entity("block/a", 1, b"a")]


def test_an_epoch_that_was_left_is_settled_in_its_successor_only(drafts: Drafts) -> None:
    drafts.put_head(FIRST._replace(epoch=4, former=3), None)
    drafts.settle_former(Draft("wf", 3))
    assert drafts.get_head("wf") == FIRST._replace(epoch=4, former=3)
    for _ in range(2):
        drafts.settle_former(Draft("wf", 4))
    assert drafts.get_head("wf") == FIRST._replace(epoch=4)


def test_what_has_not_expired_is_not_forgotten(drafts: Drafts) -> None:
    drafts.append_op(ONE, Op(1, b"old", 1_000))
    drafts.append_op(ONE, Op(2, b"new", 9_000))
    drafts.put_entities(ONE, [Entity("block/a", 1, None, 1_000), Entity("block/b", 2, None, 9_000), Entity("doc", 1, b"{}")])
    drafts.put_state(ONE, StateAt(1, b"old", 1_000))
    drafts.put_state(ONE, StateAt(2, b"new", 9_000))
    for _ in range(2):
        drafts.forget_expired(5_000)
    assert list(drafts.read_ops(ONE, 1)) == [Op(2, b"new", 9_000)]
    assert entities(drafts)[-2:] == [Entity("block/b", 2, None, 9_000), Entity("doc", 1, b"{}")]
    assert drafts.nearest_state(ONE, 2) == StateAt(2, b"new", 9_000)
