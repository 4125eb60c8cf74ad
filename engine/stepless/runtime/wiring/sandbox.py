"""Composes the function `sandbox`, which runs author code in a separate process, without the rest of the engine.

`adapters/aws/sandbox` calls it. It keeps the contract of the local sandbox: the same bounds and the same errors. It imports
only the standard library, so that it starts quickly.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Mapping
from typing import Any, Final

from stepless.adapters.process.sandbox import ProcessSandbox
from stepless.model.effects.program import Program
from stepless.model.json import JSON
from stepless.model.work import NodeFailure

_SET_DUMPABLE: Final = 4


def hide_process() -> None:
    """Hides this process's memory and environment from other processes of the same user: the kernel gives /proc/PID to root and
    denies tracing. Only for a process that does nothing but run the sandbox. Has no effect if the kernel refuses."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, *(ctypes.c_ulong(0) for _ in range(4)))


def sandboxed(request: Mapping[str, Any]) -> dict[str, JSON]:
    """Returns {value, printed} or {error: {code, message, exception}} for a request from `adapters.programs.request_of`. Raises
    `KeyError` for any other request. STEPLESS_CODE_UNSAFE of this function, not the caller, decides whether code runs without
    the kernel's filter."""
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
        extra = {"exception": dict(failure.origin)} if isinstance(failure.origin, Mapping) else {}
        return {"error": {"code": failure.code, "message": failure.message, **extra}}
    return {"value": ran.value, "printed": ran.printed}
