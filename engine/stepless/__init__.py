"""Stepless: durable workflows on plain AWS Lambda, and the same engine in one process.

    from stepless import function, run

    @function("greetings.hello")
    def hello(name: str) -> str:
        return f"Hello, {name}!"

    result = run("hello.yaml", inputs={"name": "Ada"})

`__all__` lists everything that is public here (docs/write/python.md). Each name is imported on first use, which keeps
`import stepless` fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepless.builder import Container, Exit, Ref, Step, Workflow
    from stepless.core.history.trace import NodeRecord
    from stepless.model.findings import Finding
    from stepless.model.work import NodeFailure
    from stepless.nodes.function.call import FunctionCall
    from stepless.nodes.function.registry import function, node
    from stepless.runtime.verbs.reads.inspecting import OpenPause
    from stepless.runtime.wiring.single_run import RunResult, arun, run

__all__ = [
    "Container", "Exit", "Finding", "FunctionCall", "NodeFailure", "NodeRecord", "OpenPause", "Ref", "RunResult", "Step",
    "Workflow", "arun", "function", "node", "run",
]  # fmt: skip

_HOMES = {
    "Container": "stepless.builder",
    "Exit": "stepless.builder",
    "Finding": "stepless.model.findings",
    "FunctionCall": "stepless.nodes.function.call",
    "NodeFailure": "stepless.model.work",
    "NodeRecord": "stepless.core.history.trace",
    "OpenPause": "stepless.runtime.verbs.reads.inspecting",
    "Ref": "stepless.builder",
    "RunResult": "stepless.runtime.wiring.single_run",
    "Step": "stepless.builder",
    "Workflow": "stepless.builder",
    "arun": "stepless.runtime.wiring.single_run",
    "function": "stepless.nodes.function.registry",
    "node": "stepless.nodes.function.registry",
    "run": "stepless.runtime.wiring.single_run",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'stepless' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
