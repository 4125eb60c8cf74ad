"""How things end before their time: losers of a join, and a run whose first failure cancels the rest
(docs/understand/semantics.md#joins, docs/understand/semantics.md#how-a-run-ends)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.events import EventType
from stepless.core.facts import Completed, Failed, Failure, Tick
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.model.kind import Outcome

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]

LOST = "join_unsatisfied"


def broken(instance: str, attempt: int = 1) -> Failed:
    return Failed(instance, attempt, Failure("config", "boom"))


def ends(run: Any) -> dict[str, str]:
    """Of every instance: how it ended, or its status."""
    return {name: f"{r.status}:{r.reason or r.code}" if r.reason or r.code else r.status for name, r in run.trace.nodes.items()}


def fan(node: Node, **more: Any) -> dict[str, Any]:
    """a and b → c into a join that cancels its losers."""
    join = {"losers": "cancel", **more.pop("join", {})}
    return {"a": node(), "b": node(), "c": node("b"), "j": node(["a", "c"], join=join, **more)}


# -- losers: cancel ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "end"), [("skip", "skipped"), ("propagate", "failed")])
def test_a_join_that_cannot_run_any_more_lets_its_losers_go(play: Make, node: Node, policy: str, end: str) -> None:
    run = play(fan(node, on_parent_failure=policy))
    run.begin()
    decision = run.decide(broken("a"))
    assert ends(run) == {
        "a": "failed:boom", "b": f"cancelled:{LOST}", "c": f"skipped:{LOST}", "j": f"{end}:upstream_failure",
    }  # fmt: skip
    assert decision.aborts == ["b"]
    assert run.state.status == "failed"
    assert run.events[-1].data["error"]["node"] == "a"


def test_the_end_of_a_loser_is_benign(play: Make, node: Node) -> None:
    """The join's own failure takes an error edge: nothing else may colour the run."""
    nodes = {**fan(node, on_parent_failure="propagate"), "h": node("j.error")}
    run = play(nodes)
    run.begin()
    run.decide(broken("a"))
    run.complete("h")
    assert run.state.status == "completed"


WAITING: list[dict[str, Any]] = [
    {"on_parent_failure": "substitute_default"},
    {"join": {"errors": "collect-all"}},
    {"join": {"errors": "best-effort", "min_success": 2}},
]


@pytest.mark.parametrize("more", WAITING, ids=["defaults", "collect-all", "best-effort"])
def test_a_join_that_still_waits_for_all_keeps_its_branches(play: Make, node: Node, more: dict[str, Any]) -> None:
    run = play(fan(node, **more))
    run.begin()
    run.decide(broken("a"))
    assert ends(run) == {"a": "failed:boom", "b": "running"}
    run.complete("b")
    run.complete("c")
    assert ends(run)["c"] == "completed"


def test_what_also_leads_elsewhere_is_no_loser(play: Make, node: Node) -> None:
    run = play({**fan(node), "d": node("b")})
    run.begin()
    run.decide(broken("a"))
    assert ends(run)["b"] == "running"
    run.complete("b")
    assert ends(run)["c"] == f"skipped:{LOST}"
    run.complete("d")
    assert run.state.ended


def test_a_join_whose_time_is_up_lets_its_losers_go(play: Make, node: Node) -> None:
    run = play(fan(node, join={"timeout_ms": 50}))
    run.begin()
    run.decide(Tick(), at=2_000)
    assert ends(run) == {"a": f"cancelled:{LOST}", "b": f"cancelled:{LOST}", "c": f"skipped:{LOST}", "j": "failed:join_timeout"}


def test_losers_of_every_state_end(play: Make, node: Node) -> None:
    body = {"nodes": {"x": node(), "y": node("x"), "u": {"type": "approval", "with": {"message": "Go on?"}}, "z": node()}}
    nodes = {"a": node(), "w": {"type": "wait", "with": {"for": "1h"}}, "r": node(retry={"attempts": 2}), "q": node(),
             "l": {"type": "loop", "with": {"times": 2, "body": body}},
             "j": node(["a", "w", "r", "q", "l"], join={"losers": "cancel"})}  # fmt: skip
    run = play(nodes)
    run.begin(capacity=4)
    run.decide(Failed("r", 1, Failure("timeout")), capacity=3)
    assert ends(run)["z@l[0]"] == "queued"
    run.decide(broken("a"), capacity=2)
    assert ends(run) == {
        "a": "failed:boom", "w": f"cancelled:{LOST}", "r": f"cancelled:{LOST}", "q": f"cancelled:{LOST}",
        "l": f"cancelled:{LOST}", "x@l[0]": f"cancelled:{LOST}", "y@l[0]": f"skipped:{LOST}",
        "u@l[0]": f"cancelled:{LOST}", "z@l[0]": f"skipped:{LOST}", "j": "skipped:upstream_failure",
    }  # fmt: skip
    assert run.state.ended


