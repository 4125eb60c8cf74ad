"""`code`: runs Python that stands in the document itself, in a sandbox."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import Field

from stepless.limits import CODE_MARGIN_MS, DEFAULT_CODE_MEMORY_MB, MAX_CODE_CHARACTERS, MAX_CODE_MEMORY_MB, MIN_CODE_MEMORY_MB
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part
from stepless.model.program import Program
from stepless.model.work import NodeFailure, Result
from stepless.nodes.json_value import NotJson, to_json
from stepless.nodes.params import Name, Params, params_of
from stepless.ports import Call, Sandbox

MAIN = "main"


class CodeParams(Params):
    """The program, what it is given, and what it may use."""

    language: Literal["python"] = "python"
    """The language of `code`."""
    code: str = Field(min_length=1, max_length=MAX_CODE_CHARACTERS)
    """Source that defines `def main(args)`. A value never becomes code."""
    args: dict[Name, JSON] = Field(default_factory=dict)
    """What `main` is given."""
    memory_mb: int = Field(DEFAULT_CODE_MEMORY_MB, ge=MIN_CODE_MEMORY_MB, le=MAX_CODE_MEMORY_MB)
    """How much memory it may use, the interpreter included."""


def check(params: CodeParams, path: str) -> list[Finding]:
    place = f"{path}.code"
    try:
        tree = ast.parse(params.code)
    except SyntaxError as error:
        line = params.code.split("\n")[error.lineno - 1].strip()[:60] if error.lineno else ""
        told = f"line {error.lineno} is no Python: {error.msg} ({line})"
        return [Finding("code_syntax", place, told, "Mend it; the block starts at line 1.")]
    except (ValueError, RecursionError, MemoryError) as error:
        return [Finding("code_syntax", place, f"it cannot be read: {type(error).__name__}: {error}", "Make it simpler.")]
    if not any(isinstance(node, ast.FunctionDef) and node.name == MAIN for node in tree.body):
        return [Finding("code_without_main", place, "nothing defines `def main(args)`", "Define it; what it returns is put out.")]
    return []


KIND = Kind(
    "code", Nature.EFFECT, CodeParams, "runs Python of the document in a sandbox; puts out what its `main(args)` returns",
    parts={"language": Part.LITERAL, "code": Part.LITERAL, "memory_mb": Part.LITERAL}, check=check, is_tool=True,
)


def caller(sandbox: Sandbox) -> Callable[[Call], Awaitable[Result]]:
    """The code of the `code` kind."""

    async def run(call: Call) -> Result:
        """Puts out what `main` returned; what the code prints becomes a line of the run's history. Raises `NodeFailure` as
        `Sandbox.run` does, and config for parameters that do not fit."""
        params = params_of(CodeParams, call)
        timeout_ms = call.deadline_ms - call.started_ms
        timeout_ms -= min(timeout_ms // 10, CODE_MARGIN_MS)
        ran = await sandbox.run(Program(params.language, params.code, params.args, timeout_ms, params.memory_mb))
        if ran.printed:
            call.log(ran.printed)
        try:
            return Result(to_json(ran.value))
        except NotJson as found:
            raise NodeFailure("execution", "result_not_json", f"main returned what is not JSON: {found}",
                              retryable=False, mend=found.mend) from found

    return run
