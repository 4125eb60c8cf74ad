"""Provides the fixture `workflow` as a pytest plug-in. pytest loads it wherever Stepless is installed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.register_assert_rewrite("stepless.testing.contracts")

if TYPE_CHECKING:
    from stepless.testing.workflow import Source, WorkflowTest


@pytest.fixture
def workflow(request: pytest.FixtureRequest) -> Callable[[Source], WorkflowTest]:
    """Loads a workflow to test: a document as a mapping, or a file, which is searched in the folder of the test and then in
    pytest's root folder. Each call loads it again."""
    from stepless.testing.workflow import WorkflowTest  # imported here: test runs without workflows do not need it

    def load(source: Source) -> WorkflowTest:
        if not isinstance(source, str | os.PathLike):
            return WorkflowTest.load(source)
        nearby = request.path.parent / source
        return WorkflowTest.load(nearby if nearby.exists() else Path(request.config.rootpath) / source)

    return load
