"""The pytest plug-in: the fixture `workflow`. Found by pytest itself wherever Stepless is installed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stepless.testing.workflow import Source, WorkflowTest


@pytest.fixture
def workflow(request: pytest.FixtureRequest) -> Callable[[Source], WorkflowTest]:
    """Loads a workflow to be tested: a file, looked for beside the test and then in the folder that pytest was started for, or
    a document as a mapping. Each call loads anew."""
    from stepless.testing.workflow import WorkflowTest  # here: test runs without workflows need none of it

    def load(source: Source) -> WorkflowTest:
        if not isinstance(source, str | os.PathLike):
            return WorkflowTest.load(source)
        beside = request.path.parent / source
        return WorkflowTest.load(beside if beside.exists() else Path(request.config.rootpath) / source)

    return load