def test_a_failed_join_inside_of_losers_ends_them_with_the_reason_of_the_outer_one(play: Make, node: Node) -> None:
    """What leads to the inner join only leads to the outer one as well; whichever settles first says why it ended."""
    nodes = {"a": node(), "b": node(), "c": node(), "i": node(["a", "b"], join={"losers": "cancel"}),
             "j": node(["c", "i"], join={"mode": "any", "losers": "cancel"})}  # fmt: skip
    run = play(nodes)
    run.begin()
    run.decide(broken("a"))
    assert ends(run)["b"] == f"cancelled:{LOST}"
    assert ends(run)["i"] == "skipped:upstream_failure"
    run.complete("c")
    run.complete("j")
    assert run.state.status == "completed"


def test_a_join_that_runs_lets_go_what_is_behind_branches_that_settled(play: Make, node: Node) -> None:
    """s was skipped at once and its other parent p is still at work, for nothing."""
    join = {"mode": "any", "losers": "cancel"}
    nodes = {"a": node(), "f": node(), "p": node(), "s": node(["f", "p"]), "j": node(["a", "s"], join=join)}
    run = play(nodes)
    run.begin()
    run.decide(broken("f"))
    run.complete("a")
    assert ends(run)["p"] == "cancelled:join_satisfied"


@pytest.mark.parametrize("reload", ["log", "snapshot"])
def test_losers_are_let_go_by_the_next_process_too(play: Make, node: Node, reload: str) -> None:
    """The log was cut right after the join had settled."""
    run = play(fan(node))
    run.begin()
    run.decide(broken("a"))
    cut = next(i for i, event in enumerate(run.events) if event.instance == "j") + 1
    del run.events[cut:]
    run.state = run.folded()
    if reload == "snapshot":
        run.state = decode_state(encode_state(run.state), run.graph, "run")
    run.decide(Tick())
    assert ends(run)["b"] == f"cancelled:{LOST}"


# -- on_failure: cancel -----------------------------------------------------------------------------------------------


def test_the_first_bad_leaf_cancels_all_else(play: Make, node: Node) -> None:
    nodes = {"a": node(), "b": node(), "after_b": node("b"), "w": {"type": "approval", "with": {"message": "Go on?"}},
             "r": node(retry={"attempts": 2}),
             "l": {"type": "loop", "with": {"times": 2, "body": {"nodes": {"x": node()}}}}}  # fmt: skip
    run = play(nodes, on_failure="cancel")
    run.begin()
    run.decide(Failed("r", 1, Failure("timeout")))
    decision = run.decide(broken("a"))
    others = ("b", "after_b", "w", "r", "l", "x@l[0]")
    assert ends(run) == {"a": "failed:boom", **dict.fromkeys(others, "cancelled:run_failed")}
    assert sorted(decision.aborts) == ["b", "x@l[0]"]
    assert (run.state.status, run.events[-1].data["error"]["code"]) == ("failed", "boom")
    assert run.decide(Completed("b", 1, Outcome(1))).events == [], "its result comes too late"


def test_a_failure_that_is_taken_cancels_nothing(play: Make, node: Node) -> None:
    run = play({"a": node(), "h": node("a.error"), "b": node()}, on_failure="cancel")
    run.begin()
    run.decide(broken("a"))
    run.complete("b")
    run.complete("h")
    assert run.state.status == "completed"


def test_a_turn_that_fails_cancels_nothing_outside(play: Make, node: Node) -> None:
    loop = {"type": "loop", "with": {"times": 1, "on_error": "continue", "body": {"nodes": {"x": node()}}}}
    run = play({"l": loop, "b": node()}, on_failure="cancel")
    run.begin()
    run.decide(broken("x@l[0]"))
    run.complete("b")
    assert run.state.status == "completed"


def test_a_run_that_was_halted_before_drains(play: Make, node: Node) -> None:
    """`end {halt: true}` came first: a failure while it drains cancels nothing."""
    halt = {"type": "end", "after": "s", "with": {"halt": True}}
    run = play({"a": node(), "b": node(), "s": node(), "e": halt}, on_failure="cancel")
    run.begin()
    run.complete("s")
    run.decide(broken("a"))
    assert ends(run)["b"] == "running"


@pytest.mark.parametrize("reload", ["log", "snapshot"])
def test_what_the_failure_cancels_is_cancelled_by_the_next_process_too(play: Make, node: Node, reload: str) -> None:
    run = play({"a": node(), "b": node(), "c": node()}, on_failure="cancel")
    run.begin()
    run.decide(broken("a"))
    cut = next(i for i, event in enumerate(run.events) if event.type is EventType.NODE_CANCELLED) + 1
    del run.events[cut:]
    run.state = run.folded()
    if reload == "snapshot":
        run.state = decode_state(encode_state(run.state), run.graph, "run")
    run.decide(Tick())
    assert ends(run) == {"a": "failed:boom", "b": "cancelled:run_failed", "c": "cancelled:run_failed"}
    assert run.state.status == "failed"


def test_nothing_that_is_cancelled_at_once_is_dispatched(play: Make, node: Node) -> None:
    """What became ready in the same moment starts, as under `halt`, and is cancelled: no attempt of it may begin."""
    broken_at_once = {"type": "transform", "with": {"value": "{{ 1 / 0 }}"}}
    run = play({"t": broken_at_once, "b": node()}, on_failure="cancel")
    decision = run.begin()
    assert ends(run)["b"] == "cancelled:run_failed"
    assert {dispatch.id for dispatch in decision.dispatches} <= set(decision.aborts)
