"""The walks are counted alike each time, and a run opens no part of its session that its workflow does not use."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

import pytest

from benchmarks import walks
from benchmarks.walks import Counted

_PARTS: Final = (
    "execution/moderation", "execution/tool_nodes", "exports", "pauses/children", "pauses/notice_sender", "permits/limiting",
)  # fmt: skip
_RUN: Final = """
import asyncio, sys
from stepless.nodes.function import function
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.local import local

@function("walk.one")
async def one() -> int:
    return 1

work = {"type": "function", "with": {"call": "walk.one"}}

async def main():
    for kept in (None, sys.argv[1]):
        built = local(kept)
        built.service.publish({"id": "w", "nodes": {"a": work, "b": {**work, "after": "a"}}})
        run = built.service.start("w", {}).run_id
        while (message := built.world.queue.receive(sys.maxsize)) is not None:
            await built.runner.run(message, Budget(60_000))
        assert built.service.run(run).status == "completed"
        built.close()

asyncio.run(main())
session = "stepless.runtime.session."
some = {name for name in sys.modules if name.startswith(session) or "shards" in name}
print(*sorted(name.removeprefix(session).replace(".", "/") for name in some))
"""


@pytest.fixture(scope="module")
def walked() -> Mapping[str, Counted]:
    return asyncio.run(walks.walked())


def test_every_walk_is_counted_alike_again(walked: Mapping[str, Counted]) -> None:
    assert asyncio.run(walks.walked()) == walked
    assert all(len(counted.functions) > 20 and counted.crossings > 50 for counted in walked.values())


@pytest.mark.parametrize("walk", ["webhook to pause", "link to end"])
def test_a_run_calls_nothing_of_the_parts_that_its_workflow_does_not_use(walked: Mapping[str, Counted], walk: str) -> None:
    called = walked[walk].functions
    assert called["runtime/session/loop.py"] > 10
    assert [part for part in _PARTS if f"runtime/session/{part}.py" in called] == []


def test_a_run_of_two_nodes_loads_none_of_them(tmp_path: object) -> None:
    """But the calls of child runs, which belong to the table of kinds."""
    command = [sys.executable, "-c", _RUN, f"{tmp_path}/runs.db"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert "loop" in loaded and set(_PARTS) & set(loaded) == {"pauses/children"}
    assert not [name for name in loaded if "shards" in name or name == "pauses/distributing"]


def test_what_is_no_call_in_the_source_is_not_counted() -> None:
    counter = walks.CallCounter()
    try:
        with counter.on():
            asyncio.run(asyncio.sleep(0))
        assert counter.counted() == ({}, 0)
    finally:
        counter.close()
