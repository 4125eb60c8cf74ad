"""Packages that announce something, as an installer leaves them behind: metadata beside a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stepless.plugins import announced

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """`install(package, group, points, **modules)`: a package that announces these points, and the sources of its modules."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    announced.cache_clear()

    def add(package: str, group: str, points: dict[str, str], **modules: str) -> None:
        folder = site / f"{package.replace('-', '_')}-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (folder / "entry_points.txt").write_text("\n".join([f"[{group}]", *(f"{n} = {v}" for n, v in points.items()), ""]))
        for name, source in modules.items():
            (site / f"{name}.py").write_text(source)
        announced.cache_clear()

    yield add
    announced.cache_clear()
