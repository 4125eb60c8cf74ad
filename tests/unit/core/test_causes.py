"""Root causes: what a failure passes on that results from another one, and which failure a run reports
(docs/understand/semantics.md#how-a-run-ends, docs/understand/semantics.md#inputs)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.events import EventType
from stepless.core.facts import CancelRequested, ChildChanged, Fact, Failed, Failure, Suspended, Tick
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.limits import MAX_CAUSES, MAX_CAUSES_CHARACTERS, MAX_ERROR_CHARACTERS
from stepless.model.kind import Pause

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]

PROPAGATE = {"on_parent_failure": "propagate"}
COLLECT = {**PROPAGATE, "join": {"errors": "collect-all"}}


def broken(instance: str, code: str = "", message: str = "") -> Fact:
    return Failed(instance, 1, Failure("config", code or f"{instance}_failed", message))


def causes(run: Any, instance: str) -> list[str]:
    return [cause["code"] for cause in run.state.get(instance).error.get("causes", [])]


def named(run: Any) -> Any:
    """What the run's last event says that it failed of."""
    return run.events[-1].data["error"]


def test_causes_travel_through_nodes_that_were_skipped(play: Make, node: Node) -> None:
    run = play({"a": node(), "c": node(), "after_c": node("c"), "j": node(["a", "after_c"], **COLLECT)})
    run.begin()
    run.decide(broken("a", "one"), broken("c", "two"))
    assert causes(run, "j") == ["one", "two"]


def test_causes_stand_in_the_order_of_edges_and_each_once(play: Make, node: Node) -> None:
    """b's failure comes by two ways, propagated by one and past a skipped node by the other, and before a's."""
    nodes = {"a": node(), "b": node(), "p": node("b", **PROPAGATE), "s": node("b"), "far": node("s"),
             "j": node(["far", "p", "a"], **COLLECT)}  # fmt: skip
    run = play(nodes)
    run.begin()
    run.decide(broken("a", "one"))
    run.decide(broken("b", "two"))
    assert causes(run, "j") == ["two", "one"]
    assert causes(run, "p") == ["two"]


def test_a_failure_that_an_error_edge_took_is_no_cause(play: Make, node: Node) -> None:
    run = play({"a": node(), "h": node("a.error"), "b": node(), "x": node("b"), "j": node(["a", "x"], **COLLECT)})
    run.begin()
    run.decide(broken("a"), broken("b"))
    assert causes(run, "j") == ["b_failed"]


def test_what_failed_after_a_node_was_skipped_is_no_cause_of_it(play: Make, node: Node) -> None:
    """Also when the run is loaded from a snapshot in between: causes are those of the moment of the skip."""
    nodes = {"a": node(), "b": node(), "s": node(["a", "b"]), "w": node(), "j": node(["s", "w"], **COLLECT)}
    run = play(nodes)
    run.begin()
    run.decide(broken("a"))
    run.decide(broken("b"))
    loaded = decode_state(encode_state(run.state), run.graph, "run")
    run.complete("w")
    assert causes(run, "j") == ["a_failed"]
    run.state = loaded
    run.complete("w")
    assert causes(run, "j") == ["a_failed"]


def test_a_container_hands_on_the_cause_within(play: Make, node: Node) -> None:
    inner = {"type": "loop", "with": {"times": 1, "body": {"nodes": {"x": node()}}}}
    outer = {"type": "loop", "with": {"times": 1, "body": {"nodes": {"m": inner}}}}
    run = play({"l": outer, "s": node("l"), "j": node("s", **PROPAGATE)})
    run.begin()
    run.decide(broken("x@m[0]@l[0]", "boom"))
    assert run.state.get("l").error["code"] == "iteration_failed"
    assert causes(run, "l") == causes(run, "j") == ["boom"]
    assert (named(run)["code"], named(run)["node"]) == ("boom", "x@m[0]@l[0]")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_parallel_names_its_first_turn_that_failed_whoever_failed_first(play: Make, node: Node, order: tuple[int, int]) -> None:
    run = play({"p": {"type": "parallel", "with": {"branches": 2, "body": {"nodes": {"x": node()}}}}})
    run.begin()
    for turn in order:
        run.decide(broken(f"x@p[{turn}]", f"turn_{turn}"))
        run.state = decode_state(encode_state(run.state), run.graph, "run")
    assert named(run)["code"] == "turn_0"


def test_a_child_run_hands_on_the_cause_within_and_says_which_run_it_is_of(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "j": node(["a", "b"], **COLLECT)})
    run.begin()
    for instance in ("a", "b"):
        run.decide(Suspended(instance, 1, Pause("subrun", exits=(), details={"run": f"child_{instance}"})))
        error = {"class": "execution", "code": "boom", "message": "no", "node": "x"}
        run.decide(ChildChanged(instance, "failed", error=error))
    assert run.state.get("a").error["code"] == "child_failed"
    assert [(cause["run"], cause["node"]) for cause in run.state.get("j").error["causes"]] == [("child_a", "x"), ("child_b", "x")]
    assert (named(run)["code"], named(run)["run"]) == ("boom", "child_a")


