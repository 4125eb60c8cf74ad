"""Examples as a reader runs them: the document from its file, its functions from its module."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stepless import run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], tuple[ModuleType, Callable[..., Any]]]:
    """(folder, module) → the module, and a function from inputs to the run's result."""

    def load(folder: str, module: str) -> tuple[ModuleType, Callable[..., Any]]:
        monkeypatch.syspath_prepend(str(EXAMPLES / folder))
        loaded = importlib.import_module(module)
        return loaded, lambda inputs, **more: run(EXAMPLES / folder / "workflow.yaml", inputs, **more)

    return load
