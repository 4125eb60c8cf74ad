"""Defines the kind `function`, which calls registered Python code. Each name is imported on its first use, so that registering a
function does not import the code that calls it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stepless.nodes.function.call import FunctionCall
    from stepless.nodes.function.description import describe
    from stepless.nodes.function.kind import KIND, run
    from stepless.nodes.function.registry import (
        MODULES_VARIABLE,
        function,
        load_modules,
        name_of,
        names,
        node,
        register_waiting,
        replacing_registrations,
        signatures,
    )

__all__ = [
    "KIND", "MODULES_VARIABLE", "FunctionCall", "describe", "function", "load_modules", "name_of", "names", "node",
    "register_waiting", "replacing_registrations", "run", "signatures",
]  # fmt: skip

_HOMES: Final = {
    "FunctionCall": "call", "KIND": "kind", "MODULES_VARIABLE": "registry", "describe": "description", "function": "registry",
    "load_modules": "registry", "name_of": "registry", "names": "registry", "node": "registry", "register_waiting": "registry",
    "replacing_registrations": "registry", "run": "kind", "signatures": "registry",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
