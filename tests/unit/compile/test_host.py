"""What compiling must not change in the process that it runs in."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from stepless.compile import check_document, compile_document, compile_stored
from stepless.nodes import KINDS

LARGE = 1_500
NODES = {f"n{i}": {"type": "transform", "after": f"n{i - 1}", "with": {"value": f"<n{i - 1}>"}} for i in range(1, LARGE)}
DOCUMENT: dict[str, Any] = {"id": "large", "nodes": {"n0": {"type": "manual"}, **NODES}}
WAYS: dict[str, Callable[[], object]] = {
    "judged": lambda: compile_document(DOCUMENT, KINDS),
    "checked": lambda: check_document(DOCUMENT, KINDS),
    "stored": lambda: compile_stored(json.dumps(DOCUMENT).encode(), "v", KINDS),
}


class Circle:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize("way", WAYS)
def test_compiling_neither_freezes_nor_stops_the_collector_of_its_host(way: str) -> None:
    gc.collect()
    rounds: list[str] = []

    def count(phase: str, info: dict[str, int]) -> None:
        rounds.append(phase)

    circles = [Circle() for _ in range(2_000)]
    known, frozen, thresholds = [weakref.ref(circle) for circle in circles], gc.get_freeze_count(), gc.get_threshold()
    gc.callbacks.append(count)
    try:
        made = WAYS[way]()
    finally:
        gc.callbacks.remove(count)
    assert rounds and gc.isenabled()
    assert (gc.get_freeze_count(), gc.get_threshold()) == (frozen, thresholds)
    del circles
    gc.collect()
    assert [ref for ref in known if ref() is not None] == []
    assert made is not None
