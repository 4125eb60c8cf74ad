"""Instances by their ids (docs/understand/semantics.md#instances)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.facts import Begin, Tick
from stepless.errors import EngineBug

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]


@pytest.fixture
def looping(play: Make, node: Node) -> Any:
    """In the second of three turns, inside the first of two branches."""
    inner = {"type": "parallel", "with": {"branches": 2, "window": 1, "body": {"nodes": {"x": node()}}}}
    endless = {"type": "loop", "with": {"while": "true", "body": {"nodes": {"y": node()}}}}
    later = {"type": "loop", "after": "l", "with": {"times": 1, "body": {"nodes": {"z": node()}}}}
    run = play({"l": {"type": "loop", "with": {"times": 3, "body": {"nodes": {"p": inner}}}}, "w": endless, "k": later})
    run.begin()
    run.complete("x@p[0]@l[0]")
    run.complete("x@p[1]@l[0]")
    return run


OVER = ["x@p[0]@l[0]", "p@l[0]", "x@p[0]@l[3]", "p@l[x]", "nobody", "x@nobody[0]@l[1]", "x@p[2]@l[1]"]
YET_TO_COME = ["x@p[0]@l[1]", "x@p[1]@l[1]", "p@l[2]", "x@p[0]@l[2]", "l", "y@w[0]", "y@w[900]", "k", "z@k[0]"]


@pytest.mark.parametrize("instance", OVER)
def test_what_settled_or_can_never_begin_is_over(looping: Any, instance: str) -> None:
    assert looping.state.is_over(instance)


@pytest.mark.parametrize("instance", YET_TO_COME)
def test_what_may_still_come_is_not(looping: Any, instance: str) -> None:
    assert not looping.state.is_over(instance)


@pytest.mark.parametrize("instance", ["nobody", "x@l[1]", "p@l[7]", "p@l[-1]", "@", "x@p[0"])
def test_an_id_that_the_graph_does_not_know_names_nothing(looping: Any, instance: str) -> None:
    assert looping.state.find(instance) is None
    with pytest.raises(EngineBug):
        looping.state.get(instance)


def test_looking_for_an_instance_starts_nothing(looping: Any) -> None:
    looping.state.find("x@p[1]@l[1]")
    assert looping.decide(Tick()).events == []


def test_a_second_begin_begins_nothing(looping: Any) -> None:
    assert looping.decide(Begin({})).events == []
