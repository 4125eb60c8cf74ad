"""Stepless: durable workflows on plain AWS Lambda, and the same engine in one process.

    from stepless import function, run

    @function("greetings.hello")
    def hello(name: str) -> str:
        return f"Hello, {name}!"

    result = run("hello.yaml", inputs={"name": "Ada"})

What stands in `__all__` is all that is public here; each name is imported when it is first used, so that `import stepless`
costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepless.model.work import NodeFailure
    from stepless.nodes.function import FunctionCall, function
    from stepless.runtime.inprocess import RunResult, run

__all__ = ["FunctionCall", "NodeFailure", "RunResult", "function", "run"]

_HOMES = {
    "FunctionCall": "stepless.nodes.function",
    "NodeFailure": "stepless.model.work",
    "RunResult": "stepless.runtime.inprocess",
    "function": "stepless.nodes.function",
    "run": "stepless.runtime.inprocess",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'stepless' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
