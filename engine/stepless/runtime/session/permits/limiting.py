"""Acquires and gives back the permits of one session: slots of concurrency limits, and instants of rates
(docs/understand/decisions/0011-limits-per-key.md). Only sessions of graphs with such limits have a limiter.

A permit is taken before the commit of the start that uses it, and slots are given back after the commit of the end. A process
that dies in between leaves slots under a lease that ends, and instants that lapse.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from random import random
from secrets import token_hex

from stepless.core.decision import Decision
from stepless.core.facts import Fact
from stepless.core.limits import pacing
from stepless.core.limits.permits import Cell, Permits, run_cell, waited_for
from stepless.core.limits.slots import (
    Asked,
    Changed,
    Holder,
    Holders,
    change,
    encode_holders,
    intact_positions,
    kept_share,
    position_in_line,
    run_in_line,
    since_in_line,
    still_there,
    want_in_line,
    without,
)
from stepless.core.state import State
from stepless.errors import SteplessError, StoreUnusable
from stepless.limits import (
    CLOCK_TOLERANCE_MS,
    FIRST_IN_LINE,
    GRANT_MS,
    LATER_LIMIT_CHECK_MS,
    LIMIT_CHECK_MS,
    LIMIT_LIFE_MS,
    LIMIT_TRIES,
    LIMITS_AT_ONCE,
    LINE_LOOK_MS,
    MAX_LINE_READ,
    MAX_RATE_LEAD_MS,
    PARKED_SLOT_MS,
    SLOT_TURN_MS,
)
from stepless.model.runs.statuses import ENDED
from stepless.ports import Lease, Message, RunHead
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.permits.limit_claims import Retried as Retried
from stepless.runtime.session.permits.limit_claims import claim_key, dead_in, holders_in, pause_after, reserve
from stepless.runtime.world import World


class Limiter:
    """The permits of a run, for one session. `lease` returns the present lease, and `retried` makes a call to the store.

    Of several processes that received a granted lease, the first append decides which one holds it. Slots are taken under a
    lease, so none are taken before that: the others could give back slots that are in use."""

    def __init__(self, world: World, head: RunHead, lease: Callable[[], Lease], log: RunLog, retried: Retried) -> None:
        if not hasattr(world.store, "replace_claim"):
            raise StoreUnusable("this store cannot keep the slots of limits", mend="update the package that provides it")
        self._world, self._store = world, world.store
        self._head, self._run_id = head, head.run_id
        self._lease, self._log, self._retried = lease, log, retried
        self.permits = Permits()
        self._wanted: dict[str, Cell] = {}  # what the run lacked when it was last decided
        self._held: dict[str, int] = {}  # slots under this lease, as stored
        self._cells: dict[str, Cell] = {}  # of the limits for slots that the run has needed
        self._positions: dict[str, str] = {}  # in lines
        self._recalled: set[str] = set()  # the cells for which the run waited when it was loaded
        self._turns: dict[str, int] = {}  # when the run last took slots
        self._looks: dict[str, int] = {}  # when to look next whether others wait for its slots
        self._reserved: dict[str, int] = {}  # the last instant reserved under a rate
        self._contended = False
        self._is_first = False  # whether the decision that is being committed is the first under a granted lease
        self.ahead_ms = 0

    def clock_set_back(self) -> None:
        """Forgets instants that may lie far ahead now: those that were reserved, and when to look for other runs."""
        self._reserved.clear()
        self._turns.clear()
        self._looks = dict.fromkeys(self._looks, 0)
        self.permits.times.clear()

    # -- around a decision --------------------------------------------------------------------------------------------

    def recall(self, state: State) -> None:
        """Lets the first decision find out what the run, which this session has loaded, was waiting for."""
        self.permits.probes = list(state.limited)
        cells = [waited_for(state, cell_id) for cell_id in state.limited]
        self._cells = {cell.id: cell for cell in cells if cell is not None}
        self._recalled = set(self._cells)

    async def decide(
        self, state: State, facts: Sequence[Fact], once: Callable[[Sequence[Fact]], Decision], *, exhausted: bool
    ) -> Decision:
        """Decides, acquires what was lacking, and decides again, until no more permits arrive. One decision, for one commit."""
        await self.before()
        if self._recalled and state.graph.slots is not None:
            await self._take_again(state, exhausted=exhausted)
        self._is_first = not self._log.is_fenced
        decision = once(facts)
        while decision.over and not exhausted and state.limited and await self.provide(state):
            decision.extend(once(()))
        return decision

    async def _take_again(self, state: State, *, exhausted: bool) -> None:
        """A run that was loaded takes the slot of its workflow first: else all that waits for a node would be queued for it."""
        if exhausted or self.permits.runs or state.held is not None or state.halting or state.ended or not self._log.is_fenced:
            return
        try:
            cell = run_cell(state, self._world.clock.now_ms())
        except SteplessError:
            return  # its nodes fail for the same reason
        if cell.id not in state.limited and state.limited and cell.id not in self._positions:
            await self._take(cell, cell.weight)

    async def before(self) -> None:
        """While other runs wait, the run gives slots beyond its share back as they become free (`slots.kept_share`)."""
        now_ms = self._world.clock.now_ms()
        for cell_id in [*self._held]:
            if not self._cells[cell_id].run and now_ms >= self._looks[cell_id]:
                self._looks[cell_id] = now_ms + LINE_LOOK_MS
                self.permits.give_up(cell_id, await self._excess(self._cells[cell_id], now_ms))

    async def _excess(self, cell: Cell, now_ms: int) -> int:
        """How many slots the run holds that it must give back; 0 or less if none. Reads only."""
        line = intact_positions(await self._retried(partial(self._store.read_line, cell.id, limit=MAX_LINE_READ)))
        others = [position for position in line if run_in_line(position) != self._run_id]
        if not others or cell.slots is None:
            return 0
        runs = {self._run_id, *map(run_in_line, others)}
        runs.update(await self._holders(cell.id, now_ms))
        had_turn = now_ms - self._turns.get(cell.id, 0) >= SLOT_TURN_MS
        keep = kept_share(cell.slots.max, len(runs), cell.weight, others, had_turn=had_turn)
        return self._held[cell.id] - self.permits.returned.get(cell.id, 0) - keep

    async def provide(self, state: State) -> bool:
        """Acquires permits for what is queued. True if there are new ones: the run must be decided again."""
        if state.held is not None or state.halting or state.ended or not self._log.is_fenced:
            return False
        self.permits.probes = []
        if state.recoveries:
            self.permits.want_for_doubt(state)
        for cell in self.permits.wanted.values():
            known = self._wanted.get(cell.id)
            self._wanted[cell.id] = cell if known is None or known.weight < cell.weight else known
        self.permits.wanted.clear()
        self._contended, provided = False, False
        for cell_id in [*self._wanted][:LIMITS_AT_ONCE]:
            cell = self._wanted.pop(cell_id)
            queued = len(state.limited.get(cell_id, ()))
            if not queued:
                continue
            self._wanted[cell_id] = cell  # at the end: the next call begins with those that this one did not reach
            if cell.pace is not None:
                provided |= await self._reserve(cell, queued)
            elif (want := self._lacking(cell, queued)) > 0:
                provided |= await self._take(cell, want)
        return provided

    def _lacking(self, cell: Cell, queued: int) -> int:
        """How many slots the queued instances can use, if there are not enough. Their weights may differ: all count as the
        heaviest."""
        if cell.run:
            return 0 if cell.id in self.permits.runs else cell.weight
        if cell.id in self.permits.excess:
            return 0
        most = cell.slots.max if cell.slots is not None else 0
        wanted = min(cell.weight * queued, most - most % cell.weight)
        return wanted if wanted > self.permits.free.get(cell.id, 0) else 0

    async def after(self, state: State, *, exhausted: bool) -> bool:
        """Gives back the slots that nothing in the run can use, after a commit. After the first one under a granted lease, it
        acquires what was lacking before; True if permits have arrived: the run must be decided again."""
        self.permits.ended(state)
        for cell_id in [cell_id for cell_id in self._positions if cell_id not in state.limited]:
            await self._quit(self._cells[cell_id], self._held.get(cell_id, 0))
        for cell_id in [cell_id for cell_id in self.permits.free if cell_id not in state.limited or state.held is not None]:
            self.permits.excess.pop(cell_id, None)
            await self._give_back(cell_id, self.permits.free, gone=True)
        has_yielded = False
        for cell_id in [*self.permits.returned]:
            await self._give_back(cell_id, self.permits.returned)
            has_yielded |= cell_id not in self.permits.excess
        return (self._is_first or has_yielded) and not exhausted and bool(state.limited) and await self.provide(state)

    async def in_time(self, instance: str) -> bool:
        """Waits until the instant that was reserved for an attempt: a moment, since its start is committed shortly before.
        False if the instant has passed, so that the attempt must not begin; later starts are then committed earlier."""
        begun = self.permits.begun.get(instance)
        if begun is None or begun.pace is None:
            return True
        if (wait_ms := begun.at_ms - self._now_ms()) > MAX_RATE_LEAD_MS + CLOCK_TOLERANCE_MS:
            return False  # the clock was set back after the instant had been reserved
        if wait_ms > 0:
            await asyncio.sleep(wait_ms / 1000)
        if not pacing.is_late(begun.at_ms, now_ms := self._now_ms(), begun.pace):
            return True
        self.permits.lead_ms = min(MAX_RATE_LEAD_MS, 2 * max(self.permits.lead_ms, now_ms - begun.at_ms))
        return False

    def _now_ms(self) -> int:
        return self._world.clock.now_ms() + self.ahead_ms

    # -- leaving ------------------------------------------------------------------------------------------------------

    def may_leave(self, state: State) -> bool:
        """False while nothing would wake the run: it waits for slots and has no position in the line, or for a rate and no
        instant is reserved, which takes a moment."""
        if state.held is not None or not state.limited:
            return True
        timed = {one.wait.details["cell"] for one in state.paced.values() if one.wait is not None}
        return not self._contended and all(cell_id in self._positions or cell_id in timed for cell_id in state.limited)

    async def check_ms(self, state: State) -> int | None:
        """Returns when a run that leaves must look at its limits again, woken or not; None if it waits for no slots."""
        checks = []
        for cell_id, position in self._positions.items():
            if cell_id in state.limited:
                line = intact_positions(await self._retried(partial(self._store.read_line, cell_id, limit=FIRST_IN_LINE + 1)))
                later = len(line) > FIRST_IN_LINE and position > line[FIRST_IN_LINE]
                checks.append(LATER_LIMIT_CHECK_MS if later else LIMIT_CHECK_MS)
        return self._world.clock.now_ms() + round(min(checks) * (1 + random() / 4)) if checks else None

    async def leave(self, state: State) -> None:
        """Gives back all slots; and the position in a line in which the run no longer waits, with what was kept for it there."""
        self.permits = Permits()
        rests = state.ended or state.halting or state.held is not None
        for cell in [*self._cells.values()]:
            if cell.run and cell.id in self._held and not rests and (state.paced or state.limited.keys() - {cell.id}):
                await self._change(cell, 0, Asked(parks=True))
            elif cell.id in state.limited and not rests:
                if cell.id in self._held:
                    await self._change(cell, 0, Asked())
            elif cell.id in self._held or cell.id in self._positions or cell.id in self._recalled:
                await self._quit(cell, 0)

    async def was_served(self, state: State) -> bool:
        """Returns whether slots were kept for the run while it left: the run that served it may have woken this session, in
        vain."""
        for cell_id in self._positions:
            if cell_id in state.limited and self._run_id in await self._holders(cell_id, self._world.clock.now_ms()):
                return True
        return False

    async def _holders(self, cell_id: str, now_ms: int) -> Holders:
        return holders_in(await self._retried(partial(self._store.get_claim, claim_key(cell_id), now_ms)), cell_id)

    # -- slots --------------------------------------------------------------------------------------------------------

    async def _take(self, cell: Cell, want: int) -> bool:
        """Takes slots for whole uses. Free ones, which are then too few for the next use, are given back with the same write.
        True if the run has more free slots than before."""
        self._cells[cell.id] = cell
        free = self.permits.free.pop(cell.id, 0)
        keep = self._held.get(cell.id, 0) - free
        asked = Asked(want, cell.weight, all_kept=not cell.weighed)
        granted = await self._change(cell, keep, asked)
        if granted == 0 and cell.id not in self._positions:
            await self._join_line(cell, want)
            granted = await self._change(cell, keep, asked)
        if granted is None and self._held.get(cell.id, 0) > keep:  # they could not be given back
            self.permits.free[cell.id] = free
        if not granted:
            return False
        await self._leave_line(cell.id)
        self._turns[cell.id] = now_ms = self._world.clock.now_ms()
        self._looks.setdefault(cell.id, now_ms + LINE_LOOK_MS)
        if cell.run:
            self.permits.runs.add(cell.id)
        else:
            self.permits.free[cell.id] = granted
        return granted > free  # instances in doubt may leave free slots unused

    async def _give_back(self, cell_id: str, slots: dict[str, int], *, gone: bool = False) -> None:
        number = slots.pop(cell_id)
        if number and await self._change(self._cells[cell_id], self._held[cell_id] - number, Asked(gone=gone)) is None:
            slots[cell_id] = number

    async def _change(self, cell: Cell, keep: int, asked: Asked) -> int | None:
        """Sets what the run holds of a cell to `keep` plus what it is granted of `asked`; returns what it is granted. Wakes the
        runs that are served. None, and no change, if too many other runs change the cell now."""
        assert cell.slots is not None
        dead: dict[str, Holder] = {}
        for tries in range(LIMIT_TRIES):
            now_ms, lease = self._world.clock.now_ms(), self._lease()
            former = await self._retried(partial(self._store.get_claim, claim_key(cell.id), now_ms))
            line = intact_positions(await self._retried(partial(self._store.read_line, cell.id, limit=MAX_LINE_READ)))
            holders = holders_in(former, cell.id)
            if (position := next((position for position in line if run_in_line(position) == self._run_id), None)) is not None:
                self._positions.setdefault(cell.id, position)  # an earlier session took it
                if since_in_line(position) > now_ms + CLOCK_TOLERANCE_MS:  # before the clock was set back: behind all later runs
                    await self._leave_line(cell.id)
                    await self._join_line(cell, want_in_line(position))
                    continue
            elif cell.id in self._positions and (len(line) < MAX_LINE_READ or self._positions[cell.id] < line[-1]):
                del self._positions[cell.id]  # it was served
            mine = Holder(lease.epoch, keep, lease.until_ms)
            held = self._held.get(cell.id, 0)
            living = without(holders, still_there(holders, dead))
            changed = self._changed(cell, living, mine, held, asked, line, now_ms)
            if changed.short and (found := await dead_in(self._store, self._retried, living, self._run_id, now_ms)):
                dead |= found
                changed = self._changed(cell, without(living, found), mine, held, asked, line, now_ms)
            if await self._remove_ended(cell.id, changed):
                continue
            if changed.holders == holders or await self._swap(cell.id, former, changed.holders, now_ms):
                self._keep(cell, keep + changed.granted)
                for position in changed.served:
                    await self._wake(cell.id, position)
                return changed.granted
            await pause_after(tries)
        self._contended = self._contended or bool(asked.want)
        return None

    def _changed(
        self, cell: Cell, holders: Holders, mine: Holder, held: int, asked: Asked, line: Sequence[str], now_ms: int
    ) -> Changed:
        most = cell.slots.max if cell.slots is not None else 0
        kept_ms = PARKED_SLOT_MS if asked.parks else GRANT_MS
        return change(holders, self._run_id, mine, held, most, asked, line, now_ms + kept_ms)

    async def _swap(self, cell_id: str, former: bytes | None, holders: Holders, now_ms: int) -> bool:
        key = claim_key(cell_id)
        if not holders:
            return former is None or await self._retried(partial(self._store.release_claim, key, former))
        data, expires_ms = encode_holders(holders), now_ms + LIMIT_LIFE_MS
        return await self._retried(
            partial(self._store.replace_claim, key, former, data, now_ms, expires_ms)
        )

    def _keep(self, cell: Cell, number: int) -> None:
        if number:
            self._held[cell.id] = number
        else:
            self._held.pop(cell.id, None)

    # -- the line -----------------------------------------------------------------------------------------------------

    async def _join_line(self, cell: Cell, want: int) -> None:
        # of slots for runs, a run that has begun takes its position before newer runs
        now_ms = self._world.clock.now_ms()
        since_ms = min(self._head.created_ms, now_ms) if cell.run else now_ms
        position = position_in_line(since_ms, cell.weight, want, self._run_id, token_hex(4))
        await self._retried(partial(self._store.join_line, cell.id, position))
        self._positions[cell.id] = position

    async def _quit(self, cell: Cell, keep: int) -> None:
        """Leaves a line for good, and gives back what was kept for the run there, and what it holds beyond `keep`."""
        for _ in range(2):
            await self._leave_line(cell.id)
            await self._change(cell, keep, Asked(gone=True))
            if cell.id not in self._positions:  # else an earlier session took a position
                return

    async def _leave_line(self, cell_id: str) -> None:
        position = self._positions.pop(cell_id, None)
        if position is not None:
            await self._retried(partial(self._store.leave_line, cell_id, position))

    async def _remove_ended(self, cell_id: str, changed: Changed) -> bool:
        """Removes positions of runs that have ended from the line. True if there were any among those to be served."""
        ended = []
        for position in changed.served:
            head = await self._retried(partial(self._store.get_run, run_in_line(position)))
            if head is None or head.status in ENDED:
                await self._retried(partial(self._store.leave_line, cell_id, position))
                ended.append(position)
        return bool(ended)

    async def _wake(self, cell_id: str, position: str) -> None:
        """Wakes a run whose slots are kept for it. It is due before its position is removed, so that it is not forgotten."""
        run_id, now_ms = run_in_line(position), self._world.clock.now_ms()
        await self._retried(partial(self._store.touch_run, run_id, now_ms))
        await self._retried(partial(self._store.leave_line, cell_id, position))
        self._world.queue.send(Message(run_id, "limit"))

    # -- rates --------------------------------------------------------------------------------------------------------

    async def _reserve(self, cell: Cell, queued: int) -> bool:
        """Reserves instants, if those that were reserved before have passed."""
        if self._reserved.get(cell.id, 0) > self._world.clock.now_ms():
            return False
        times = await reserve(self._store, self._retried, cell, queued, self._world.clock.now_ms, self.permits.lead_ms)
        if times is None:
            self._contended = True
            return False
        self._reserved[cell.id] = times[-1]
        self.permits.times[cell.id] = deque(at_ms + self.ahead_ms for at_ms in times)
        return True
