"""Planted bugs of shards: each replaces one function of the engine, and breaks one promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from sharded import Fan

from stepless.core.shards import items
from stepless.core.shards.progress import End, Lanes, Progress
from stepless.ports import Message
from stepless.runtime.session.shards import distribution as distribution_module
from stepless.runtime.session.shards import lane_work, planning, shard_session
from stepless.runtime.session.shards.distribution import Distribution
from stepless.runtime.session.shards.serving import ShardServer
from stepless.runtime.session.shards.shard_session import ShardSession
from stepless.runtime.shards.plans import Board, Plan, ShardEnd
from stepless.runtime.shards.sinks import Sink

Planted = tuple[Any, str, Any]  # what has the function, its name, and the one that replaces it
USUAL: Final = Fan(12, 6, 2, 2, 4, 1, frozenset({4}), frozenset(), "mark", "all", {"percent": 100})
DEADLY: Final = Fan(12, 6, 3, 3, 6, 1, frozenset(), frozenset({7}), "mark", "all", {"percent": 100})


@contextmanager
def planted(bugs: Sequence[Planted]) -> Iterator[None]:
    former = [(owner, name, owner.__dict__[name]) for owner, name, _ in bugs]
    for owner, name, other in bugs:
        setattr(owner, name, other)
    try:
        yield
    finally:
        for owner, name, own in former:
            setattr(owner, name, own)


def _ignores_the_mark(lanes: Lanes) -> bool:
    running = len(lanes.running)
    return bool(lanes.todo) and running < lanes.lanes and running + len(lanes.uncommitted) < lanes.commit + lanes.lanes


def _ignores_the_bound(lanes: Lanes) -> bool:
    return bool(lanes.todo) and lanes.todo[-1] < lanes.progress.started_to and len(lanes.running) < lanes.lanes


def _commits_late(lanes: Lanes) -> bool:
    return (bool(lanes.uncommitted) and not lanes.running and not lanes.todo) or not lanes.progress.started_to


def _runs_all_again(progress: Progress) -> list[int]:
    return list(range(progress.total))


def _counts_an_end_twice(distribution: Distribution, record: Mapping[str, Any]) -> None:
    _FOLD(distribution, record)
    for text in record.get("ended", ()):
        end = ShardEnd.read(text)
        distribution.ends[end.number] = end._replace(completed=end.completed + (distribution._log.sequence > 2))


def _draws_without_looking(server: ShardServer, board: Board, plan: Plan) -> int | None:
    number = board.draw(server._world.clock.now_ms())
    if number >= plan.shards:
        board.note_all_drawn(server._world.clock.now_ms())
        server._world.queue.send(Message(board.distribution, "signal"))
        return None
    board.enter(number)
    return number


async def _never_tolerates(distribution: Distribution) -> None:
    """Does not look how many items have failed."""


def _in_the_order_of_ends(session: ShardSession) -> tuple[bytes, bytes, int]:
    with planted([(shard_session, "_line", _line_of_end(session))]):
        return _RESULTS(session)


def _line_of_end(session: ShardSession) -> Callable[..., bytes]:
    places = [row[0] for held in session.progress.rows for row in session._held(held)]
    return lambda plan, first, row: _LINE(plan, first, [places.pop(0), *row[1:]])


def _forgets_deaths(progress: Progress, record: Mapping[str, Any]) -> None:
    _FOLD_PROGRESS(progress, record)
    progress.deaths = 0


def _loses_blobs(progress: Progress, record: Mapping[str, Any]) -> None:
    _FOLD_PROGRESS(progress, record)
    progress.rows[:] = [rows for rows in progress.rows if not isinstance(rows, str)]


def _reads_again_from_the_beginning(plan: planning.Planning, record: Mapping[str, Any]) -> None:
    _FOLD_PLAN(plan, record)
    plan._end, plan._line = plan.source.begin, plan.source.line


def _cuts_behind_the_row(plan: planning.Planning, first: int, line: int) -> bool:
    marks = len(plan._marks)
    full = _IS_FULL(plan, first, line)
    if marks and len(plan._marks) > marks:
        plan._marks[-1] = [first + 4, line]
    return full


async def _takes_the_plan_for_itself(distribution: Distribution) -> None:
    """Leaves other processes with a plan that has no shards."""
    if distribution._plan.is_open:
        distribution._plan = distribution_module.plan_of(
            distribution._world, distribution._head.run_id, distribution._planned["plan"]
        )


_FOLD_PLAN = planning.Planning.fold
_IS_FULL = planning.Planning._is_full
_RESULTS = ShardSession._results
_FOLD = Distribution._fold
_FOLD_PROGRESS = Progress.fold
_LINE = shard_session._line
WIDE: Final = Fan(30, 5, 2, 2, 4, 1, frozenset({4}), frozenset(), "mark", "all", {"percent": 100})
ROWS: Final = Fan(30, 10, 2, 2, 4, 1, frozenset({4}), frozenset(), "mark", "all", {"percent": 100}, "csv", into=True)
STRICT: Final = Fan(30, 10, 3, 3, 6, 1, frozenset({2, 5, 8, 12, 19}), frozenset(), "mark", "all", {"count": 2})



MUTANTS: Final[Mapping[str, tuple[Fan, Sequence[Planted]]]] = {
    "an item begins behind the mark": (USUAL, [(Lanes, "may_begin", property(_ignores_the_mark))]),
    "nothing bounds what is at risk": (
        USUAL, [(Lanes, "may_begin", property(_ignores_the_bound)), (Lanes, "is_due", property(_commits_late)),
                (Lanes, "next_mark", property(lambda lanes: lanes.progress.total))],
    ),
    "committed items run again": (USUAL, [(Progress, "open_items", _runs_all_again)]),
    "an end counts twice": (USUAL, [(Distribution, "_fold", _counts_an_end_twice)]),
    "workers do not count each other": (WIDE, [(ShardServer, "_drawn", _draws_without_looking)]),
    "a shard stays among the live ones": (WIDE, [(Board, "leave", lambda board, number: None)]),
    "failures are not counted": (STRICT, [(Distribution, "_check_tolerance", _never_tolerates)]),
    "rows are in the order of ends": (USUAL, [(ShardSession, "_results", _in_the_order_of_ends)]),
    "deaths are forgotten": (DEADLY, [(Progress, "fold", _forgets_deaths)]),
    "rows beside the log are lost": (USUAL, [(Progress, "fold", _loses_blobs)]),
    "an error is taken for a result": (USUAL, [(items, "_end", lambda index, scope: End(index, items.result_of(scope)))]),
    "the list of failures is empty": (USUAL, [(Distribution, "_joined", lambda distribution, digests, most: b"")]),
    "a plan that goes on counts rows again": (ROWS, [(planning.Planning, "fold", _reads_again_from_the_beginning)]),
    "a source is cut behind the beginning of a row": (ROWS, [(planning.Planning, "_is_full", _cuts_behind_the_row)]),
    "other processes never see the plan": (ROWS, [(Distribution, "_take_plan", _takes_the_plan_for_itself)]),
    "the claim of a place is never released": (ROWS, [(Sink, "release", lambda sink: None)]),
    "all parts of a place have one name": (ROWS, [(Sink, "part", lambda sink, number: sink.key("part-00000.jsonl"))]),
    "the last item of a shard is left out": (USUAL, [(Plan, "range_of", lambda plan, number: (number * 6, number * 6 + 5))]),
    "tokens name another run": (USUAL, [(lane_work, "token_of", partial(lambda run, instance, used: f"{run}x:{instance}"))]),
}
