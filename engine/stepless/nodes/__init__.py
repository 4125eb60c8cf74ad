"""Node kinds: one file per kind, one table of all. The kinds do not know each other.

`KINDS` is what documents may use, kinds of installed plug-ins included; `RUNS` holds the code of the effectful kinds that need
nothing from outside, and `model_runs`, `sandbox_runs` and `aws_runs` bring that of the kinds that do. A kind without its run
can be compiled and simulated, and not published. Every table loads a kind when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from stepless.nodes.lazily import Layers, Lazily, attribute
from stepless.nodes.plugins import WithPlugins

if TYPE_CHECKING:
    from stepless.model.kind import Kind, Pause
    from stepless.model.work import Result
    from stepless.nodes.aws_lambda import Invite
    from stepless.ports import Aws, Call, Models, Sandbox

Run: TypeAlias = "Callable[[Call], Awaitable[Result | Pause]]"
"""One attempt of an effectful node: its result, or what it has to wait for; raises `NodeFailure`."""

_MODULES: Final[Mapping[str, str]] = MappingProxyType({
    "manual": "manual",
    "webhook": "webhook",
    "schedule": "schedule",
    "event": "event",
    "function": "function.kind",
    "http": "http.kind",
    "lambda": "aws_lambda",
    "aws": "aws",
    "code": "code",
    "llm": "llm.kind",
    "transform": "transform",
    "set": "set",
    "condition": "condition",
    "router": "router",
    "loop": "loop",
    "parallel": "parallel",
    "join": "join",
    "wait": "wait",
    "approval": "approval",
    "callback": "callback",
    "workflow": "workflow",
    "respond": "respond",
    "end": "end",
})
"""By the name of a kind, the module of this room that holds its `KIND`."""

_KINDS: Final[Mapping[str, Kind]] = Lazily({name: attribute(module, "KIND") for name, module in _MODULES.items()})


def _http() -> Run:
    """With the client that it sends with: loading it does not count against the time-out of an attempt."""
    attribute("http.transport", "tls")()()
    run: Run = attribute("http.kind", "run")()
    return run


_RUNS: Final[Mapping[str, Run]] = Lazily({"function": attribute("function.kind", "run"), "http": _http})

KINDS: Final[Mapping[str, Kind]] = WithPlugins(_KINDS, lambda plugin: plugin.KIND, _MODULES)
RUNS: Final[Mapping[str, Run]] = WithPlugins(_RUNS, lambda plugin: getattr(plugin, "run", None), _MODULES)


def runs_with(*brought: Mapping[str, Run]) -> Mapping[str, Run]:
    """`RUNS`, and the code of the kinds that somebody brings: the first who brings a kind is asked."""
    return Layers(*brought, RUNS)


def model_runs(models: Models) -> Mapping[str, Run]:
    """The code of the kinds that ask a model."""

    def llm() -> Run:
        from stepless.nodes.function import describe, run
        from stepless.nodes.llm import caller

        return caller(models, run, describe)

    return Lazily({"llm": llm, "router": lambda: attribute("router", "caller")()(models)})


def sandbox_runs(sandbox: Sandbox) -> Mapping[str, Run]:
    """The code of the kinds that run an author's own code."""
    return Lazily({"code": lambda: attribute("code", "caller")()(sandbox)})


def aws_runs(aws: Aws, invite: Invite) -> Mapping[str, Run]:
    """The code of the kinds that call AWS."""
    return Lazily({
        "aws": lambda: attribute("aws", "caller")()(aws),
        "lambda": lambda: attribute("aws_lambda", "caller")()(aws, invite),
    })


def aws_kinds(aws: Aws) -> Mapping[str, Kind]:
    """`KINDS`, where parameters can be held against the services' own models."""
    return Layers(Lazily({"aws": lambda: attribute("aws", "checked")()(aws)}), KINDS)
