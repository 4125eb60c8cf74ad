"""A program on its way into a sandbox and what comes back, as JSON: the same for the local process and for a Lambda function."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from stepless.limits import MAX_CODE_OUTPUT_BYTES, MAX_CODE_PRINT_CHARACTERS, MAX_EXCEPTION_BYTES
from stepless.model.json import JSON
from stepless.model.program import Program, Ran
from stepless.model.work import NodeFailure

_CAUSES: Final[Mapping[str, str]] = {"code_timeout": "timeout", "sandbox_unavailable": "config"}
_MENDS: Final[Mapping[str, str]] = {
    "code_timeout": "raise `timeout_ms`, or let it do less",
    "code_memory": "raise `memory_mb`, or let it hold less at a time",
    "code_output_too_large": "return less, or put it into a file elsewhere and return where it is",
    "code_raised": "",
    "result_not_json": "return text, numbers, lists and objects",
    "sandbox_unavailable": "run where the isolation can be had; STEPLESS_CODE_UNSAFE=1 runs the code without it",
}
_EXCEPTION: Final[Mapping[str, type]] = {
    "type": str, "message": str, "file": str, "line": int, "function": str, "traceback": str,
}  # fmt: skip


def request_of(program: Program, *, unsafe: bool = False) -> dict[str, JSON]:
    return {
        "language": program.language,
        "code": program.code,
        "args": dict(program.args),
        "timeout_ms": program.timeout_ms,
        "memory_mb": program.memory_mb,
        "max_output_bytes": MAX_CODE_OUTPUT_BYTES,
        "max_print_characters": MAX_CODE_PRINT_CHARACTERS,
        "max_exception_bytes": MAX_EXCEPTION_BYTES,
        "unsafe": unsafe,
    }


def ran_of(reply: JSON) -> Ran:
    """What the sandbox answered. Raises `NodeFailure` when that is a failure, or no answer at all: the author's code can write
    there too, so nothing in it is taken on trust."""
    reply = reply if isinstance(reply, dict) else {}
    printed = reply.get("printed")
    error = reply.get("error")
    if isinstance(error, dict):
        raise failure(str(error.get("code")), str(error.get("message")), error.get("line"), _exception(error.get("exception")))
    if "value" not in reply:
        raise failure("code_raised", "the code ended its process without an answer")
    return Ran(reply["value"], printed[:MAX_CODE_PRINT_CHARACTERS] if isinstance(printed, str) else "")


def failure(code: str, message: str, line: JSON = None, exception: Mapping[str, JSON] | None = None) -> NodeFailure:
    """One of the codes that `Sandbox.run` promises; any other is the author's own words and counts as `code_raised`. `exception`
    is what the sandbox tells of the one that was raised."""
    code = code if code in _MENDS else "code_raised"
    told = f"line {line}: {message}" if isinstance(line, int) else message
    retryable = code in ("code_raised", "code_timeout")
    return NodeFailure(_CAUSES.get(code, "execution"), code, told, retryable=retryable, mend=_MENDS[code], origin=exception)


def _exception(said: JSON) -> Mapping[str, JSON] | None:
    """What the sandbox told of an exception, as far as it has the shape and the size that `raised.told` promises."""
    if not isinstance(said, dict):
        return None
    kept = {name: said[name] for name, kind in _EXCEPTION.items() if type(said.get(name)) is kind}
    size = len(json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return kept if kept and size <= MAX_EXCEPTION_BYTES else None
