"""Serves the hints for distributions and shards in one process: takes their leases, and draws shards for workers."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from secrets import token_hex
from typing import Any, Protocol

from stepless.core.lease_ends import is_over
from stepless.errors import Fenced, LogUnreadable, TransientError
from stepless.limits import BUSY_DELAY_MS, LEASE_MS, MAX_SHARD_WORKERS
from stepless.model.runs.statuses import ENDED
from stepless.ports import ERASED, Lease, Message, RunHead
from stepless.runtime.header_notes import meta_of
from stepless.runtime.run_backoff import rest
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.session.permits.exclusivity import Exclusivity
from stepless.runtime.session.permits.lingering import Lingering
from stepless.runtime.session.shards.distribution import Distribution
from stepless.runtime.session.shards.shard_session import ShardSession
from stepless.runtime.shards.plans import BEGIN, DISTRIBUTION, WORKER, Board, Place, Plan, place_of, plan_of
from stepless.runtime.world import World


class Sessions(Protocol):
    """What this module needs of a runner: its table of sessions and the state of its process."""

    sessions: Any  # by run id
    lingering: Lingering
    exclusivity: Exclusivity
    on_unreadable: Callable[[str, LogUnreadable], None]


class ShardServer:
    """Serves one runner. `_plans` are those of the last distributions; `_broken_off` the epochs, by run, of sessions that a
    transient error ended, although the process has not died."""

    def __init__(self, world: World, runner: Sessions) -> None:
        self._world, self._runner = world, runner
        self._plans: dict[str, Plan] = {}
        self._broken_off: dict[str, int] = {}

    async def serve(self, message: Message, budget: Budget) -> InvocationEnd:
        """Serves one hint. Raises `StoreUnavailable`: the hint must then be delivered again."""
        world, run_id = self._world, message.run_id
        head = world.store.get_run(run_id)
        if head is None or head.status == ERASED:
            return InvocationEnd.GONE
        if head.status in ENDED and head.due_ms in (None, head.expires_ms):  # else a signal came while it ended: it leaves again
            return InvocationEnd.GONE
        budget, place = budget.start(), place_of(head)
        try:
            plan = self._plan(place)
        except KeyError:  # it is being removed
            return InvocationEnd.GONE
        if place.number == DISTRIBUTION:
            if message.reason not in (WORKER, BEGIN) or plan.is_open:
                return await self._distribute(message, head, plan, budget)
            number = message.hops - 1 if message.reason == BEGIN else None
            return await self._work(head, place, plan, budget, number)
        if (lease := self._taken(head)) is None:
            return self._busy(message)
        ended = await self._shard(head, lease, place, plan, budget)
        return await self._work(head, place, plan, budget) if ended else InvocationEnd.CONTINUED

    def _plan(self, place: Place) -> Plan:
        plan = self._plans.get(place.plan)
        if plan is None:
            while len(self._plans) >= 8:
                del self._plans[next(iter(self._plans))]
            plan = plan_of(self._world, place.distribution, place.plan)
            if not plan.is_open:
                self._plans[place.plan] = plan
        return plan

    def _taken(self, head: RunHead) -> Lease | None:
        now_ms = self._world.clock.now_ms()
        if head.run_id in self._runner.sessions:
            self._runner.sessions[head.run_id].poke()
            return None
        as_of_ms = max(now_ms, head.lease_until_ms) if is_over(head.lease_until_ms, now_ms) else now_ms
        return self._world.store.take_lease(head.run_id, token_hex(8), as_of_ms, now_ms + LEASE_MS)

    def _busy(self, message: Message) -> InvocationEnd:
        self._world.queue.send(message, BUSY_DELAY_MS)
        return InvocationEnd.BUSY

    # -- the distribution -------------------------------------------------------------------------------------------

    async def _distribute(self, message: Message, head: RunHead, plan: Plan, budget: Budget) -> InvocationEnd:
        if (lease := self._taken(head)) is None:
            return self._busy(message)
        session = Distribution(self._world, head, lease, plan, budget)
        self._runner.sessions[head.run_id] = session
        try:
            return await session.go()
        except Fenced:
            return InvocationEnd.FENCED
        except LogUnreadable as error:
            return self._rests(head, lease, error)
        finally:
            del self._runner.sessions[head.run_id]

    def _rests(self, head: RunHead, lease: Lease, error: LogUnreadable) -> InvocationEnd:
        rest(self._world, head, lease, error)
        self._runner.on_unreadable(head.run_id, error)
        return InvocationEnd.RESTS

    # -- workers ----------------------------------------------------------------------------------------------------

    async def _work(
        self, head: RunHead, place: Place, plan: Plan, budget: Budget, number: int | None = None
    ) -> InvocationEnd:
        """Runs the shard `number`, and others that it draws, until there are none or the budget is used up."""
        world, board = self._world, Board(self._world.store, place.distribution)
        while True:
            if budget.over:
                world.queue.send(Message(place.distribution, WORKER))
                return InvocationEnd.CONTINUED
            drawn, begun = await world.commits.make(partial(self._next, head, place, plan, board, number))
            if drawn is None:
                return InvocationEnd.PARKED
            if begun is not None and not await self._shard(*begun, plan, budget):
                return InvocationEnd.CONTINUED
            number = None

    def _next(
        self, head: RunHead, place: Place, plan: Plan, board: Board, number: int | None
    ) -> tuple[int | None, tuple[RunHead, Lease, Place] | None]:
        """Draws a shard, or takes the given one, and begins it. Where one transaction holds several changes, it holds these."""
        with self._world.commits.at_once():
            drawn = self._drawn(board, plan) if number is None else self._given(board, plan, number)
            return drawn, None if drawn is None else self._begun(head, place, plan, board, drawn)

    def _drawn(self, board: Board, plan: Plan) -> int | None:
        """Draws the number of a shard. None if there is none left, if the node stops, or if this worker is one too many."""
        now_ms, hint = self._world.clock.now_ms(), Message(board.distribution, "signal")
        steer = board.steer(now_ms)
        if steer.stop or board.all_drawn(now_ms):
            self._world.queue.send(hint)
            return None
        if len(board.live(MAX_SHARD_WORKERS + 1)) >= plan.workers(steer):
            return None
        number = plan.drawn(board.draw(now_ms))
        if number is None:
            board.note_all_drawn(now_ms)
            self._world.queue.send(hint)
            return None
        return self._entered(board, number, plan.workers(steer))

    def _given(self, board: Board, plan: Plan, number: int) -> int | None:
        """The number of a shard that was drawn and not begun. None if another process has begun it, or if there is no room."""
        steer = board.steer(self._world.clock.now_ms())
        if number >= plan.shards or steer.stop or self._world.store.get_run(plan.shard_id(number)) is not None:
            return None
        return self._entered(board, number, plan.workers(steer))

    def _entered(self, board: Board, number: int, most: int) -> int | None:
        """Enters a shard among those in progress, of which there may be `most`."""
        board.enter(number)
        if len(board.live(MAX_SHARD_WORKERS + 1)) > most:  # others have entered at the same time
            board.leave(number)  # the distribution finds it
            return None
        return number

    def _begun(
        self, head: RunHead, place: Place, plan: Plan, board: Board, number: int
    ) -> tuple[RunHead, Lease, Place] | None:
        """Creates the header of a shard, with the first lease. None if another process has begun it."""
        now_ms, owner = self._world.clock.now_ms(), token_hex(8)
        entry = {name: value for name, value in meta_of(head).items() if name == "entry"}
        meta = {"parent": {"run": place.distribution, "instance": plan.instance}, "plan": place.plan, "number": number,
                "of": place.distribution, **entry}  # fmt: skip
        until_ms = now_ms + LEASE_MS
        shard = RunHead(
            plan.shard_id(number), head.workflow_id, head.version, "running", now_ms, now_ms, b"null", json.dumps(meta).encode(),
            due_ms=until_ms, epoch=1, owner=owner, lease_until_ms=until_ms,
        )  # fmt: skip
        if self._world.store.create_run(shard):
            return shard._replace(owner=None), Lease(shard.run_id, owner, 1, until_ms), place._replace(number=number)
        return None

    async def _shard(self, head: RunHead, lease: Lease, place: Place, plan: Plan, budget: Budget) -> bool:
        """Runs one shard under a lease. Returns whether it has ended here; otherwise a hint for it is sent."""
        run_id, runner = head.run_id, self._runner
        broken_off = self._broken_off.pop(run_id, None) == lease.epoch - 1
        board = Board(self._world.store, place.distribution)
        session = ShardSession(
            self._world, head, lease, plan, place.number, board, budget, runner.lingering, runner.exclusivity,
            broken_off=broken_off,
        )
        runner.sessions[run_id] = session
        try:
            ended = await session.go()
        except Fenced:
            return False
        except LogUnreadable as error:
            self._rests(head, lease, error)
            return False
        except TransientError:
            self._broken_off[run_id] = lease.epoch
            raise
        finally:
            session.close()
            if runner.sessions.get(run_id) is session:
                del runner.sessions[run_id]
        if not ended:
            self._world.queue.send(Message(run_id, "continue"))
        return ended