def test_a_child_run_that_was_cancelled_has_no_cause_within(play: Make, node: Node) -> None:
    run = play({"a": node()})
    run.begin()
    run.decide(Suspended("a", 1, Pause("subrun", exits=(), details={"run": "child"})))
    run.decide(ChildChanged("a", "cancelled"))
    assert named(run)["code"] == "child_cancelled"


# -- which failure a run names ----------------------------------------------------------------------------------------


def test_a_run_names_the_first_failure_that_no_error_edge_took(play: Make, node: Node) -> None:
    run = play({"a": node(), "h": node("a.error"), "b": node(), "c": node()})
    run.begin()
    run.decide(broken("a"), broken("c"), broken("b"))
    run.complete("h")
    assert named(run)["code"] == "b_failed"


def test_an_error_edge_whose_condition_is_false_takes_nothing(play: Make, node: Node) -> None:
    edge = {"from": "a.error", "key": "code", "condition": {"equals": "other"}}
    run = play({"a": node(), "h": node([edge]), "b": node()})
    run.begin()
    run.decide(broken("a"), broken("b"))
    assert run.status("h") == "skipped"
    assert named(run)["code"] == "a_failed"


def test_a_turn_names_the_first_failure_that_no_error_edge_took(play: Make, node: Node) -> None:
    body = {"nodes": {"a": node(), "h": node("a.error"), "b": node("h")}}
    run = play({"l": {"type": "loop", "with": {"times": 1, "on_error": "continue", "body": body}}})
    run.begin()
    run.decide(broken("a@l[0]"))
    run.complete("h@l[0]")
    run.decide(broken("b@l[0]"))
    assert run.state.get("l").value[0]["error"]["node"] == "b@l[0]"


def test_what_never_started_comes_after_what_did(play: Make, node: Node) -> None:
    """A join whose time is up before it began has no index."""
    join = {"timeout_ms": 50, "errors": "collect-all"}
    run = play({"s": node(), "a": node("s"), "b": node("s"), "j": node(["a", "b"], join=join)})
    run.begin()
    run.complete("s")
    run.decide(broken("a"))
    run.decide(Tick(), at=2_000)
    assert run.state.get("j").error["code"] == "join_timeout"
    run.complete("b")
    assert named(run)["code"] == "a_failed"


def test_a_guard_that_ends_the_run_names_itself(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "c": node("b")}, max_steps=2)
    run.begin()
    run.decide(broken("a"))
    run.complete("b")
    assert named(run)["code"] == "max_steps_exceeded"


def test_a_cancelled_run_names_the_failure_of_its_bad_leaf(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "h": node("b.error"), "w": node()})
    run.begin()
    run.decide(broken("b"), broken("a"))
    run.decide(CancelRequested())
    assert run.events[-1].type is EventType.RUN_FAILED
    assert named(run)["code"] == "a_failed"


def test_a_snapshot_of_a_former_release_named_handled_failures(play: Make, node: Node) -> None:
    """What a scope failed of follows from its instances, whatever a snapshot says."""
    run = play({"a": node(), "h": node("a.error"), "b": node()})
    run.begin()
    run.decide(broken("a"))
    run.state.root.error, run.state.root.error_index = run.state.get("a").error, 1  # as it was written down
    run.state = decode_state(encode_state(run.state), run.graph, "run")
    run.complete("h")
    run.decide(broken("b"))
    assert named(run)["code"] == "b_failed"


# -- cost -------------------------------------------------------------------------------------------------------------


def test_the_list_of_causes_has_bounds(play: Make, node: Node) -> None:
    many = [f"n{i}" for i in range(MAX_CAUSES + 50)]
    run = play({**{name: node() for name in many}, "j": node(many, **COLLECT)})
    run.begin()
    run.decide(*(broken(name, message="x" * MAX_ERROR_CHARACTERS) for name in many))
    found = run.state.get("j").error["causes"]
    assert [cause["node"] for cause in found] == many[:MAX_CAUSES]
    assert sum(len(cause["message"]) for cause in found) <= MAX_CAUSES_CHARACTERS


def test_a_comb_of_skipped_nodes_is_walked_once(play: Make, node: Node) -> None:
    """A chain of skipped nodes, each with a node beside it that propagates: every one of these asks for the causes behind all of
    the chain above."""
    length = 3_000
    nodes = {"n0": node()}
    for i in range(1, length):
        nodes[f"n{i}"] = node(f"n{i - 1}")
        nodes[f"p{i}"] = node(f"n{i - 1}", **PROPAGATE)
    run = play(nodes)
    run.begin()
    looks = 0
    instances = run.state.root.instances

    class Instances(list):  # type: ignore[type-arg]
        def __getitem__(self, position: Any) -> Any:
            nonlocal looks
            looks += 1
            return super().__getitem__(position)

    run.state.root.instances = Instances(instances)
    run.decide(broken("n0", "boom"))
    assert causes(run, f"p{length - 1}") == ["boom"]
    assert looks < 20 * length


