"""Node kinds: one file per kind, one table of all. The kinds do not know each other.

`KINDS` is what documents may use, kinds of installed plug-ins included. `KIND_CODE` holds the code of the effectful kinds that
need nothing from outside; `model_kind_code`, `sandbox_kind_code` and `aws_kind_code` add that of the kinds that do. A kind
without its code can be compiled and simulated, but not published. Every table loads a kind when it is first asked for.
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

_KINDS: Final[Mapping[str, Kind]] = LazyMapping({name: attribute(module, "KIND") for name, module in _MODULES.items()})


def _http() -> KindCode:
    """With the client that it sends with: loading it does not count against the time-out of an attempt."""
    attribute("http.transport", "tls")()()
    run: KindCode = attribute("http.kind", "run")()
    return run


_KIND_CODE: Final[Mapping[str, KindCode]] = LazyMapping({"function": attribute("function.kind", "run"), "http": _http})

KINDS: Final[Mapping[str, Kind]] = WithPlugins(_KINDS, lambda plugin: plugin.KIND, _MODULES)
KIND_CODE: Final[Mapping[str, KindCode]] = WithPlugins(_KIND_CODE, lambda plugin: getattr(plugin, "run", None), _MODULES)


def kind_code_with(*brought: Mapping[str, KindCode]) -> Mapping[str, KindCode]:
    """`KIND_CODE`, and the code of the kinds that somebody brings: the first who brings a kind is asked."""
    return LayeredMapping(*brought, KIND_CODE)


def model_kind_code(models: Models) -> Mapping[str, KindCode]:
    """The code of the kinds that ask a model."""

    def llm() -> KindCode:
        from stepless.nodes.function import describe, run
        from stepless.nodes.llm import caller

        return caller(models, run, describe)

    return LazyMapping({"llm": llm, "router": lambda: attribute("router", "caller")()(models)})


def sandbox_kind_code(sandbox: Sandbox) -> Mapping[str, KindCode]:
    """The code of the kinds that run an author's own code."""
    return LazyMapping({"code": lambda: attribute("code", "caller")()(sandbox)})


def aws_kind_code(aws: Aws, invite: Invite) -> Mapping[str, KindCode]:
    """The code of the kinds that call AWS."""
    return LazyMapping({
        "aws": lambda: attribute("aws", "caller")()(aws),
        "lambda": lambda: attribute("aws_lambda", "caller")()(aws, invite),
    })


def aws_kinds(aws: Aws) -> Mapping[str, Kind]:
    """`KINDS`, where parameters can be held against the services' own models."""
    return LayeredMapping(LazyMapping({"aws": lambda: attribute("aws", "checked")()(aws)}), KINDS)
