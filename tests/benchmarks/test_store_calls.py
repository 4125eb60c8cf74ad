"""What a call of the store takes is measured call by call."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import store_calls


def test_each_commit_of_a_chain_is_one_call(tmp_path: Path) -> None:
    times = store_calls.chain_of(3, tmp_path / "runs.db")
    assert len(times["append"]) == 4 and not times.get("take_lease")  # the start granted the lease
    assert min(map(min, times.values())) > 0


def test_runs_side_by_side_share_transactions(tmp_path: Path) -> None:
    times = store_calls.chain_of(3, tmp_path / "runs.db", runs=5)
    assert 0 < len(times["together"]) < len(times["append"]) == 20


def test_a_table_holds_the_loop_for_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    times = store_calls.chain_of(1, None, answer_ms=2)
    assert min(times["append"]) >= 2_000
    store_calls.table("a table", times)
    assert "append" in capsys.readouterr().out
