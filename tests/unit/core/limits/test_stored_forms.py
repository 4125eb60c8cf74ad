"""What limits store is a promise: these texts keep their meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepless.core.fold import fold
from stepless.core.limits.slots import (
    GRANTED,
    Holder,
    decode_holders,
    encode_holders,
    position_in_line,
    run_in_line,
    want_in_line,
    weight_in_line,
)
from stepless.core.stored.codec import decode_batch, encode_batch
from stepless.core.stored.snapshot import decode_state, encode_state

HOLDERS = b'{"run_a":[3,2,1700000000000],"run_b":[0,1,1700000030000]}'
PLACE = "001700000000000#2#6#f00d#run_a"
BATCH = (
    b'[1700000000000,["q",0,"a",1,{"limit":{"of":"nodes.a.concurrency","key":"acme"},"cell":"ca"}],'
    b'["q",1,"b",2,{"limit":{"of":"nodes.b.rate"},"cell":"cb","paced":1700000009000,"resume_at":1700000007000}]]'
)


def test_holders() -> None:
    holders = {"run_a": Holder(3, 2, 1_700_000_000_000), "run_b": Holder(GRANTED, 1, 1_700_000_030_000)}
    assert decode_holders(HOLDERS) == holders
    assert encode_holders(holders) == HOLDERS
    assert decode_holders(b'{"run_a":[3,2,17,"later"]}') == {"run_a": Holder(3, 2, 17)}


def test_places() -> None:
    assert position_in_line(1_700_000_000_000, 2, 6, "run_a", "f00d") == PLACE
    assert (weight_in_line(PLACE), want_in_line(PLACE), run_in_line(PLACE)) == (2, 6, "run_a")


def test_queued_instances(play: Callable[..., Any], node: Callable[..., dict[str, Any]]) -> None:
    """In the log of today, whose format is unchanged; and in snapshots."""
    run = play({"a": node(), "b": node()})
    run.begin(capacity=0)
    events = decode_batch(BATCH, run.state.sequence + 1)
    assert encode_batch(events) == BATCH
    for event in events:
        fold(run.state, event)
    for state in (run.state, decode_state(encode_state(run.state), run.graph, "run")):
        assert {cell: list(line) for cell, line in state.limited.items()} == {"ca": ["a"]}
        assert [(name, one.wait.resume_at_ms, one.wait.details["paced"]) for name, one in state.paced.items()] == [
            ("b", 1_700_000_007_000, 1_700_000_009_000)
        ]
