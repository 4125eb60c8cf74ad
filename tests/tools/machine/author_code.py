"""Runs author code in a sandbox for tests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stepless.model.effects.program import Program, Ran
from stepless.model.work import NodeFailure
from stepless.ports import Sandbox


def run(sandbox: Sandbox, code: str, *, timeout_ms: int = 20_000, memory_mb: int = 128, **args: Any) -> Ran:
    return asyncio.run(sandbox.run(Program("python", code, args, timeout_ms, memory_mb)))


def failing(sandbox: Sandbox, code: str, **more: Any) -> NodeFailure:
    with pytest.raises(NodeFailure) as failed:
        run(sandbox, code, **more)
    return failed.value
