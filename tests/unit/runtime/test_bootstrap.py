"""The engine over a file: what it opens, it closes, whether it could be put together or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepless.errors import ConfigError
from stepless.runtime.bootstrap import local


class Locked:
    """Secrets that nobody can read now."""

    def get(self, name: str) -> str | None:
        raise ConfigError("the secrets are locked", place=name)


def test_a_file_is_let_go_when_the_engine_cannot_be_put_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="locked"):
        local(tmp_path / "runs.db", secrets=Locked())
    assert not (tmp_path / "runs.db-wal").exists(), "the last connection folds the write-ahead log into the file"
    local(tmp_path / "runs.db").close()


def test_closing_a_second_time_does_nothing(tmp_path: Path) -> None:
    engine = local(tmp_path / "runs.db")
    engine.close()
    engine.close()
    assert not (tmp_path / "runs.db-wal").exists()
