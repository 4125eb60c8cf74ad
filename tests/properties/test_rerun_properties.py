"""A rerun from what failed takes over every outcome that stays, and runs only the rest (docs/understand/semantics.md#reruns)."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from graphs import inner_nodes, scenarios
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.deciding.recovery import is_cut_off
from stepless.core.decision import Decision
from stepless.core.events import NODE_FAILURES, Event, EventType
from stepless.core.facts import Answered, Begin, CancelRequested, Completed, Fact, Failed, Failure, Recovered
from stepless.core.fold import fold
from stepless.core.history.trace import Trace, body_of
from stepless.core.outcomes import Former
from stepless.core.rerun_targets import target_of
from stepless.core.state import RunStatus, State
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.limits import MAX_LONE_DEATHS
from stepless.model.graph import Graph
from stepless.model.kind import Outcome
from stepless.nodes import KINDS

relaxed = settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)


class Episode:
    """One run of a graph. `broken` are the instances whose attempts fail with the code that it maps them to. `cancel_after` ends
    of attempts the run is cancelled. With `crashes`, the state is loaded again between any two decisions, from the log or from a
    snapshot, and attempts that were dispatched may be lost."""

    def __init__(
        self, graph: Graph, outcomes: Any, run_id: str, seed: int, *, broken: dict[str, str] | None = None,
        cancel_after: int | None = None, crashes: bool = False, steps: int | None = None,
    ) -> None:  # fmt: skip
        self.graph, self.outcomes, self.run_id, self.random = graph, outcomes, run_id, Random(seed)
        self.broken, self.cancel_after, self.steps = broken or {}, cancel_after, steps
        self.crashes = MAX_LONE_DEATHS if crashes else 0  # that are left
        self.state = State(graph, run_id)
        self.events: list[Event] = []
        self.tokens: dict[str, str] = {}  # of every instance whose attempt began
        self.completed: Counter[str] = Counter()  # instances whose attempt completed, or whose question was answered
        self.failed: dict[str, str] = {}  # the code of every failed attempt

    def run(self, begin: Begin) -> Episode:
        self._decide(begin)
        ended = 0
        while not self.state.ended:
            if self.crashes and self.random.random() < 0.3:
                self.crashes -= 1
                self._reload()
                continue
            if self.state.agenda:
                self._decide()
                continue
            if ended == self.cancel_after:
                self._decide(CancelRequested())
                continue
            under_way = sorted([*self.state.running, *self.state.waiting])
            assert under_way, f"stalled at {self.state.sequence}"
            self._decide(self._end_of(self.random.choice(under_way)))
            ended += 1
        return self

    def _reload(self) -> None:
        state = decode_state(encode_state(self.state), self.graph, self.run_id) if self.random.random() < 0.5 else None
        if state is None:
            state = State(self.graph, self.run_id)
            for event in self.events:
                fold(state, event)
                state.notes.clear()
        self.state = state
        self._decide(*([Recovered()] if is_cut_off(state) else []))

    def _end_of(self, instance: str) -> Fact:
        ((_, options),) = self.outcomes[instance.partition("@")[0]].items()
        if instance in self.state.waiting:
            self.completed[instance] += 1
            return Answered(instance, options["handle"])
        attempt = self.state.running[instance].attempt
        if instance in self.broken:
            self.failed[instance] = self.broken[instance]
            return Failed(instance, attempt, Failure("config", self.broken[instance]))
        self.completed[instance] += 1
        return Completed(instance, attempt, Outcome(f"{instance} in {self.run_id}", options.get("handle", "source")))

    def _decide(self, *facts: Fact) -> None:
        decision: Decision = decide(self.state, facts, self.state.sequence, steps=self.steps)
        self.events += decision.events
        for dispatch in decision.dispatches:
            if dispatch.id not in decision.aborts:
                self.tokens[dispatch.id] = dispatch.token or f"{self.run_id}:{dispatch.id}"

    def former(self) -> Former:
        former = Former(self.graph, self.run_id)
        for event in self.events:
            former.add(event)
        return former

    def rerun(self, run_id: str, seed: int, **options: Any) -> Episode:
        reused, kept = self.former().outcomes()
        return Episode(self.graph, self.outcomes, run_id, seed, **options).run(Begin(None, {}, reused, (), kept))

    def went_on_after_failures(self) -> bool:
        """Whether a node started although a node before it failed or was skipped for that, or a loop after a turn that failed."""
        statuses = self.statuses()
        bad = {name for name, status in statuses.items() if status.startswith("failed") or status == "skipped:upstream_failure"}
        for event in self.events:
            if event.type is EventType.NODE_STARTED:
                name, at, suffix = event.instance.partition("@")
                body = body_of(self.graph, event.instance)
                branches = body.nodes[body.positions[name]].branches
                if any(f"{body.nodes[branch].id}{at}{suffix}" in bad for branch in branches):
                    return True
            inside = (target.owners for one in bad if (target := target_of(one)))
            if event.type is EventType.LOOP_NEXT and any(event.instance in owners for owners in inside):
                return True
        return False

    def statuses(self) -> dict[str, str]:
        records = Trace(self.graph, self.run_id).extend(self.events).nodes
        return {name: f"{record.status}:{record.reason or record.code}" for name, record in records.items()}


@st.composite
def broken_scenarios(draw: st.DrawFn) -> tuple[Any, Graph, Any, dict[str, str]]:
    """A graph in which nothing fails for good, its outcomes, and the instances that are broken at first, each with its code."""
    document, outcomes = draw(scenarios())
    for name, node in inner_nodes(document["nodes"]):
        if node["type"] == "fail":
            node |= {"type": "function", "with": {"call": "test.echo"}}
        if node["type"] == "function":
            outcomes[name] = {"ok": {}}
        if "on_error" in node.get("with", {}):
            node["with"]["on_error"] = draw(st.sampled_from(["stop", "stop", "continue"]))
    document["on_failure"] = draw(st.sampled_from(["halt", "cancel", "isolate"]))
    graph = compile_document(document, KINDS)
    sound = Episode(graph, outcomes, "sound", 0).run(Begin())
    ran = sorted(one for one in sound.tokens)
    broken = draw(st.lists(st.sampled_from(ran), max_size=4, unique=True)) if ran else []
    codes = {name: draw(st.sampled_from(["timeout", "refused"])) for name in broken}
    return document, graph, outcomes, codes


@relaxed
@given(broken_scenarios(), st.integers(0, 9), st.one_of(st.none(), st.integers(0, 6)), st.booleans())
def test_a_rerun_from_what_failed_does_only_what_was_not_done(
    scenario: Any, seed: int, cancel_after: int | None, crashes: bool
) -> None:
    _, graph, outcomes, broken = scenario
    first = Episode(graph, outcomes, "first", seed, broken=broken, cancel_after=cancel_after).run(Begin())
    if first.state.status is RunStatus.COMPLETED:
        return
    second = first.rerun("second", seed + 1, crashes=crashes, steps=0 if crashes else None)
    assert second.state.status is RunStatus.COMPLETED
    assert not first.completed.keys() & second.completed.keys()
    assert not first.completed.keys() & second.tokens.keys()
    failures = [event for event in second.events if event.type in NODE_FAILURES]
    assert all(event.data.get("reused") or event.data["error"]["class"] == "upstream" for event in failures)
    if not failures and not first.went_on_after_failures():
        ends, sound = second.statuses(), Episode(graph, outcomes, "sound", 0).run(Begin()).statuses()
        assert ends == {name: sound[name] for name in ends}
        whole = {event.instance for event in second.events if event.data.get("reused")}  # their turns are not repeated
        assert all(whole & target_of(name).owners for name in sound.keys() - ends.keys())


@relaxed
@given(broken_scenarios(), st.integers(0, 9), st.integers(0, 6))
def test_tokens_are_kept_where_the_outcome_is_unknown_and_new_elsewhere(scenario: Any, seed: int, cancel_after: int) -> None:
    _, graph, outcomes, broken = scenario
    first = Episode(graph, outcomes, "first", seed, broken=broken, cancel_after=cancel_after).run(Begin())
    if first.state.status is RunStatus.COMPLETED:
        return
    second = first.rerun("second", seed)
    in_flight = first.tokens.keys() - first.completed.keys() - first.failed.keys()
    unknown = in_flight | {name for name, code in first.failed.items() if code == "timeout"}
    for name, token in second.tokens.items():
        assert token == (f"first:{name}" if name in unknown else f"second:{name}")


@relaxed
@given(broken_scenarios(), st.integers(0, 9), st.integers(0, 6), st.integers(0, 3))
def test_a_chain_of_reruns_does_nothing_twice(scenario: Any, seed: int, cancel_after: int, again_after: int) -> None:
    """The second run is cut off early, also while it takes over, and keeps what it has not used for the third."""
    _, graph, outcomes, broken = scenario
    first = Episode(graph, outcomes, "first", seed, broken=broken, cancel_after=cancel_after).run(Begin())
    if first.state.status is RunStatus.COMPLETED:
        return
    second = first.rerun("second", seed, broken=broken, cancel_after=again_after, steps=0)
    if second.state.status is RunStatus.COMPLETED:
        return
    third = second.rerun("third", seed, steps=0, crashes=True)
    assert third.state.status is RunStatus.COMPLETED
    done = first.completed + second.completed + third.completed
    assert not done or max(done.values()) == 1
    for name, token in third.tokens.items():
        if name in first.tokens and name not in first.failed and name not in second.failed:
            assert token == f"first:{name}"


def test_the_values_that_are_taken_over_are_those_of_the_former_run() -> None:
    note = {"type": "transform", "after": "pay", "with": {"value": "<pay>"}}
    body = {"nodes": {"pay": {"type": "function", "with": {"call": "test.echo"}}, "note": note}}
    document = {"id": "values", "nodes": {"each": {"type": "parallel", "with": {"branches": 4, "body": body}}}}
    graph = compile_document(document, KINDS)
    outcomes = {"pay": {"ok": {}}}
    first = Episode(graph, outcomes, "first", 1, broken={"pay@each[2]": "refused"}).run(Begin())
    second = first.rerun("second", 1)
    assert [second.state.root.at(0).value[index] for index in range(4)] == [
        "pay@each[0] in first", "pay@each[1] in first", "pay@each[2] in second", "pay@each[3] in first",
    ]  # fmt: skip
