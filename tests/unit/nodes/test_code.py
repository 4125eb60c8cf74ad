"""The kind `code`: what it passes to the sandbox, and which errors in the code are found before it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stepless.model.effects.program import Program, Ran
from stepless.model.work import NodeFailure, Result
from stepless.nodes import sandbox_kind_code
from stepless.ports import Call

MAIN = "def main(args):\n  return args"


class Echo:
    """A sandbox that runs nothing."""

    def __init__(self, ran: Ran) -> None:
        self.ran = ran
        self.programs: list[Program] = []

    async def run(self, program: Program) -> Ran:
        self.programs.append(program)
        return self.ran


def ran(make: Callable[..., Call], sandbox: Echo, **more: Any) -> Result:
    call = make("code", {"args": {"n": 1}}, {"code": MAIN, "memory_mb": 99}, **more)
    result = asyncio.run(sandbox_kind_code(sandbox)["code"](call))  # type: ignore[arg-type]  # a coroutine
    assert isinstance(result, Result)
    return result


def test_the_sandbox_gives_up_before_the_engine_does(call: Callable[..., Call]) -> None:
    sandbox = Echo(Ran({"n": 1}))
    assert ran(call, sandbox).value == {"n": 1}
    assert sandbox.programs == [Program("python", MAIN, {"n": 1}, 29_900, 99)]


def test_what_the_code_prints_stands_in_the_history(call: Callable[..., Call]) -> None:
    lines: list[str] = []
    ran(call, Echo(Ran(None, "hello\n")), log=lines.append)
    ran(call, Echo(Ran(None)), log=lines.append)
    assert lines == ["hello\n"]


def test_what_no_log_can_keep_is_refused(call: Callable[..., Call]) -> None:
    with pytest.raises(NodeFailure, match="surrogate"):
        ran(call, Echo(Ran(["\ud800"])))


@pytest.mark.parametrize(("code", "found"), [
    (MAIN, None), ("import re\n\ndef main(args):\n  return re.escape('<a.b>')", None),
    ("def main(args)\n  pass", "code_syntax"), ("def main(args):\nreturn 1", "code_syntax"), ("x = '\0'", "code_syntax"),
    ("(" * 300, "code_syntax"), ("x = 1", "code_without_main"), ("class A:\n  def main(args): pass", "code_without_main"),
    ("async def main(args): pass", "code_without_main"),
])  # fmt: skip
def test_code_that_cannot_run_is_found_at_publish(
    findings: Callable[..., list[tuple[str, str, str]]], code: str, found: str | None
) -> None:
    assert findings("code", code=code) == ([] if found is None else [(found, ".code", "error")])
