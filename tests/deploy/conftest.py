"""The template, what SAM builds of it, a machine to deploy it to, and an issuer of tokens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from deployed_runs import client_of
from emulators import Missing
from local_cloud import Cloud, Machine, built, emulated
from oidc_issuer import Issuer
from sam_template import loaded


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    return loaded()


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once for all files, whichever of the processes of pytest-xdist they are tested in."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    try:
        return built(shared / "sam", Path(__file__).parent / "functions")
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Issuer]:
    made = Issuer(tmp_path_factory.mktemp("issuer"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def machine(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    try:
        with emulated(tmp_path_factory.mktemp("cloud"), build) as started:
            yield started
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def http(cloud: Cloud) -> Iterator[httpx.Client]:
    """A client of the stack that a file deploys."""
    with client_of(cloud) as client:
        yield client
