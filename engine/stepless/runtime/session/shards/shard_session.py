"""Runs one shard in one invocation: begins items below the mark, commits their ends by chunks, and ends the shard.

`core/shards/progress.py` says which items may begin. A session that finds that another process has written in its log leaves
without a word: what it has in memory is in no log. The results of a chunk are stored under their content hash before the chunk is
committed, so a process that wakes up late cannot replace committed ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from stepless.core.shards.progress import INTERRUPTED, POISONED, UNKNOWN, WHOLE, End, Lanes, Progress, chunk, row_of
from stepless.limits import (
    CHUNK_BYTES,
    CHUNK_INLINE_BYTES,
    DEFAULT_CHUNK_MS,
    LEASE_MS,
    MAX_CHUNK_MS,
    MAX_RESULT_BYTES,
    MAX_SHARD_RESULT_BYTES,
    STEER_LOOK_MS,
)
from stepless.model.graph import Graph, all_nodes
from stepless.model.json import JSON
from stepless.model.stored.packing import dump, pack, unpack
from stepless.ports import Lease, ObjectChanged, ObjectRefused, RunHead
from stepless.runtime.header_notes import meta_of
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.permits.exclusivity import Exclusivity
from stepless.runtime.session.permits.lingering import Lingering
from stepless.runtime.session.shards.lane_work import LaneWork
from stepless.runtime.shards.plans import Board, Plan, ShardEnd
from stepless.runtime.shards.records import RecordLog, renewed, value_of
from stepless.runtime.shards.repeats import FormerGone, takeover
from stepless.runtime.shards.sinks import Sink, SinkRefused
from stepless.runtime.shards.sources import CHANGED, UNREADABLE, Item, parsed, shard_items
from stepless.runtime.world import World

_LONG_ITEM_MS = 2_000
_LONG_CHUNK_MS = 4 * DEFAULT_CHUNK_MS  # where items take long, a chunk would hold few of them


class ShardSession:
    """One shard, under its lease. `broken_off`: a transient error ended the former session, whose process has not died."""

    only_lingers = False

    def __init__(
        self, world: World, head: RunHead, lease: Lease, plan: Plan, number: int, board: Board, budget: Budget,
        process: Lingering, gate: Exclusivity, *, broken_off: bool,
    ) -> None:  # fmt: skip
        self._world, self._head, self._lease, self._plan, self._number = world, head, lease, plan, number
        self._board, self._budget, self._gate, self._broken_off = board, budget, gate, broken_off
        self._log = RecordLog(world, lease)
        self._retried = world.commits.with_retries
        self._loop = asyncio.get_running_loop()
        self._graph: Graph = world.versions.graph(head.workflow_id, head.version, meta_of(head).get("entry"))
        node = self._graph.root.nodes[self._graph.root.positions[plan.instance]]
        inner = list(all_nodes(node.container.body)) if node.container is not None else []
        self._longest_ms = max((one.timeout_ms for one in inner), default=0)
        self._at_most_once = any(one.delivery == "at_most_once" for one in inner)
        self._work = LaneWork(world, head, self._graph, plan, budget, process, gate, self)
        self.first, following = plan.range_of(number)
        self.progress = Progress(following - self.first)
        self._rows: list[bytes] = []  # of the ends that are not committed, encoded
        self._bytes = 0
        self._kept_bytes = 0
        self._in_doubt = False  # whether items below the mark may have begun without an end
        self._stop = False  # no item begins any more, in this session or in any other
        self._leaving = False
        self._granted = self._interrupted = False
        self._chunk_since: float | None = None
        self._item_ms = [0.0, 0]
        self._begun: dict[int, float] = {}
        self._renew_at = self._loop.time() + LEASE_MS / 3000
        self._steer_at = 0.0

    # -- from outside -----------------------------------------------------------------------------------------------

    def poke(self) -> None:
        """Makes the session look whether it should stop."""
        self._steer_at = 0.0
        self._work.arrivals.wake()

    def stop(self) -> None:
        """Begins no more items, and leaves the shard to another process once those in progress have ended."""
        self._leaving = True
        self._work.arrivals.wake()

    def interrupt(self) -> None:
        """Cancels the attempts in progress, whose items begin again in another process."""
        self._leaving = self._interrupted = True
        self._work.close()

    def code_returned(self) -> None:
        self._loop.call_soon_threadsafe(self._work.arrivals.wake)

    def may_begin_exclusive(self) -> None:
        self._granted = True
        self._work.arrivals.wake()

    def close(self) -> None:
        self._work.close()
        self._gate.withdraw(self)

    # -- the shard --------------------------------------------------------------------------------------------------

    async def go(self) -> bool:
        """Runs the shard. Returns whether it has ended; otherwise it is left to another invocation. Raises `Fenced`."""
        for record in self._log.read():
            self.progress.fold(record)
        self._in_doubt = bool(self._log.sequence) and self.progress.left != WHOLE
        died = self._in_doubt and not self.progress.left and not self._broken_off
        if died and not self.progress.is_over:
            await self._append({"died": 1})
        elif self.progress.left:  # from now on a death is one, also before the first chunk
            await self._append({"started_to": self.progress.started_to})
        if self._plan.former and not self._log.sequence:
            await self._take_over()
        self._work.tokens = {self.first + place: own for place, own in self.progress.tokens.items()}
        if not self.progress.is_over and not await self._steered():
            await self._run()
        if self.progress.is_over or self._stop:
            await self._end()
            return True
        await self._append({"left": INTERRUPTED if self._begun else WHOLE})
        await self._retried(partial(self._release, "running", self._world.clock.now_ms()), together=True)
        return False

    async def _take_over(self) -> None:
        """Begins with the ends of a former run. If these were removed, the node stops."""
        plan, run_id = self._plan, self._head.run_id
        try:
            record = await self._retried(partial(takeover, self._world, plan, self._number, run_id))
        except FormerGone as error:
            await self._stop_node(error.code)
            return
        if record is not None:
            await self._append(record)

    async def _run(self) -> None:
        progress = self.progress
        if (items := await self._read()) is None:
            return
        if self._at_most_once and self._in_doubt and (doubted := progress.in_doubt()):
            message = "the process ended while the item ran, and its node may run at most once"
            await self._commit_ends([End(place, error={"code": UNKNOWN, "message": message}) for place in doubted], len(items))
        elif progress.isolates:
            await self._isolate(items)
        ahead = self._plan.lanes if self._at_most_once else 2 * self._plan.commit_items
        lanes = Lanes(progress, self._plan.commit_items, self._plan.lanes, ahead, progress.open_items()[::-1])
        while not progress.is_over:
            self._begin(lanes, items)
            facts = []
            if not (lanes.is_due or self._is_old(lanes) or self._bytes > CHUNK_BYTES):
                if not self._may_go_on and not (lanes.running and self._work.is_busy):
                    break
                if lanes.running:
                    facts = await self._work.collect(self._next_look(lanes))
                    self._take(lanes, self._work.advance(facts))
            if lanes.is_due or self._is_old(lanes) or self._bytes > CHUNK_BYTES:
                await self._commit(lanes)
            await self._look()
        if lanes.uncommitted:
            await self._commit(lanes)

    def _begin(self, lanes: Lanes, items: Sequence[Item]) -> None:
        """Begins items until the lanes are full. Items of pure nodes end at once."""
        while self._may_go_on:
            began = False
            while lanes.may_begin:
                place = lanes.begin()
                began = True
                item, error = parsed(items[place])
                if error is not None:
                    self._take(lanes, [End(self.first + place, error=error)])
                    continue
                self._begun[place] = self._loop.time()
                self._work.begin(self.first + place, item)
            if not began or self._bytes > CHUNK_BYTES:
                return
            self._take(lanes, self._work.advance(()))

    def _take(self, lanes: Lanes, ends: Sequence[End]) -> None:
        now = self._loop.time()
        for given in ends:
            place = given.item - self.first
            end = given._replace(item=place)
            row = dump(row_of(end))
            if len(row) > MAX_RESULT_BYTES:
                message = f"the result of the item takes {len(row):,} bytes; {MAX_RESULT_BYTES:,} is the limit"
                end = End(place, error={"code": "result_too_large", "message": message})
                row = dump(row_of(end))
            lanes.end(end)
            if end.error is not None or self._plan.results == "all":
                self._rows.append(row)
                self._bytes += len(row)
            begun = self._begun.pop(place, now)
            self._item_ms[0] += (now - begun) * 1000
            self._item_ms[1] += 1
        if ends and self._chunk_since is None:
            self._chunk_since = now

    @property
    def _may_go_on(self) -> bool:
        """Whether items may begin: nothing stops them, and one that takes as long as it may still fits into the invocation."""
        if self._stop or self._leaving:
            return False
        return not self._budget.over and self._budget.fits(self._longest_ms)

    def _is_old(self, lanes: Lanes) -> bool:
        return bool(lanes.uncommitted) and self._loop.time() >= self._chunk_due

    @property
    def _chunk_due(self) -> float:
        if self._chunk_since is None:
            return float("inf")
        spent, number = self._item_ms
        usual = _LONG_CHUNK_MS if number and spent / number > _LONG_ITEM_MS else DEFAULT_CHUNK_MS
        return self._chunk_since + min(self._plan.commit_ms or usual, MAX_CHUNK_MS) / 1000

    def _next_look(self, lanes: Lanes) -> float:
        return min(self._chunk_due, self._renew_at, self._steer_at or self._loop.time())

    # -- commits ----------------------------------------------------------------------------------------------------

    async def _commit(self, lanes: Lanes) -> None:
        ends, lanes.uncommitted = lanes.uncommitted, []
        await self._append_chunk(lanes.next_mark, ends)
        await self._steered()

    async def _commit_ends(self, ends: Sequence[End], mark: int, *, isolated: bool = False) -> None:
        self._rows = [dump(row_of(end)) for end in ends]
        await self._append_chunk(min(mark, self.progress.started_to), ends, isolated=isolated)

    async def _append_chunk(self, mark: int, ends: Sequence[End], *, isolated: bool = False) -> None:
        rows, self._rows, self._bytes, self._chunk_since = self._rows, [], 0, None
        held: list[JSON] | str = []
        if rows:
            lead = b" " if any(row[:1] == b" " for row in rows) else b""  # some need the decoder of the standard library
            packed = pack(lead + b"[" + b",".join(rows) + b"]")
            self._kept_bytes += sum(map(len, rows))
            if len(packed) > CHUNK_INLINE_BYTES:
                held = await self._retried(partial(self._world.blobs.put, packed, self._head.run_id))
            else:
                held = unpack(packed)
        await self._append(chunk(mark, ends, held, isolated=isolated))
        if self._kept_bytes > MAX_SHARD_RESULT_BYTES:
            await self._stop_node("result_too_large")

    async def _append(self, record: dict[str, JSON]) -> None:
        await self._log.append(record)
        self.progress.fold(record)

    # -- items in doubt ---------------------------------------------------------------------------------------------

    async def _isolate(self, items: Sequence[Item]) -> None:
        """Runs the items in doubt one at a time, while this process executes nothing else."""
        progress = self.progress
        for place in progress.in_doubt():
            if progress.suspect == place:
                message = "the process ended again while it executed only this item"
                await self._commit_ends([End(place, error={"code": POISONED, "message": message})], progress.total, isolated=True)
                continue
            if not self._may_go_on:
                return
            await self._alone(place, items)

    async def _alone(self, place: int, items: Sequence[Item]) -> None:
        self._granted = False
        self._gate.request(self)
        while not self._granted:
            await self._work.arrivals.sleep(self._renew_at)
            await self._look()
            if not self._may_go_on:
                self._gate.withdraw(self)
                return
        await self._append({"alone": place})
        lanes = Lanes(self.progress, 1, 1, 0, [place])
        self._begin(lanes, items)
        while lanes.running and not self._interrupted:
            self._take(lanes, self._work.advance(await self._work.collect(self._renew_at)))
            await self._look()
        self._gate.withdraw(self)
        if lanes.uncommitted:
            await self._append_chunk(self.progress.started_to, lanes.uncommitted, isolated=True)

    # -- what time brings -------------------------------------------------------------------------------------------

    async def _look(self) -> None:
        now = self._loop.time()
        if now >= self._renew_at:
            await self._retried(self._renew)
        if now >= self._steer_at:
            await self._steered()

    def _renew(self) -> None:
        self._lease = renewed(self._world, self._lease)
        self._renew_at = self._loop.time() + LEASE_MS / 3000

    async def _steered(self) -> bool:
        """Reads whether the node stops. Returns whether it does."""
        steer = await self._retried(partial(self._board.steer, self._world.clock.now_ms()))
        self._steer_at = self._loop.time() + STEER_LOOK_MS / 1000
        self._stop = bool(steer.stop)
        return self._stop

    async def _read(self) -> Sequence[Item] | None:
        """The items of the shard. None if they are not those that were planned: the node then stops."""
        try:
            return await self._retried(partial(shard_items, self._world, self._plan, self._number))
        except (ObjectChanged, ObjectRefused) as error:
            await self._stop_node(CHANGED if isinstance(error, ObjectChanged) else UNREADABLE)
            return None

    async def _stop_node(self, why: str) -> None:
        await self._retried(partial(self._board.change, self._world.clock.now_ms(), stop=why))
        self._stop = True

    # -- the end ----------------------------------------------------------------------------------------------------

    async def _end(self) -> None:
        """Stores the rows in the order of the items, tells the distribution, and releases the lease. May be repeated."""
        part, failures, kept = await self._retried(self._results)
        try:
            if part and self._plan.into is not None and not self._stop:
                sink = Sink(self._world, self._plan)
                await self._retried(partial(sink.put, sink.part(self._number), part))
        except SinkRefused as refused:
            await self._stop_node(refused.code)
        await self._retried(partial(self._tell_and_leave, part, failures, kept), together=True)

    def _tell_and_leave(self, part: bytes, failures: bytes, kept: int) -> None:
        with self._world.commits.at_once():
            self._tell(part, failures, kept)
            self._release("cancelled" if not self.progress.is_over else "completed", None)

    def _results(self) -> tuple[bytes, bytes, int]:
        """The rows to keep, those of failed items, and how many are kept."""
        plan = self._plan
        rows = sorted((row for held in self.progress.rows for row in self._held(held)), key=lambda row: row[0])
        lines = [_line(plan, self.first, row) for row in rows]
        failures = b"".join(line for line, row in zip(lines, rows, strict=True) if len(row) > 2)
        kept = [line for line, row in zip(lines, rows, strict=True) if len(row) == 2 or plan.on_error == "mark"]
        part = b"".join(kept) if plan.results != "none" else b""
        return part, failures, len(kept) if part else 0

    def _tell(self, part: bytes, failures: bytes, kept: int) -> None:
        progress = self.progress
        keys = [self._world.blobs.put(data, self._board.distribution) if data else "" for data in (part, failures)]
        self._board.put_end(ShardEnd(
            self._number, progress.completed, progress.failed, kept, len(part), _hash(keys[0]), len(failures), _hash(keys[1]),
        ))  # fmt: skip
        self._board.leave(self._number)

    def _held(self, held: Sequence[JSON] | str) -> Sequence[JSON]:
        if not isinstance(held, str):
            return held
        rows: Sequence[JSON] = unpack(value_of(self._world, held, "blob of results", self._head.run_id))
        return rows

    def _release(self, status: str, due_ms: int | None) -> None:
        self._world.store.update_run(
            self._lease, self._world.clock.now_ms(), status=status, sequence=self._log.sequence, due_ms=due_ms, release=True
        )


def _hash(key: str) -> str:
    return key.rpartition("/")[2]


def _line(plan: Plan, first: int, row: Sequence[JSON]) -> bytes:
    """A row of a part: {index, result}, or {index, error: {code, message}}. Without instants, so that equal outcomes are equal
    bytes."""
    place: int = row[0]
    what: dict[str, JSON] = {"index": first + place}
    what |= {"result": row[1]} if len(row) == 2 else {"error": row[2]}
    return dump(what) + b"\n"
