"""The composition root of the function `sandbox`: author code in a process of its own, and nothing else of the engine.

The other side of `adapters/aws/sandbox`, with the contract of the local sandbox: the same bounds, the same words for what went
wrong. Needs the standard library alone, so that it starts at once.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Mapping
from typing import Any, Final

from stepless.adapters.process.sandbox import ProcessSandbox
from stepless.model.json import JSON
from stepless.model.program import Program
from stepless.model.work import NodeFailure

_SET_DUMPABLE: Final = 4


def hide_process() -> None:
    """Keeps this process's memory and environment from others of the same user: the kernel gives what is below /proc/PID to root,
    and lets nobody trace it. For a process that is the sandbox's alone; does nothing where the kernel refuses."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, *(ctypes.c_ulong(0) for _ in range(4)))


def sandboxed(request: Mapping[str, Any]) -> dict[str, JSON]:
    """{value, printed} or {error: {code, message, exception}} for what `adapters.programs.request_of` made. Raises `KeyError` for
    what it did not. Whether code runs without the kernel's filter is this function's own affair (STEPLESS_CODE_UNSAFE), not the
    caller's."""
    program = Program(
        language=request["language"],
        code=request["code"],
        args=request["args"],
        timeout_ms=request["timeout_ms"],
        memory_mb=request["memory_mb"],
    )
    sandbox = ProcessSandbox(unsafe=os.environ.get("STEPLESS_CODE_UNSAFE") == "1")
    try:
        ran = asyncio.run(sandbox.run(program))
    except NodeFailure as failure:
        told = {"exception": dict(failure.origin)} if isinstance(failure.origin, Mapping) else {}
        return {"error": {"code": failure.code, "message": failure.message, **told}}
    return {"value": ran.value, "printed": ran.printed}
