"""The wheel, and two environments: one without extras, and one as an author of workflows installs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import Environment, build_wheel, install


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def bare_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return install(wheel, tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="session")
def dev_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return install(wheel, tmp_path_factory.mktemp("dev"), "dev")


@pytest.fixture
def bare(bare_environment: Environment, tmp_path: Path) -> Environment:
    return bare_environment.within(tmp_path / "work")


@pytest.fixture
def dev(dev_environment: Environment, tmp_path: Path) -> Environment:
    return dev_environment.within(tmp_path / "work")
