"""The lock of a file: one process holds it, and the next gets it as soon as the first has ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.file_lock import lock_file
from stepless.errors import Conflict, StoreUnusable

HOLDER = """
import sys
from stepless.adapters.file_lock import lock_file
held = lock_file(sys.argv[1], 1_700_000_000_000)
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_file_is_held_once_and_free_after_the_release(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with lock_file(path, 0) as held:
        with pytest.raises(Conflict) as refused:
            lock_file(path, 1)
        assert refused.value.facts["pid"] == os.getpid()
        lock_file(tmp_path / "other.db", 1).release()
    held.release()


def test_the_note_of_an_earlier_holder_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    lock_file(path, 1_700_000_000_000).release()
    with lock_file(path, 7), pytest.raises(Conflict) as refused:
        lock_file(path, 8)
    assert refused.value.facts["since_ms"] == 7


def test_the_second_server_is_told_who_holds_the_file_and_since_when_until_that_one_is_killed(
    tmp_path: Path, spawn: Callable[..., Any]
) -> None:
    path = tmp_path / "store.db"
    holder = spawn(HOLDER, path)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(Conflict) as refused:
        lock_file(path, 5)
    assert refused.value.code == "file_held"
    said = f"process {holder.pid} since 2023-11-14T22:13:20+00:00"
    assert refused.value.facts == {"pid": holder.pid, "since_ms": 1_700_000_000_000, "holder": said}
    assert said in str(refused.value)
    holder.kill()
    holder.wait(30)
    lock_file(path, 6).release()


def test_a_holder_that_has_not_yet_left_its_note_is_another_process(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with lock_file(path, 0):
        (tmp_path / "store.db.lock").write_bytes(b"")
        with pytest.raises(Conflict, match="another process"):
            lock_file(path, 1)


def test_a_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="folder"):
        lock_file(tmp_path / "none" / "store.db", 0)
