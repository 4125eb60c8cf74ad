"""The template for the tests of this folder."""

from __future__ import annotations

from typing import Any

import pytest
from sam_template import loaded


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    return loaded()
