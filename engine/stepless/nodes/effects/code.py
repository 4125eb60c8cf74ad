"""Defines the kind `code`, which runs Python code of the document in a sandbox."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import Field

from stepless.limits import CODE_MARGIN_MS, DEFAULT_CODE_MEMORY_MB, MAX_CODE_CHARACTERS, MAX_CODE_MEMORY_MB, MIN_CODE_MEMORY_MB
from stepless.model.effects.program import Program
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part
from stepless.model.work import NodeFailure, Result
from stepless.nodes.json_value import NotJson, to_json
from stepless.nodes.params import Name, Params, params_of
from stepless.ports import Call, Sandbox

MAIN = "main"


class CodeParams(Params):
    """The program, its arguments and its memory limit."""

    language: Literal["python"] = "python"
    """The language of `code`."""
    code: str = Field(min_length=1, max_length=MAX_CODE_CHARACTERS)
    """Source code that defines `def main(args)`. References in it are not filled in."""
    args: dict[Name, JSON] = Field(default_factory=dict)
    """The value that is passed to `main`."""
    memory_mb: int = Field(DEFAULT_CODE_MEMORY_MB, ge=MIN_CODE_MEMORY_MB, le=MAX_CODE_MEMORY_MB)
    """How much memory the process may use, including the interpreter."""


def check(params: CodeParams, path: str) -> list[Finding]:
    place = f"{path}.code"
    try:
        tree = ast.parse(params.code)
    except SyntaxError as error:
        line = params.code.split("\n")[error.lineno - 1].strip()[:60] if error.lineno else ""
        message = f"line {error.lineno} is not valid Python: {error.msg} ({line})"
        return [Finding("code_syntax", place, message, "Correct it; lines are counted from the start of the code.")]
    except (ValueError, RecursionError, MemoryError) as error:
        return [Finding("code_syntax", place, f"the code cannot be read: {type(error).__name__}: {error}", "Simplify the code.")]
    if not any(isinstance(node, ast.FunctionDef) and node.name == MAIN for node in tree.body):
        return [Finding("code_without_main", place, "the code does not define `def main(args)`",
                        "Define it; its return value is the node's output.")]
    return []


KIND = Kind(
    "code", Nature.EFFECT, CodeParams, "runs Python of the document in a sandbox; returns the result of its `main(args)`",
    parts={"language": Part.LITERAL, "code": Part.LITERAL, "memory_mb": Part.LITERAL}, check=check, is_tool=True,
    icon="m5 4.5-3.2 3.5L5 11.5M11 4.5l3.2 3.5-3.2 3.5M9.2 3 6.8 13",
)


def caller(sandbox: Sandbox) -> Callable[[Call], Awaitable[Result]]:
    """Returns the code of the `code` kind."""

    async def run(call: Call) -> Result:
        """Puts out what `main` returns. What the code prints becomes a line of the run's history. Raises `NodeFailure` as
        `Sandbox.run` does, and config for invalid parameters."""
        params = params_of(CodeParams, call)
        timeout_ms = call.deadline_ms - call.started_ms
        timeout_ms -= min(timeout_ms // 10, CODE_MARGIN_MS)
        ran = await sandbox.run(Program(params.language, params.code, params.args, timeout_ms, params.memory_mb))
        if ran.printed:
            call.log(ran.printed)
        try:
            return Result(to_json(ran.value))
        except NotJson as found:
            raise NodeFailure("execution", "result_not_json", f"main returned a value that is not JSON: {found}",
                              retryable=False, mend=found.mend) from found

    return run
