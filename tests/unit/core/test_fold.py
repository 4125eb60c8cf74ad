"""A log is folded event by event, in order and without a gap; the clocks and counters of joins depend on that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.fold import fold
from stepless.core.state import State
from stepless.core.stored.snapshot import encode_state
from stepless.errors import EngineBug

Make = Callable[..., Any]  # the fixture `play` of conftest.py


@pytest.mark.parametrize("off", [-2, -1, 1, 2])
def test_an_event_that_is_not_the_next_one_is_refused_and_changes_nothing(play: Make, node: Callable[..., Any], off: int) -> None:
    run = play({"a": node(), "b": node(), "j": node(["a", "b"]), "z": node("j")})
    run.begin()
    for name in ("a", "b", "j", "z"):
        run.complete(name)
    for place in range(max(0, -off), len(run.events) - max(0, off)):
        state = State(run.graph, "run-7")
        for event in run.events[:place]:
            fold(state, event)
        before = encode_state(state)
        with pytest.raises(EngineBug, match=f"event {place + 1 + off} after event {place}") as refused:
            fold(state, run.events[place + off])
        assert (refused.value.place, encode_state(state)) == ("run-7", before)
