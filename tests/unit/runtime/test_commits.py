"""Commits that share a transaction: each is durable before it is answered, and each gets its own result
(docs/understand/durability.md#append)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import AppendConflict, StoreUnavailable
from stepless.model.work import Result
from stepless.ports import Batch, Call, Message
from stepless.runtime.commits import Commits
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import InvocationEnd, Runner
from stepless.runtime.wiring.local import local

Write = Callable[[], Any]


class Ledger:
    """A store of which only the order of events is kept. `fault` is raised at the end of a transaction."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.fault: BaseException | None = None
        self.commits = Commits(self.together)

    @contextmanager
    def together(self) -> Iterator[None]:
        self.seen.append("begin")
        yield
        if self.fault is not None:
            raise self.fault
        self.seen.append("commit")

    def write(self, name: str, refusal: BaseException | None = None) -> Write:
        def write() -> str:
            self.seen.append(f"write {name}")
            if refusal is not None:
                raise refusal
            return name

        return write

    async def made(self, *writes: Write) -> list[Any]:
        """What each writer is told, all of them at once."""

        async def one(write: Write) -> Any:
            answer = await self.commits.make(write)
            self.seen.append(f"told {answer}")
            return answer

        with ExitStack() as stack:
            for _ in writes:
                stack.enter_context(self.commits.writer())
            return await asyncio.gather(*map(one, writes), return_exceptions=True)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def test_everybody_is_answered_after_the_transaction_that_holds_them_all(ledger: Ledger) -> None:
    assert asyncio.run(ledger.made(ledger.write("a"), ledger.write("b"))) == ["a", "b"]
    assert ledger.seen == ["begin", "write a", "write b", "commit", "told a", "told b"]


def test_who_is_alone_waits_for_nobody(ledger: Ledger) -> None:
    assert asyncio.run(ledger.made(ledger.write("a"))) == ["a"]
    assert ledger.seen == ["write a", "told a"]


def test_a_refusal_is_told_to_the_one_who_is_refused(ledger: Ledger) -> None:
    refusal = AppendConflict("somebody else was here")
    told = asyncio.run(ledger.made(ledger.write("a"), ledger.write("b", refusal), ledger.write("c")))
    assert told == ["a", refusal, "c"]


def test_a_transaction_that_fails_is_told_to_everybody_in_it(ledger: Ledger) -> None:
    ledger.fault = StoreUnavailable("the disk is full")
    assert asyncio.run(ledger.made(ledger.write("a"), ledger.write("b"))) == [ledger.fault] * 2
    ledger.fault = None
    assert asyncio.run(ledger.made(ledger.write("a"), ledger.write("b"))) == ["a", "b"]


def test_a_store_that_is_out_of_reach_for_one_is_relied_on_by_nobody(ledger: Ledger) -> None:
    away = StoreUnavailable("not now")
    assert asyncio.run(ledger.made(ledger.write("a"), ledger.write("b", away), ledger.write("c"))) == [away] * 3
    assert "commit" not in ledger.seen and "write c" not in ledger.seen


def test_whoever_no_longer_waits_writes_nothing(ledger: Ledger) -> None:
    async def scene() -> str:
        with ledger.commits.writer(), ledger.commits.writer():
            gone = asyncio.create_task(ledger.commits.make(ledger.write("gone")))
            await asyncio.sleep(0)
            gone.cancel()
            return await ledger.commits.make(ledger.write("a"))

    assert asyncio.run(scene()) == "a"
    assert "write gone" not in ledger.seen


STOPS = [KeyboardInterrupt(), SystemExit(1), asyncio.CancelledError(), GeneratorExit()]


@contextmanager
def interrupted(stop: BaseException) -> Iterator[None]:
    """What the loop passes on, it raises; the rest it reports."""
    if isinstance(stop, (KeyboardInterrupt, SystemExit)):
        with pytest.raises(type(stop)):
            yield
    else:
        yield


def ends_after(ledger: Ledger, stop: BaseException, *writes: Write) -> list[Any]:
    """What each writer gets when the loop is interrupted by `stop` and then goes on."""
    loop, reported = asyncio.new_event_loop(), list[Any]()
    loop.set_exception_handler(lambda loop, context: reported.append(context["exception"]))
    task = loop.create_task(ledger.made(*writes))
    try:
        with interrupted(stop):
            loop.run_until_complete(task)
        ends = loop.run_until_complete(asyncio.wait_for(task, 10))
    finally:
        loop.close()
    assert reported == ([] if isinstance(stop, (KeyboardInterrupt, SystemExit)) else [stop])
    return ends


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_a_transaction_that_is_interrupted_leaves_nobody_waiting(ledger: Ledger, stop: BaseException) -> None:
    ledger.fault = stop
    ends = ends_after(ledger, stop, ledger.write("a"), ledger.write("b"))
    assert [type(end) for end in ends] == [StoreUnavailable] * 2, "both had been written, and neither was committed"


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_a_write_that_is_interrupted_leaves_nobody_waiting(ledger: Ledger, stop: BaseException) -> None:
    ends = ends_after(ledger, stop, ledger.write("a"), ledger.write("b", stop), ledger.write("c"))
    assert [type(end) for end in ends] == [StoreUnavailable] * 3
    assert "write c" not in ledger.seen


def test_what_no_store_should_raise_reaches_every_writer(ledger: Ledger) -> None:
    ledger.fault = ZeroDivisionError("a bug")
    assert asyncio.run(ledger.made(ledger.write("a"), ledger.write("b"))) == [ledger.fault] * 2


def test_a_transaction_that_cannot_even_be_asked_for_reaches_every_writer(ledger: Ledger) -> None:
    def missing() -> Any:
        raise LookupError("no transaction")

    ledger.commits = Commits(missing)
    ends = asyncio.run(ledger.made(ledger.write("a"), ledger.write("b")))
    assert [repr(end) for end in ends] == ["LookupError('no transaction')"] * 2 and ledger.seen == []


