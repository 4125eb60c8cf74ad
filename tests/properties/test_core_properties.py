"""What must hold for every workflow, in every order of completion (spec 3.7, 4 and 10)."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from graphs import scenarios
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.events import NODE_ENDS, RUN_ENDS, Event, EventType
from stepless.core.facts import Answered, Begin, Completed, Fact, Failed, Failure, Recovered
from stepless.core.fold import fold
from stepless.core.history.trace import Trace
from stepless.core.state import State
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.model.graph import Graph
from stepless.model.kind import Outcome
from stepless.nodes import KINDS

relaxed = settings(max_examples=150, suppress_health_check=list(HealthCheck))
Outcomes = dict[str, Any]


class Driver:
    """Runs a state to its end, letting whatever is under way finish in an order that a seed draws."""

    def __init__(self, graph: Graph, outcomes: Outcomes, seed: int, state: State | None = None) -> None:
        self.graph, self.outcomes, self.random = graph, outcomes, Random(seed)
        self.state = state or State(graph, "run")
        self.events: list[Event] = []
        self.snapshots: list[tuple[int, bytes]] = []
        self.ran: Counter[str] = Counter()

    def run(self, *facts: Fact) -> Driver:
        self._decide(*facts)
        while not self.state.ended:
            under_way = [*self.state.running, *self.state.waiting]
            assert under_way, f"stalled at {self.state.sequence}"
            self._decide(self._end_of(self.random.choice(sorted(under_way))))
        return self

    def _end_of(self, instance: str) -> Fact:
        ((what, options),) = self.outcomes[instance.partition("@")[0]].items()
        if instance in self.state.waiting:
            return Answered(instance, options["handle"])
        self.ran[instance] += 1
        attempt = self.state.running[instance].attempt
        if what == "fail":
            return Failed(instance, attempt, Failure(options["cause"]))
        return Completed(instance, attempt, Outcome(instance.partition("@")[0], options.get("handle", "source")))

    def _decide(self, *facts: Fact) -> None:
        self.events += decide(self.state, facts, self.state.sequence).events
        self.snapshots.append((self.state.sequence, encode_state(self.state)))


def statuses(graph: Graph, events: list[Event]) -> dict[str, str]:
    records = Trace(graph, "run").extend(events).nodes
    return {name: f"{record.status}:{record.reason or record.code}" for name, record in records.items()}


def compiled(document: dict[str, Any]) -> Graph:
    return compile_document(document, KINDS)


@relaxed
@given(scenarios(), st.integers(0, 9), st.integers(0, 9))
def test_every_run_ends_and_its_statuses_do_not_depend_on_who_finishes_first(scenario: Any, one: int, other: int) -> None:
    document, outcomes = scenario
    graph = compiled(document)
    first, second = (Driver(graph, outcomes, seed).run(Begin()) for seed in (one, other))
    assert first.state.status is second.state.status
    assert statuses(graph, first.events) == statuses(graph, second.events)


@relaxed
@given(scenarios(), st.integers(0, 9))
def test_every_log_is_whole(scenario: Any, seed: int) -> None:
    document, outcomes = scenario
    events = Driver(compiled(document), outcomes, seed).run(Begin()).events
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert [event.type in RUN_ENDS for event in events] == [False] * (len(events) - 1) + [True]
    started = Counter(event.instance for event in events if event.type is EventType.NODE_STARTED)
    ended = Counter(event.instance for event in events if event.type in NODE_ENDS)
    assert set(started) <= set(ended)
    assert not ended or max(ended.values()) == 1


@relaxed
@given(scenarios(), st.integers(0, 9))
def test_folding_the_log_gives_the_state_at_every_decision(scenario: Any, seed: int) -> None:
    document, outcomes = scenario
    graph = compiled(document)
    driver = Driver(graph, outcomes, seed).run(Begin())
    state, snapshots = State(graph, "run"), dict(driver.snapshots)
    for event in driver.events:
        fold(state, event)
        state.notes.clear()
        if event.sequence in snapshots:
            assert encode_state(state) == snapshots[event.sequence]


@relaxed
@given(scenarios(), st.integers(0, 9), st.data())
def test_a_run_resumed_from_any_prefix_ends_the_same_and_repeats_nothing(scenario: Any, seed: int, data: st.DataObject) -> None:
    document, outcomes = scenario
    graph = compiled(document)
    whole = Driver(graph, outcomes, seed).run(Begin())
    cut = data.draw(st.integers(1, len(whole.events) - 1))
    state = State(graph, "run")
    for event in whole.events[:cut]:
        fold(state, event)
        state.notes.clear()
    done = {event.instance for event in whole.events[:cut] if event.type in NODE_ENDS}
    resumed = Driver(graph, outcomes, seed + 1, state).run(Recovered())
    assert resumed.state.status is whole.state.status
    assert statuses(graph, whole.events[:cut] + resumed.events) == statuses(graph, whole.events)
    assert not done & set(resumed.ran)


@relaxed
@given(scenarios(), st.integers(0, 9), st.data())
def test_a_snapshot_goes_on_like_the_state_it_was_taken_of(scenario: Any, seed: int, data: st.DataObject) -> None:
    document, outcomes = scenario
    graph = compiled(document)
    whole = Driver(graph, outcomes, seed).run(Begin())
    sequence, snapshot = data.draw(st.sampled_from(whole.snapshots[:-1] or whole.snapshots))
    state = decode_state(snapshot, graph, "run")
    assert encode_state(state) == snapshot
    if not state.ended:
        resumed = Driver(graph, outcomes, seed, state).run(Recovered())
        assert statuses(graph, whole.events[:sequence] + resumed.events) == statuses(graph, whole.events)
