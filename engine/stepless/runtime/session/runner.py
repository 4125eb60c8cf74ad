"""Takes the lease of a run, and executes the run in the loop until the invocation ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from secrets import token_hex
from typing import TYPE_CHECKING

from stepless.core.lease_ends import is_over
from stepless.core.state import RunStatus, State
from stepless.errors import Damaged, DamagedHeader, DamagedVersion, Fenced, LogUnreadable, NewerVersion, TransientError
from stepless.limits import BUSY_DELAY_MS, LEASE_MARGIN_MS, LEASE_MS, MAX_ACTIVE_RUNS, MAX_EXPORT_RETRY_MS
from stepless.model.runs.statuses import ENDED
from stepless.ports import ERASED, GRANTED, RECEIVER, SHARD, SUCCESSOR, Lease, Message, RunHead
from stepless.runtime import metering
from stepless.runtime.headers import head_of
from stepless.runtime.run_backoff import rest
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd as InvocationEnd
from stepless.runtime.session.loop import Session as Session
from stepless.runtime.session.pauses.receiving import waits_to_begin
from stepless.runtime.session.permits.exclusivity import Exclusivity
from stepless.runtime.session.permits.lingering import Lingering
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.runtime.session.shards.serving import ShardServer

_GRANTED = frozenset({"start", "signal", "sweep", "timer", "child"})  # the hints that may use a lease granted to their receiver


class Runner:
    """Executes one run per invocation. `sessions` holds the active sessions of this process, by run id; `lingering` the code of
    attempts that have ended, which may outlive its session. `on_unreadable` is called
    for each run that rests because its log cannot be read; `on_opened` with the header when a session begins, and `on_left` with
    the header as it was then and the state when a session has left its run in good order. They must be short, and not raise."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.sessions: dict[str, Session] = {}
        self.lingering = Lingering(world.linger_ms)
        self.lingering.on_return = self._code_returned
        self.lingering.alone = lambda: all(session.only_lingers for session in self.sessions.values())
        self.exclusivity = Exclusivity(self.lingering)
        self._broken_off: dict[str, int] = {}  # by run: the epochs of sessions that a transient error ended in this process
        self.on_unreadable: Callable[[str, LogUnreadable], None] = lambda run_id, error: None
        self.on_opened: Callable[[RunHead], None] = lambda head: None
        self.on_left: Callable[[RunHead, State], None] = lambda head, state: None

    @cached_property
    def _shard_server(self) -> ShardServer:
        from stepless.runtime.session.shards.serving import ShardServer  # imported late: few workflows have `distributed` nodes

        return ShardServer(self._world, self)

    async def run(self, message: Message, budget: Budget) -> InvocationEnd:
        """Executes a run until it ends, waits or has used up the budget. Raises `StoreUnavailable` if the store stays
        unavailable: the message must then be delivered again."""
        with self._world.commits.writer():
            if message.run_id.startswith(SHARD):
                return await self._shard_server.serve(message, budget)
            return await self._invoke(message, budget)

    async def _invoke(self, message: Message, budget: Budget) -> InvocationEnd:
        world, run_id = self._world, message.run_id
        now_ms = world.clock.now_ms()
        if self._runs_here(run_id):
            return InvocationEnd.BUSY
        head = head_of(world, message, now_ms)
        if head is None or head.status == ERASED or _rests_for_ever(head) or _exports_later(head, now_ms):
            return InvocationEnd.GONE
        if head.status == "created" and waits_to_begin(world, head, now_ms):
            return InvocationEnd.GONE
        lease = _granted(head, message, now_ms)
        if lease is None and message.reason == "signal" and self._has_nothing_to_do(head, now_ms):
            return InvocationEnd.PARKED
        if lease is None:
            as_of_ms = max(now_ms, head.lease_until_ms) if is_over(head.lease_until_ms, now_ms) else now_ms
            take = partial(world.store.take_lease, run_id, token_hex(8), as_of_ms, now_ms + LEASE_MS)
            lease = await world.commits.make(take)
        if lease is None:
            return InvocationEnd.BUSY if self._runs_here(run_id) else self._requeue(message)
        try:
            session = self._open(head, lease, budget.start())
        except (NewerVersion, DamagedHeader, DamagedVersion) as error:
            if lease.owner in GRANTED:
                return self._leave_granted(message, lease)
            return self._rests(run_id, error) if rest(world, head, lease, error) else self._fenced(run_id)
        self.sessions[run_id] = session
        self.on_opened(head)
        try:
            return await self._go(session, message, head, lease)
        except Fenced:
            return self._fenced(run_id)
        except (LogUnreadable, Damaged) as error:
            return self._leave_unread(message, session, lease, error)
        finally:
            session.close()
            if self.sessions.get(run_id) is session:  # else the lease expired, and another session runs here
                del self.sessions[run_id]

    async def _go(self, session: Session, message: Message, head: RunHead, lease: Lease) -> InvocationEnd:
        """Executes a session. A session that a transient error ends leaves attempts open, although this process has not died."""
        session.died = self._broken_off.pop(head.run_id, None) != lease.epoch - 1
        try:
            end = await session.go(message)
        except TransientError:
            self._broken_off[head.run_id] = lease.epoch
            if len(self._broken_off) > MAX_ACTIVE_RUNS:
                del self._broken_off[next(iter(self._broken_off))]
            raise
        self.on_left(head, session.state)
        return end

    def _leave_unread(self, message: Message, session: Session, lease: Lease, error: LogUnreadable | Damaged) -> InvocationEnd:
        """Leaves a run whose log, or another value that it needs, cannot be read."""
        if lease.owner in GRANTED:
            return self._leave_granted(message, lease)
        told = DamagedHeader(error.why, run_id=message.run_id, place=error.place) if isinstance(error, Damaged) else error
        return self._rests(message.run_id, told) if session.rest(told) else self._fenced(message.run_id)

    def _leave_granted(self, message: Message, lease: Lease) -> InvocationEnd:
        """Leaves a run that this release cannot read, until its granted lease is over: a process of a newer release may have
        received the same hint."""
        self._world.queue.send(message, max(0, lease.until_ms - self._world.clock.now_ms()))
        return InvocationEnd.BUSY

    def _fenced(self, run_id: str) -> InvocationEnd:
        self._world.meter.count(metering.LEASE_CONFLICTS)
        self._world.queue.send(Message(run_id, "fenced"), BUSY_DELAY_MS)  # the other process may have left before our last commit
        return InvocationEnd.FENCED

    def _rests(self, run_id: str, error: LogUnreadable) -> InvocationEnd:
        self.on_unreadable(run_id, error)
        return InvocationEnd.RESTS

    def _runs_here(self, run_id: str) -> bool:
        """Whether this process is executing the run. If so, its session reads the inbox now."""
        active = self.sessions.get(run_id)
        if active is not None:
            active.poke()
        return active is not None

    def _has_nothing_to_do(self, head: RunHead, now_ms: int) -> bool:
        """Whether a run waits, and the session of an earlier hint has taken the signal of this one: of many messages that come
        together, the first session takes them all. A read saves the two writes that take and release the lease."""
        waits = head.status == RunStatus.PAUSED and head.owner is None and (head.due_ms is None or head.due_ms > now_ms)
        return waits and not self._world.store.read_inbox(head.run_id)

    def _open(self, head: RunHead, lease: Lease, budget: Budget) -> Session:
        return Session(self._world, head, lease, budget, self.lingering, self.exclusivity)

    def _code_returned(self, run_id: str) -> None:
        self.exclusivity.advance()
        session = self.sessions.get(run_id)
        if session is not None:
            session.code_returned()

    def _requeue(self, message: Message) -> InvocationEnd:
        self._world.meter.count(metering.LEASE_CONFLICTS)
        self._world.queue.send(message, BUSY_DELAY_MS)
        return InvocationEnd.BUSY


def _rests_for_ever(head: RunHead) -> bool:
    """Whether the run has ended and nothing is left to do but to remove it one day."""
    return head.status in ENDED and head.owner is None and head.due_ms in (None, head.expires_ms)


def _exports_later(head: RunHead, now_ms: int) -> bool:
    """Whether the run has ended and the next try of its exports is not due: a further hint for the former try changes nothing."""
    due_ms = head.due_ms if head.status in ENDED and head.owner is None else None
    return due_ms is not None and now_ms < due_ms <= now_ms + MAX_EXPORT_RETRY_MS


def _granted(head: RunHead, message: Message, now_ms: int) -> Lease | None:
    """The lease that was granted to the receiver of this hint, if enough of its time is left. One that was passed on belongs to
    the message that names its epoch. The first append decides which of several receivers holds it."""
    granted = head.owner == RECEIVER and message.reason in _GRANTED
    passed_on = head.owner == SUCCESSOR and message.epoch == head.epoch
    if head.owner is None or not (granted or passed_on) or is_over(head.lease_until_ms, now_ms + LEASE_MARGIN_MS):
        return None
    return Lease(head.run_id, head.owner, head.epoch, head.lease_until_ms, head.spent, head.exported)
