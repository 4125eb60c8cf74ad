"""Defines the kinds of nodes: one module or folder per kind, and tables of all kinds. Kinds do not depend on each other.

`KINDS` holds the kinds that documents may use, including those of installed plug-ins. `KIND_CODE` holds the code of the effectful
kinds that need no port; `model_kind_code`, `sandbox_kind_code` and `aws_kind_code` add the code of those that do. A kind without
code can be compiled and simulated, but not published. Every table loads a kind on its first use.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from stepless.nodes.lazy_mapping import LayeredMapping, LazyMapping, attribute
from stepless.nodes.plugins import WithPlugins

if TYPE_CHECKING:
    from stepless.model.kind import Kind, Pause
    from stepless.model.work import Result
    from stepless.nodes.effects.aws_lambda import Invite
    from stepless.ports import Aws, Call, Models, Sandbox

KindCode: TypeAlias = "Callable[[Call], Awaitable[Result | Pause]]"
"""Runs one attempt of an effectful node. Returns its result, or the pause that it waits in; raises `NodeFailure`."""

_MODULES: Final[Mapping[str, str]] = MappingProxyType({
    "manual": "entries.manual",
    "webhook": "entries.webhook",
    "schedule": "entries.schedule",
    "event": "entries.event",
    "http": "http.kind",
    "function": "function.kind",
    "lambda": "effects.aws_lambda",
    "aws": "effects.aws",
    "code": "effects.code",
    "llm": "llm.kind",
    "workflow": "effects.workflow",
    "send": "effects.send",
    "condition": "control.condition",
    "router": "effects.router",
    "join": "control.join",
    "loop": "control.loop",
    "parallel": "control.parallel",
    "distributed": "control.distributed",
    "approval": "pausing.approval",
    "callback": "pausing.callback",
    "receive": "pausing.receive",
    "wait": "pausing.wait",
    "transform": "control.transform",
    "set": "control.set",
    "respond": "control.respond",
    "end": "control.end",
    "fail": "control.fail",
})
"""Name of a kind → the module of this package that holds its `KIND`, in the order of editors."""

_KINDS: Final[Mapping[str, Kind]] = LazyMapping({name: attribute(module, "KIND") for name, module in _MODULES.items()})


def _http() -> KindCode:
    """Also loads the HTTP client, so that the first attempt's timeout does not include loading it."""
    attribute("http.transport", "tls")()()
    run: KindCode = attribute("http.kind", "run")()
    return run


_KIND_CODE: Final[Mapping[str, KindCode]] = LazyMapping({"function": attribute("function.kind", "run"), "http": _http})

KINDS: Final[Mapping[str, Kind]] = WithPlugins(_KINDS, lambda plugin: plugin.KIND, _MODULES)
KIND_CODE: Final[Mapping[str, KindCode]] = WithPlugins(_KIND_CODE, lambda plugin: getattr(plugin, "run", None), _MODULES)


def kind_code_with(*tables: Mapping[str, KindCode]) -> Mapping[str, KindCode]:
    """Returns `KIND_CODE` combined with `tables`: the first table that has a kind provides its code."""
    return LayeredMapping(*tables, KIND_CODE)


def model_kind_code(models: Models) -> Mapping[str, KindCode]:
    """Returns the code of the kinds that call a model."""

    def llm() -> KindCode:
        from stepless.nodes.function import describe, run
        from stepless.nodes.llm import caller

        return caller(models, run, describe)

    return LazyMapping({"llm": llm, "router": lambda: attribute("effects.router", "caller")()(models)})


def sandbox_kind_code(sandbox: Sandbox) -> Mapping[str, KindCode]:
    """Returns the code of the kinds that run author code in a sandbox."""
    return LazyMapping({"code": lambda: attribute("effects.code", "caller")()(sandbox)})


def aws_kind_code(aws: Aws, invite: Invite) -> Mapping[str, KindCode]:
    """Returns the code of the kinds that call AWS."""
    return LazyMapping({
        "aws": lambda: attribute("effects.aws", "caller")()(aws),
        "lambda": lambda: attribute("effects.aws_lambda", "caller")()(aws, invite),
    })


def aws_kinds(aws: Aws) -> Mapping[str, Kind]:
    """Returns `KINDS`, with `aws` nodes checked against the service models of AWS."""
    return LayeredMapping(LazyMapping({"aws": lambda: attribute("effects.aws", "checked")()(aws)}), KINDS)
