"""Node kinds: one module per kind, and tables of all kinds. Kinds do not depend on each other.

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
    from stepless.nodes.aws_lambda import Invite
    from stepless.ports import Aws, Call, Models, Sandbox

KindCode: TypeAlias = "Callable[[Call], Awaitable[Result | Pause]]"
"""Runs one attempt of an effectful node. Returns its result, or the pause that it waits in; raises `NodeFailure`."""

_MODULES: Final[Mapping[str, str]] = MappingProxyType({
    "manual": "manual",
    "webhook": "webhook",
    "schedule": "schedule",
    "event": "event",
    "http": "http.kind",
    "function": "function.kind",
    "lambda": "aws_lambda",
    "aws": "aws",
    "code": "code",
    "llm": "llm.kind",
    "workflow": "workflow",
    "send": "send",
    "condition": "condition",
    "router": "router",
    "join": "join",
    "loop": "loop",
    "parallel": "parallel",
    "approval": "approval",
    "callback": "callback",
    "receive": "receive",
    "wait": "wait",
    "transform": "transform",
    "set": "set",
    "respond": "respond",
    "end": "end",
    "fail": "fail",
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
    """`KIND_CODE` combined with `tables`: the first table that has a kind provides its code."""
    return LayeredMapping(*tables, KIND_CODE)


def model_kind_code(models: Models) -> Mapping[str, KindCode]:
    """The code of the kinds that call a model."""

    def llm() -> KindCode:
        from stepless.nodes.function import describe, run
        from stepless.nodes.llm import caller

        return caller(models, run, describe)

    return LazyMapping({"llm": llm, "router": lambda: attribute("router", "caller")()(models)})


def sandbox_kind_code(sandbox: Sandbox) -> Mapping[str, KindCode]:
    """The code of the kinds that run author code in a sandbox."""
    return LazyMapping({"code": lambda: attribute("code", "caller")()(sandbox)})


def aws_kind_code(aws: Aws, invite: Invite) -> Mapping[str, KindCode]:
    """The code of the kinds that call AWS."""
    return LazyMapping({
        "aws": lambda: attribute("aws", "caller")()(aws),
        "lambda": lambda: attribute("aws_lambda", "caller")()(aws, invite),
    })


def aws_kinds(aws: Aws) -> Mapping[str, Kind]:
    """`KINDS`, with `aws` nodes checked against the service models of AWS."""
    return LayeredMapping(LazyMapping({"aws": lambda: attribute("aws", "checked")()(aws)}), KINDS)
