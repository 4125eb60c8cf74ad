"""Runs the distribution of a `distributed` node: sees to it that workers take its shards, records the ends of shards, and ends
the node with its results.

A distribution looks when it gets a hint, and every DISTRIBUTION_LOOK_MS. Between two looks it is parked, like a run that waits.
Everything that it does may be repeated: what it has recorded decides what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from stepless.core.shards.sizes import workers_for
from stepless.errors import DamagedLog
from stepless.limits import (
    DISTRIBUTION_LOOK_MS,
    ENDS_AT_ONCE,
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
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.shards.plans import BEGIN, WORKER, Board, Plan, ShardEnd
from stepless.runtime.shards.records import RecordLog
from stepless.runtime.shards.repeats import GONE, FormerGone, taken_ends
from stepless.runtime.signalling import put_signal
from stepless.runtime.world import World

CANCELLED = "cancelled"
TOO_MANY = "too_many_failures"


class Distribution:
    """One distribution, under its lease."""

    only_lingers = False

    def __init__(self, world: World, head: RunHead, lease: Lease, plan: Plan) -> None:
        self._world, self._head, self._lease, self._plan = world, head, lease, plan
        self._board = Board(world.store, head.run_id)
        self._log = RecordLog(world, lease)
        self._retried = world.commits.with_retries
        self.ends: dict[int, ShardEnd] = {}
        self._stopped = ""
        self._done: Mapping[str, Any] | None = None

    def poke(self) -> None:
        """Does nothing: a look takes no time, and the sender's hint is delivered again after it."""

    stop = interrupt = code_returned = close = poke

    async def go(self) -> InvocationEnd:
        """Looks once. Raises `Fenced`."""
        for record in self._log.read():
            self._fold(record)
        if self._done is None:
            if not self._log.sequence:
                await self._append({"planned": {"total": self._plan.total, "shards": self._plan.shards}})
            await self._look()
        if self._done is None:
            return await self._park()
        return await self._end(self._done)

    def _fold(self, record: Mapping[str, Any]) -> None:
        for text in record.get("ended", ()):
            end = ShardEnd.read(text)
            self.ends.setdefault(end.number, end)
        self._stopped = self._stopped or record.get("stopped", "")
        self._done = record.get("done", self._done)

    async def _append(self, record: Mapping[str, Any]) -> None:
        await self._log.append(record)
        self._fold(record)

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
            done = await self._retried(self._outcome)
            await self._append({"done": done})
        else:
            self._send_workers()

    async def _take_over(self) -> None:
        """Records the ends of the shards that a rerun takes over as they are."""
        plan = self._plan
        try:
            while plan.former and (texts := taken_ends(plan, self._head.run_id, self._world, self.ends)):
                await self._append({"ended": texts})
        except FormerGone as error:
            await self._stop(error.code)

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
        wanted = workers_for(steer.concurrency or self._plan.concurrency, self._plan.lanes, self._plan.shards)
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
        told = {TOO_MANY: f"{of}, more than `tolerate` allows", "result_too_large": "the results of one shard are too large",
                GONE: "what the items of the former run returned is not there any more"}  # fmt: skip
        error: dict[str, JSON] = {"code": self._stopped, "message": told.get(self._stopped, self._stopped)}
        return {"status": "failed", "error": {**error, "completed": completed, "failed": failed, "total": self._plan.total}}

    def _outcome(self) -> Mapping[str, JSON]:
        """Stores the manifest, and returns what the node puts out."""
        plan, (completed, failed) = self._plan, self.counts
        ends = [self.ends[number] for number in range(plan.shards)]
        failures = self._joined([end.failures for end in ends if end.failures], MAX_FAILURE_BYTES)
        counts: dict[str, JSON] = {"total": plan.total, "completed": completed, "failed": failed}
        parts: list[JSON] = [
            {"key": self._key(end.part), "rows": end.rows, "bytes": end.size, "sha256": end.part} for end in ends if end.part
        ]
        failed_key = self._world.blobs.put(failures, self._head.run_id) if failures else None
        names = {"run": plan.run, "node": plan.instance, **({"rerun_of": plan.former_run} if plan.former else {})}
        manifest = dump({**names, **counts, "parts": parts, "failures": failed_key})
        output: dict[str, JSON] = {**counts, "manifest": self._world.blobs.put(manifest, self._head.run_id)}
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
            data = self._world.blobs.get(self._key(digest))
            if data is None:
                raise DamagedLog(f"the part {digest} is missing", sequence=0, run_id=self._head.run_id)
            joined += data
            if len(joined) > most:
                return bytes(joined[:most].rpartition(b"\n")[0] + b"\n")
        return bytes(joined)

    async def _end(self, done: Mapping[str, Any]) -> InvocationEnd:
        """Tells the run of the node, then releases the lease. A process that dies in between does it again."""
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


def _rows_in(lines: bytes) -> list[Any]:
    return [unpack(line) for line in lines.splitlines()]


def _result(row: Mapping[str, JSON]) -> JSON:
    return row["result"] if "result" in row else {"error": row["error"], "index": row["index"]}
