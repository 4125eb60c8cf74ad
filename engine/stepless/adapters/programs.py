"""Converts programs and their results to and from JSON, in one format for the local sandbox and the Lambda function."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from stepless.limits import MAX_CODE_OUTPUT_BYTES, MAX_CODE_PRINT_CHARACTERS, MAX_EXCEPTION_BYTES
from stepless.model.effects.program import Program, Ran
from stepless.model.json import JSON
from stepless.model.work import NodeFailure

_CAUSES: Final[Mapping[str, str]] = {"code_timeout": "timeout", "sandbox_unavailable": "config"}
_FIXES: Final[Mapping[str, str]] = {
    "code_timeout": "raise `timeout_ms`, or make the code do less",
    "code_memory": "raise `memory_mb`, or make the code hold less data at a time",
    "code_output_too_large": "return less, or store the data elsewhere and return a reference to it",
    "code_raised": "",
    "result_not_json": "return text, numbers, lists and objects",
    "sandbox_unavailable": "use a machine that supports the isolation; STEPLESS_CODE_UNSAFE=1 runs the code without it",
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
    """Returns the result in the sandbox's reply. Raises `NodeFailure` if the reply is a failure or not a valid reply. The
    author's code can write to the same stream, so no part of the reply is trusted."""
    reply = reply if isinstance(reply, dict) else {}
    printed = reply.get("printed")
    error = reply.get("error")
    if isinstance(error, dict):
        raise failure(str(error.get("code")), str(error.get("message")), error.get("line"), _exception(error.get("exception")))
    if "value" not in reply:
        raise failure("code_raised", "the code ended its process without returning a result")
    return Ran(reply["value"], printed[:MAX_CODE_PRINT_CHARACTERS] if isinstance(printed, str) else "")


def failure(code: str, message: str, line: JSON = None, exception: Mapping[str, JSON] | None = None) -> NodeFailure:
    """Returns a failure with one of the codes that `Sandbox.run` promises; any other code came from the author's code and becomes
    `code_raised`. `exception` has the details of the exception that the code raised."""
    code = code if code in _FIXES else "code_raised"
    text = f"line {line}: {message}" if isinstance(line, int) else message
    retryable = code in ("code_raised", "code_timeout")
    return NodeFailure(_CAUSES.get(code, "execution"), code, text, retryable=retryable, mend=_FIXES[code], origin=exception)


def _exception(details: JSON) -> Mapping[str, JSON] | None:
    """The fields of an exception's details that have the types that `raised.described` promises; None if there are none, or if
    they are too large."""
    if not isinstance(details, dict):
        return None
    kept = {name: details[name] for name, kind in _EXCEPTION.items() if type(details.get(name)) is kind}
    size = len(json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return kept if kept and size <= MAX_EXCEPTION_BYTES else None
