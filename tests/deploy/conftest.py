"""The template, and an issuer of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from oidc_issuer import Issuer
from sam_template import loaded


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    return loaded()


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Issuer]:
    made = Issuer(tmp_path_factory.mktemp("issuer"))
    yield made
    made.close()
