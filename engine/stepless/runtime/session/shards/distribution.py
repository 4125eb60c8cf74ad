"""Runs the distribution of a `distributed` node: sees to it that workers take its shards, records the ends of shards, and ends
the node with its results.

A distribution looks when it gets a hint, and every DISTRIBUTION_LOOK_MS. Between two looks it is parked, like a run that waits.
Everything that it does may be repeated: what it has recorded decides what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

from stepless.limits import (
    DISTRIBUTION_LOOK_MS,
    ENDS_AT_ONCE,
    LEASE_MS,
    MAX_FAILURE_BYTES,
    MAX_INLINE_ITEMS,
    MAX_INLINE_RESULT_BYTES,
    MAX_SHARD_WORKERS,
)
from stepless.model.json import JSON
from stepless.model.stored.packing import dump, unpack
from stepless.ports import Lease, Message, RunHead
from stepless.runtime import inbox
from stepless.runtime.header_notes import meta_of
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.session.shards.planning import Planning
from stepless.runtime.shards.plans import BEGIN, WORKER, Board, Plan, ShardEnd, plan_of
from stepless.runtime.shards.records import RecordLog, renewed, value_of
from stepless.runtime.shards.repeats import GONE, FormerGone, taken_ends
from stepless.runtime.shards.sinks import FAILURES, UNWRITABLE, Sink, SinkRefused
from stepless.runtime.shards.sources import CHANGED, UNREADABLE, NodeRefused
from stepless.runtime.signalling import put_signal
from stepless.runtime.world import World

CANCELLED = "cancelled"
TOO_MANY = "too_many_failures"
STOPS: Final = {
    GONE: "what the items of the former run returned is not there any more",
    "result_too_large": "the results of one shard are too large",
    CHANGED: "the source has changed since it was planned",
    UNREADABLE: "the source can no longer be read",
    UNWRITABLE: "the results can no longer be written",
}


class Distribution:
    """One distribution, under its lease."""

    only_lingers = False

    def __init__(self, world: World, head: RunHead, lease: Lease, plan: Plan, budget: Budget) -> None:
        self._world, self._head, self._lease, self._plan, self._budget = world, head, lease, plan, budget
        self._board = Board(world.store, head.run_id)
        self._log = RecordLog(world, lease)
        self._retried = world.commits.with_retries
        self.ends: dict[int, ShardEnd] = {}
        self._stopped = ""
        self._planning: Planning | None = None
        self._planned: Mapping[str, Any] = {}
        self._renew_at = 0.0
        self._done: Mapping[str, Any] | None = None

    def poke(self) -> None:
        """Does nothing: a look takes no time, and the sender's hint is delivered again after it."""

    stop = interrupt = code_returned = close = poke

    async def go(self) -> InvocationEnd:
        """Looks once. Raises `Fenced`."""
        if self._plan.is_open:
            self._planning = Planning(self._world, self._head.run_id, self._plan, self._append, self._may_go_on)
        for record in self._log.read():
            self._fold(record)
        if self._done is None and not self._planned and not await self._plan_it():
            return await self._leave()
        if self._done is None:
            await self._take_plan()
            await self._look()
        if self._done is None:
            return await self._park()
        return await self._end(self._done)

    def _fold(self, record: Mapping[str, Any]) -> None:
        self._planned = record.get("planned", self._planned)
        if self._planning is not None:
            self._planning.fold(record)
        for text in record.get("ended", ()):
            end = ShardEnd.read(text)
            self.ends.setdefault(end.number, end)
        self._stopped = self._stopped or record.get("stopped", "")
        self._done = self._done or record.get("done")

    async def _append(self, record: Mapping[str, Any]) -> None:
        await self._log.append(record)
        self._fold(record)

    # -- the plan ---------------------------------------------------------------------------------------------------

    async def _plan_it(self) -> bool:
        """Reads the source, if there is one, and claims the place of the results. Returns False if another invocation must go
        on."""
        plan: Plan | None = self._plan
        try:
            if self._planning is not None and (plan := await self._planning.finished()) is None:
                return self._done is not None
            assert plan is not None
            if plan.into is not None:
                await self._retried(Sink(self._world, plan).claim)
        except NodeRefused as refused:
            await self._append({"done": _failed(refused.code, refused.message)})
            return True
        planned: dict[str, JSON] = {"total": plan.total, "shards": plan.shards}
        if self._planning is not None:
            planned["plan"] = await self._retried(partial(self._world.blobs.put, plan.encoded(), self._head.run_id))
        await self._append({"planned": planned})
        return True

    async def _take_plan(self) -> None:
        """Lets all processes see the plan of a source, once the log has it."""
        if self._plan.is_open:
            key = self._planned["plan"]
            await self._retried(partial(self._board.note_plan, key, self._world.clock.now_ms()))
            self._plan = plan_of(self._world, self._head.run_id, key)

    async def _may_go_on(self) -> bool:
        """Keeps the lease while the source is read, and lets other work have its turn. Returns False if the time is over, or if
        the run was cancelled."""
        await asyncio.sleep(0)
        now = asyncio.get_running_loop().time()
        if now >= self._renew_at:
            self._renew_at = now + LEASE_MS / 3000
            self._lease = await self._retried(partial(renewed, self._world, self._lease))
            if any(signal.kind == inbox.CANCEL for signal in self._world.store.read_inbox(self._head.run_id)):
                await self._append({"done": {"status": CANCELLED}})
        return not self._budget.over and self._done is None

    async def _leave(self) -> InvocationEnd:
        await self._release("running", self._world.clock.now_ms())
        self._world.queue.send(Message(self._head.run_id, "continue"))
        return InvocationEnd.CONTINUED

    # -- a look -----------------------------------------------------------------------------------------------------

    async def _look(self) -> None:
        await self._take_over()
        if any(signal.kind == inbox.CANCEL for signal in self._world.store.read_inbox(self._head.run_id)):
            await self._stop(CANCELLED)
        await self._take_ends()
        await self._check_tolerance()
        if self._stopped:
            for number in self._not_begun(self._board.live(MAX_SHARD_WORKERS + 1)):
                self._board.leave(number)
            if not self._board.live(1):
                await self._take_ends()
                await self._append({"done": self._failure()})
        elif len(self.ends) == self._plan.shards:
            try:
                done = await self._retried(self._outcome)
            except SinkRefused as refused:
                done = _failed(refused.code, refused.message)
            await self._append({"done": done})
        else:
            self._send_workers()

    async def _take_over(self) -> None:
        """Records the ends of the shards that a rerun takes over as they are."""
        plan = self._plan
        try:
            while plan.former and (texts := taken_ends(plan, self._head.run_id, self._world, self.ends)):
                if plan.into is not None:
                    await self._retried(partial(self._place, texts))
                await self._append({"ended": texts})
        except (FormerGone, SinkRefused) as error:
            await self._stop(error.code)

    def _place(self, texts: Sequence[str]) -> None:
        """Puts the results of shards that are taken over where the others put theirs."""
        sink = Sink(self._world, self._plan)
        for end in map(ShardEnd.read, texts):
            if end.part:
                sink.put(sink.part(end.number), self._joined([end.part], end.size))

    async def _take_ends(self) -> None:
        """Records the ends that have come, then forgets them where the shards have put them."""
        while texts := self._board.ends(ENDS_AT_ONCE):
            new = [text for text in texts if ShardEnd.read(text).number not in self.ends]
            if new:
                await self._append({"ended": new})
            for text in texts:
                await self._retried(partial(self._board.forget_end, text))

    async def _check_tolerance(self) -> None:
        steer = self._board.steer(self._world.clock.now_ms())
        if steer.stop:
            await self._stop(steer.stop)
        elif self._fails_too_much(steer.tolerate or self._plan.tolerate or {"count": 0}):
            await self._stop(TOO_MANY)

    def _fails_too_much(self, tolerate: Mapping[str, float | None]) -> bool:
        failed, count, percent = self.counts[1], tolerate.get("count"), tolerate.get("percent")
        if count is not None and failed > count:
            return True
        return percent is not None and failed * 100 > percent * self._plan.total

    @property
    def counts(self) -> tuple[int, int]:
        """How many items have completed and failed, of the shards that have ended."""
        return sum(end.completed for end in self.ends.values()), sum(end.failed for end in self.ends.values())

    async def _stop(self, why: str) -> None:
        """From now on no item begins. The shards learn it when they commit, or within STEER_LOOK_MS."""
        if not self._stopped:
            await self._retried(partial(self._board.change, self._world.clock.now_ms(), stop=why))
            await self._append({"stopped": why})

    def _send_workers(self) -> None:
        """Sends a hint for each worker that is missing: to draw a shard or, when all are drawn, to begin one that has none."""
        now_ms = self._world.clock.now_ms()
        steer = self._board.steer(now_ms)
        wanted = self._plan.workers(steer)
        live = set(self._board.live(MAX_SHARD_WORKERS + 1))
        missing = max(0, min(wanted - len(live), self._plan.shards - len(self.ends) - len(live)))
        run_id = self._head.run_id
        left = self._not_begun(live)
        hints = []
        if self._board.all_drawn(now_ms):
            left += [one for one in range(self._plan.shards) if one not in self.ends and one not in live][:missing]
        else:
            hints = [Message(run_id, WORKER) for _ in range(missing)]
        hints += [Message(run_id, BEGIN, number + 1) for number in left]
        self._world.queue.send_all(hints)

    def _not_begun(self, live: Collection[int]) -> list[int]:
        """The shards that a worker has drawn, and not begun: it has died, or is about to."""
        return [number for number in sorted(live) if self._world.store.get_run(self._plan.shard_id(number)) is None]

    async def _park(self) -> InvocationEnd:
        due_ms = self._world.clock.now_ms() + DISTRIBUTION_LOOK_MS
        try:
            self._world.timers.arm(self._head.run_id, due_ms)
        finally:
            await self._release("running", due_ms)
        return InvocationEnd.PARKED

    # -- the end ----------------------------------------------------------------------------------------------------

    def _failure(self) -> Mapping[str, JSON]:
        completed, failed = self.counts
        if self._stopped == CANCELLED:
            return {"status": "cancelled"}
        of = f"{failed:,} of {self._plan.total:,} items failed"
        told = {TOO_MANY: f"{of}, more than `tolerate` allows", **STOPS}
        counts = {"completed": completed, "failed": failed, "total": self._plan.total}
        return _failed(self._stopped, told.get(self._stopped, self._stopped), **counts)

    def _outcome(self) -> Mapping[str, JSON]:
        """Stores the manifest, and returns what the node puts out."""
        plan, (completed, failed) = self._plan, self.counts
        ends = [self.ends[number] for number in range(plan.shards)]
        failures = self._joined([end.failures for end in ends if end.failures], MAX_FAILURE_BYTES)
        counts: dict[str, JSON] = {"total": plan.total, "completed": completed, "failed": failed}
        parts: list[JSON] = [
            {"key": self._key(end.part), "rows": end.rows, "bytes": end.size, "sha256": end.part} for end in ends if end.part
        ]
        sink = None if plan.into is None else Sink(self._world, plan)
        if sink is not None:
            for part, end in zip(parts, (end for end in ends if end.part), strict=True):
                part["key"] = sink.part(end.number)
        put = partial(self._world.blobs.put, run_id=self._head.run_id) if sink is None else partial(sink.put, sink.key(FAILURES))
        failed_key = put(failures) if failures else None
        names = {"run": plan.run, "node": plan.instance, **({"rerun_of": plan.former_run} if plan.former else {})}
        manifest = dump({**names, **counts, "parts": parts, "failures": failed_key})
        output: dict[str, JSON] = {**counts, "manifest": put(manifest) if sink is None else sink.finish(manifest)}
        size = sum(end.size for end in ends)
        if plan.total <= MAX_INLINE_ITEMS and size <= MAX_INLINE_RESULT_BYTES:
            rows = _rows_in(self._joined([end.part for end in ends if end.part], MAX_INLINE_RESULT_BYTES))
            output |= {"results": [_result(row) for row in rows], "failures": _rows_in(failures)}
        else:
            output |= {"results": parts, "failures": failed_key}
        return {"status": "completed", "output": self._world.blobs.put(dump(output), self._head.run_id)}

    def _key(self, digest: str) -> str:
        return f"{self._head.run_id}/{digest}"

    def _joined(self, digests: list[str], most: int) -> bytes:
        joined = bytearray()
        for digest in digests:
            joined += value_of(self._world, self._key(digest), "part", self._head.run_id)
            if len(joined) > most:
                return bytes(joined[:most].rpartition(b"\n")[0] + b"\n")
        return bytes(joined)

    async def _end(self, done: Mapping[str, Any]) -> InvocationEnd:
        """Tells the run of the node, then releases the lease. A process that dies in between does it again."""
        if done["status"] != "completed" and self._plan.into is not None:
            await self._retried(Sink(self._world, self._plan).release)
        await self._retried(partial(self._notify, done["status"]))
        expires_ms = self._head.expires_ms or self._expires_ms()
        await self._release(done["status"], expires_ms, expires_ms)  # no index of runs by age has it, so the sweep finds it
        return InvocationEnd.ENDED

    def _notify(self, status: str) -> None:
        parent, now_ms = meta_of(self._head)["parent"], self._world.clock.now_ms()
        signal = inbox.child_signal(parent["instance"], self._head.run_id, 1, status, now_ms, first=False)
        if put_signal(self._world, parent["run"], signal, now_ms):
            self._world.queue.send(Message(parent["run"], "child"))

    def _expires_ms(self) -> int | None:
        graph = self._world.versions.graph(self._head.workflow_id, self._head.version, meta_of(self._head).get("entry"))
        retention_ms = self._world.retention_ms if graph.retention_ms is None else graph.retention_ms
        return None if retention_ms is None else self._world.clock.now_ms() + retention_ms

    async def _release(self, status: str, due_ms: int | None, expires_ms: int | None = None) -> None:
        release: Callable[[], Lease] = partial(
            self._world.store.update_run, self._lease, self._world.clock.now_ms(), status=status, sequence=self._log.sequence,
            due_ms=due_ms, release=True, expires_ms=expires_ms,
        )  # fmt: skip
        await self._retried(release, together=True)


def _failed(code: str, message: str, **counts: JSON) -> Mapping[str, JSON]:
    return {"status": "failed", "error": {"code": code, "message": message, **counts}}


def _rows_in(lines: bytes) -> list[Any]:
    return [unpack(line) for line in lines.splitlines()]


def _result(row: Mapping[str, JSON]) -> JSON:
    return row["result"] if "result" in row else {"error": row["error"], "index": row["index"]}
