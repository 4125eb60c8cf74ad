"""The engine over a file: it closes what it has opened, even if it could not be set up."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from stepless import run
from stepless.errors import ConfigError
from stepless.runtime.wiring.local import local


class Locked:
    """Secrets that nobody can read now."""

    def get(self, name: str) -> str | None:
        raise ConfigError("the secrets are locked", place=name)


def test_a_file_is_let_go_when_the_engine_cannot_be_put_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="locked"):
        local(tmp_path / "runs.db", secrets=Locked())
    assert not (tmp_path / "runs.db-wal").exists(), "the last connection folds the write-ahead log into the file"
    local(tmp_path / "runs.db").close()


def test_runs_are_kept_as_long_as_the_caller_says_and_their_clock_is_that_of_the_process(tmp_path: Path) -> None:
    kept, unsaid = local(tmp_path / "runs.db", retention_ms=60_000), local(None)
    assert (kept.world.retention_ms, unsaid.world.retention_ms) == (60_000, None)
    assert kept.world.ahead_ms("run_1") == 0
    kept.close()
    unsaid.close()


def test_closing_a_second_time_does_nothing(tmp_path: Path) -> None:
    engine = local(tmp_path / "runs.db")
    engine.close()
    engine.close()
    assert not (tmp_path / "runs.db-wal").exists()


class Circle:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


def test_a_large_run_leaves_the_collector_to_its_host() -> None:
    run({"id": "small", "nodes": {"n0": {"type": "manual"}}})  # the first run loads modules, and lets go of what stood for them
    gc.collect()
    circles = [Circle() for _ in range(5_000)]
    known, frozen = [weakref.ref(circle) for circle in circles], gc.get_freeze_count()
    nodes = {f"n{i}": {"type": "transform", "after": f"n{i - 1}", "with": {"value": i}} for i in range(1, 1_200)}
    assert run({"id": "large", "nodes": {"n0": {"type": "manual"}, **nodes}}).status == "completed"
    assert (gc.get_freeze_count(), gc.isenabled()) == (frozen, True)
    del circles
    gc.collect()
    assert not any(ref() for ref in known)