def test_a_transaction_that_swallows_a_fault_has_committed_nothing(ledger: Ledger) -> None:
    ledger.commits = Commits(lambda: suppress(StoreUnavailable))
    away = StoreUnavailable("not now")
    ends = asyncio.run(ledger.made(ledger.write("a"), ledger.write("b", away), ledger.write("c")))
    assert [type(end) for end in ends] == [StoreUnavailable] * 3


def test_an_exception_that_no_future_takes_stops_no_other_answer(ledger: Ledger) -> None:
    first, second, third = asyncio.run(
        ledger.made(ledger.write("a"), ledger.write("b", StopIteration("end")), ledger.write("c"))
    )
    assert (first, repr(second), third) == ("a", """RuntimeError("a write raised StopIteration('end')")""", "c")


def test_a_writer_that_is_cancelled_by_a_write_stops_no_other_answer(ledger: Ledger) -> None:
    async def scene() -> tuple[str, bool]:
        with ledger.commits.writer(), ledger.commits.writer():
            gone = asyncio.create_task(ledger.commits.make(lambda: gone.cancel()))  # noqa: PLW0108 - the task comes later
            stays = asyncio.create_task(ledger.commits.make(ledger.write("a")))
            await asyncio.wait((gone, stays), timeout=10)
            return stays.result(), gone.cancelled()

    assert asyncio.run(scene()) == ("a", True)


# -- with a file ------------------------------------------------------------------------------------------------------


def chain(length: int) -> dict[str, Any]:
    step = {"type": "function", "with": {"call": "test.echo"}}
    return {"id": "small", "nodes": {f"n{i}": {**step, **({"after": f"n{i - 1}"} if i else {})} for i in range(length)}}


async def echo(call: Call) -> Result:
    return Result(call.instance)


def test_runs_side_by_side_on_a_file_share_transactions_and_lose_nothing(tmp_path: Path) -> None:
    built = local(tmp_path / "runs.db")
    store, groups, batches = built.world.store, 0, 0
    assert isinstance(store, SqliteStore)

    @contextmanager
    def counted() -> Iterator[None]:
        nonlocal groups
        groups += 1
        with store.together():
            yield

    world = replace(built.world, commits=Commits(counted), kind_code={"function": echo})
    runner = Runner(world)
    built.service.publish(chain(3))

    async def one(run_id: str) -> InvocationEnd:
        return await runner.run(Message(run_id, "start"), Budget(60_000))

    async def scene(runs: list[str]) -> list[InvocationEnd]:
        return await asyncio.gather(*map(one, runs))

    runs = [built.service.start("small", {}).run_id for _ in range(20)]
    assert set(asyncio.run(scene(runs))) == {InvocationEnd.ENDED}
    for run_id in runs:
        batches += len(store.read_log(run_id))
        log = list(RunLog(store, world.blobs, run_id).read())
        assert [event.sequence for event in log] == list(range(1, len(log) + 1))
        assert (log[-1].type, built.service.run(run_id).status) == ("run.completed", "completed")
    assert 0 < groups < batches
    built.close()


def test_what_shares_a_failed_transaction_is_not_there_and_can_be_made_again(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    fail = [True]

    @contextmanager
    def once_in_vain() -> Iterator[None]:
        with store.together():
            yield
            if fail.pop():
                raise StoreUnavailable("the power went")

    commits, batch = Commits(once_in_vain), Batch(1, 1, b"[]")

    async def append(run_id: str) -> bool:
        try:
            await commits.make(lambda: store.append(run_id, batch))
        except StoreUnavailable:
            return False
        return True

    async def both() -> list[bool]:
        with commits.writer(), commits.writer():
            return await asyncio.gather(append("r"), append("s"))

    assert asyncio.run(both()) == [False, False]
    assert [*store.read_log("r"), *store.read_log("s")] == []
    fail.append(False)
    assert asyncio.run(both()) == [True, True]
    assert [*store.read_log("r"), *store.read_log("s")] == [batch, batch]
    store.close()


# -- several writes of one run ------------------------------------------------------------------------------------------


def test_writes_that_are_joined_are_durable_together() -> None:
    ledger = Ledger()
    assert ledger.commits.join(ledger.write("a"), ledger.write("b")) == "b"
    assert ledger.seen == ["begin", "write a", "write b", "commit"]


def test_a_write_that_is_refused_undoes_nothing_and_stops_the_next_one() -> None:
    ledger = Ledger()
    with pytest.raises(AppendConflict):
        ledger.commits.join(ledger.write("a"), ledger.write("b", AppendConflict("taken")), ledger.write("c"))
    assert ledger.seen == ["begin", "write a", "write b", "commit"]


def test_a_store_that_is_unavailable_undoes_what_is_joined() -> None:
    ledger = Ledger()
    with pytest.raises(StoreUnavailable):
        ledger.commits.join(ledger.write("a"), ledger.write("b", StoreUnavailable("full")), ledger.write("c"))
    assert ledger.seen == ["begin", "write a", "write b"]


def test_without_transactions_or_among_other_runs_they_follow_each_other() -> None:
    ledger, alone = Ledger(), Commits()
    assert alone.join(ledger.write("a"), ledger.write("b")) == "b"
    assert not alone.can_join and ledger.commits.can_join

    async def scene() -> None:
        with ledger.commits.writer(), ledger.commits.writer():
            await ledger.commits.make(lambda: ledger.commits.join(ledger.write("c"), ledger.write("d")))

    asyncio.run(scene())
    assert ledger.seen == ["write a", "write b", "begin", "write c", "write d", "commit"]
