"""Who serves a file: one process at a time, and the next as soon as that one is gone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.sqlite.hold import hold
from stepless.errors import Conflict, StoreUnusable

HOLDER = """
import sys
from stepless.adapters.sqlite.hold import hold
held = hold(sys.argv[1], 1_700_000_000_000)
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_file_is_held_once_and_free_after_the_release(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with hold(path, 0) as held:
        with pytest.raises(Conflict) as refused:
            hold(path, 1)
        assert refused.value.facts["pid"] == os.getpid()
        hold(tmp_path / "other.db", 1).release()
    held.release()


def test_the_note_of_an_earlier_holder_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    hold(path, 1_700_000_000_000).release()
    with hold(path, 7), pytest.raises(Conflict) as refused:
        hold(path, 8)
    assert refused.value.facts["since_ms"] == 7


def test_the_second_server_is_told_who_holds_the_file_and_since_when_until_that_one_is_killed(
    tmp_path: Path, spawn: Callable[..., Any]
) -> None:
    path = tmp_path / "store.db"
    holder = spawn(HOLDER, path)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(Conflict) as refused:
        hold(path, 5)
    assert refused.value.error_code == "file_held"
    assert refused.value.facts == {"pid": holder.pid, "since_ms": 1_700_000_000_000}
    assert f"process {holder.pid} since 2023-11-14T22:13:20+00:00" in str(refused.value)
    holder.kill()
    holder.wait(30)
    hold(path, 6).release()


def test_a_holder_that_has_not_yet_left_its_note_is_another_process(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with hold(path, 0):
        (tmp_path / "store.db.lock").write_bytes(b"")
        with pytest.raises(Conflict, match="another process"):
            hold(path, 1)


def test_a_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="folder"):
        hold(tmp_path / "none" / "store.db", 0)
