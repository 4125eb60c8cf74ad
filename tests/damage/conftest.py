"""A file with something of everything, made once for all tests of this folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from everything_stored import Filled, fill, serving


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Filled]:
    path = tmp_path_factory.mktemp("full") / "full.db"

    async def make() -> Filled:
        async with serving(path) as engine:
            return await fill(engine)

    return path, asyncio.run(make())
