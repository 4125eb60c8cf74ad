"""Executes the attempts of the items of one shard, as a session executes those of its run, and decides what follows from them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from stepless.core.decide import decide
from stepless.core.deciding.pauses import next_due_ms
from stepless.core.facts import AttemptFact, Fact, Failed, Failure, Noticed, Stopped, Suspended, Tick
from stepless.core.shards.items import Items
from stepless.core.shards.progress import End
from stepless.core.values.masking import mask_for
from stepless.limits import MAX_IN_FLIGHT, MAX_STARTED_NOW
from stepless.model.effects.call import token_of
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.ports import RunHead
from stepless.runtime.session.arrivals import Arrivals
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.execution.attempts import Attempt, Attempts
from stepless.runtime.session.execution.execute import Executor
from stepless.runtime.session.permits.exclusivity import Exclusivity, Waiter
from stepless.runtime.session.permits.lingering import Lingering
from stepless.runtime.shards.plans import Plan
from stepless.runtime.world import World
from stepless.thread_calls import count_thread_calls


class LaneWork:
    """The items in progress of one shard. `hold` confirms the lease before an attempt takes effect."""

    def __init__(
        self, world: World, head: RunHead, graph: Graph, plan: Plan, budget: Budget, process: Lingering, gate: Exclusivity,
        waiter: Waiter,
    ) -> None:  # fmt: skip
        self._world, self._plan, self._budget, self._gate, self._waiter = world, plan, budget, gate, waiter
        self._loop = asyncio.get_running_loop()
        self.arrivals = Arrivals(self._loop)
        self._lingering = process.of(head.run_id)
        self._attempts = Attempts(self._loop, self.arrivals.add, process, head.run_id)
        self._env = {name: value for name in graph.env if (value := world.secrets.get(name))}
        mask = mask_for(frozenset(self._env.values()))
        self._executor = Executor(head._replace(run_id=plan.run), world, self._add, {"depth": 0}, mask)
        self.items = Items(graph, plan.run, plan.instance, plan.outer)
        self._facts: list[Fact] = []
        self.tokens: Mapping[int, tuple[str, int]] = {}  # by item, the run and the `ended` of those that keep a former token

    @property
    def is_busy(self) -> bool:
        """Whether an item in progress can go on: an attempt of it runs, has ended, or begins again soon."""
        return self.arrivals.some or bool(self._attempts.live) or bool(self.items.state.backing_off and not self._budget.over)

    def begin(self, index: int, item: JSON) -> None:
        self.items.begin(index, item, self._world.clock.now_ms())

    def advance(self, facts: Sequence[Fact]) -> list[End]:
        """Decides what follows from facts and from items that have begun. Returns the items that have ended, by index."""
        state = self.items.state
        decision = decide(
            state, facts, self._world.clock.now_ms(), env=self._env, capacity=MAX_IN_FLIGHT, lingering=self._lingering or (),
            spare_ms=self._budget.spare_ms if self._budget.hard else None,
        )
        for instance in decision.aborts:
            self._attempts.drop(instance)
        now = len(decision.dispatches) <= MAX_STARTED_NOW
        for dispatch in decision.dispatches:
            if dispatch.id in decision.aborts:
                continue
            dispatch.token = self._token(dispatch.id)
            if (kind := dispatch.instance.node.kind.name) not in self._executor.code:
                self._executor.load(kind)
            self._attempts.begin(dispatch, self._attempt, now=now)
        return self.items.take_ended()

    def _token(self, instance: str) -> str:
        run, used = self._plan.run, self._plan.used
        if self.tokens:
            run, used = self.tokens.get(int(instance.rpartition("[")[2][:-1]), (run, used))
        return token_of(run, instance, used)

    def _add(self, fact: AttemptFact | Noticed | Stopped) -> None:
        """What nodes log and stream is not kept: an item has no log of its own."""

    async def _attempt(self, attempt: Attempt) -> None:
        attempt.calls = count_thread_calls(self._loop)
        gate = self._gate
        if gate.closed:
            await gate.enter(self._waiter)
        else:
            gate.attempts += 1
        try:
            self._attempts.start_clock(attempt)
            fact = await self._executor.attempt(attempt.dispatch, self._world.clock.now_ms())
        except Exception as error:
            if self._attempts.end(attempt):
                self.arrivals.fail(error, attempt.dispatch.id)
        else:
            if self._attempts.end(attempt):
                self.arrivals.add(fact if not isinstance(fact, Suspended) else _refused(fact))
        finally:
            gate.leave()

    async def collect(self, until: float) -> list[Fact]:
        """Waits for facts: ends of attempts and due back-offs. `until` is the latest instant, in the loop's seconds."""
        due_ms = next_due_ms(self.items.state)
        if not self.arrivals.some:
            if due_ms is not None:
                until = min(until, self._loop.time() + max(0, due_ms - self._world.clock.now_ms()) / 1000)
            await self.arrivals.sleep(until)
        facts = self.arrivals.take()
        due = due_ms is not None and due_ms <= self._world.clock.now_ms()
        return [*facts, Tick()] if due else facts

    def close(self) -> None:
        """Cancels the attempts in progress."""
        self.arrivals.close()
        self._attempts.close()


def _refused(fact: Suspended) -> Failed:
    message = "an item does not wait: its node would have paused"
    return Failed(fact.instance, fact.attempt, Failure("config", "not_in_distributed", message, "processing"))
