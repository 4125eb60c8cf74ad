"""The shared conformance cases and the runner that comes with them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "conformance" / "shared"


def load_runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance_runner", FOLDER / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = load_runner()
CASES: list[dict[str, Any]] = RUNNER.load([FOLDER / "cases"])
