"""The log of a shard: its records, which are stored, and which items may begin (core/shards/progress.py)."""

from __future__ import annotations

from random import Random

import pytest

from stepless.core.shards.progress import End, Lanes, Progress, bits_of, chunk, places_in, row_of
from stepless.core.shards.sizes import items_per_shard, range_of, shards_of, workers_for

ENDS = [End(2, {"a": 1}), End(0, None), End(3, error={"code": "http_error", "message": "no"})]


def test_a_record_of_a_chunk_has_this_stored_form() -> None:
    rows = [row_of(end) for end in ENDS]
    assert chunk(8, ENDS, rows) == {
        "started_to": 8, "ended": [0, "d"], "failed": 1,
        "rows": [[2, {"a": 1}], [0, None], [3, None, {"code": "http_error", "message": "no"}]],
    }  # fmt: skip
    assert chunk(4, [], []) == {"started_to": 4}
    assert chunk(4, [End(1, 5)], "shd_1/ab", isolated=True) == {
        "started_to": 4, "ended": [1, "1"], "rows": "shd_1/ab", "isolated": True,
    }  # fmt: skip


def test_records_fold_to_what_has_ended() -> None:
    progress = Progress(6)
    for record in ({"started_to": 4}, {"died": 1}, chunk(6, ENDS, [row_of(end) for end in ENDS])):
        progress.fold(record)
    assert (progress.started_to, progress.completed, progress.failed, progress.deaths) == (6, 2, 1, 0)
    assert progress.open_items() == [1, 4, 5] and progress.in_doubt() == [1, 4, 5]
    assert not progress.is_over and progress.sequence == 3


def test_the_item_that_ran_alone_at_a_death_is_the_suspect() -> None:
    progress = Progress(4)
    for record in ({"started_to": 4}, {"died": 1}, {"died": 1}, {"alone": 2}):
        progress.fold(record)
    assert progress.isolates and progress.alone == 2 and progress.suspect is None
    progress.fold({"died": 1})
    progress.fold({"died": 1})
    assert progress.suspect == 2
    progress.fold(chunk(4, [End(2, error={"code": "item_poisoned", "message": ""})], [], isolated=True))
    assert progress.suspect is None and progress.isolates


def test_places_survive_their_encoding() -> None:
    dice = Random(1)
    for _ in range(200):
        places = set(dice.choices(range(5_000), k=dice.randint(1, 300)))
        first, bits = bits_of(places)
        assert places_in(first, bits) == sorted(places)


@pytest.mark.parametrize(("total", "wanted", "size"), [
    (0, None, 100), (10_000, None, 100), (100_000, None, 100), (1_000_000, None, 500), (10_000_000, None, 5_000), (50, 7, 7),
])  # fmt: skip
def test_the_size_of_shards_follows_from_the_number_of_items(total: int, wanted: int | None, size: int) -> None:
    assert items_per_shard(total, wanted) == size


def test_shards_cover_all_items_once() -> None:
    for total in (1, 99, 100, 101, 12_345):
        size = items_per_shard(total, None)
        items = [item for number in range(shards_of(total, size)) for item in range(*range_of(number, total, size))]
        assert items == list(range(total))


def test_workers_are_as_many_as_the_concurrency_needs() -> None:
    assert [workers_for(*given) for given in ((1, 20, 9), (41, 20, 9), (10_000, 20, 9), (10**6, 1, 10**4))] == [1, 3, 9, 900]


def test_crashes_and_slow_appends_break_no_rule() -> None:
    """Random worlds: processes die at any instant, and appends arrive late."""
    for seed in range(300):
        _world(Random(seed))


def _world(dice: Random) -> None:
    total, commit, lanes = dice.randint(1, 120), dice.choice([1, 5, 20]), dice.choice([1, 4, 10])
    log: list[dict[str, object]] = []
    began = [0] * total
    for _ in range(200):
        progress = Progress(total)
        for record in log:
            progress.fold(record)
        if progress.is_over:
            break
        work = Lanes(progress, commit, lanes, 2 * commit, progress.open_items()[::-1])
        fresh = set[int]()
        while not progress.is_over and dice.random() > 0.02:
            while work.may_begin:
                place = work.begin()
                assert place < progress.started_to and not progress.ended[place]
                began[place] += 1
                fresh.add(place)
                assert len({one for one in fresh if not progress.ended[one]}) <= commit + lanes
            for place in dice.sample(sorted(work.running), dice.randint(0, len(work.running))):
                work.end(End(place, place))
            if work.is_due and dice.random() < 0.5:  # else the append is still under way
                ends, work.uncommitted = work.uncommitted, []
                log.append(record := chunk(work.next_mark, ends, [row_of(end) for end in ends]))
                progress.fold(record)
    assert progress.is_over and min(began) >= 1
