"""Records the calls of steps that a workflow makes, as the function and as its document, and replaces steps by functions."""

from __future__ import annotations

import functools
import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stepless.errors import ConfigError
from stepless.flow import Step
from stepless.model.json import JSON
from stepless.nodes.function import FunctionCall, registry
from stepless.nodes.json_value import to_json

Steps: TypeAlias = Mapping[Any, Any]


@dataclass(slots=True)
class Effects:
    """Calls in the order in which they began. A call that repeats the one before it counts once: an attempt may be made again."""

    made: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, step: str, arguments: inspect.BoundArguments) -> None:
        arguments.apply_defaults()
        given = {name: value for name, value in arguments.arguments.items() if not isinstance(value, FunctionCall)}
        call = step, json.dumps(to_json(given), sort_keys=True, ensure_ascii=False)
        if self.made[-1:] != [call]:
            self.made.append(call)


def named(steps: Steps) -> dict[str, Callable[..., Any]]:
    """Functions by the names of the steps that they stand for; a value that is no function is what the step returns. Raises
    `ConfigError` for a key that is neither a step nor its name."""
    found: dict[str, Callable[..., Any]] = {}
    for step, fake in steps.items():
        if not isinstance(step, Step | str):
            raise ConfigError(f"{step!r:.80} is not a step", mend="write the step itself, or its name")
        found[step.name if isinstance(step, Step) else step] = fake if callable(fake) else _returning(fake)
    return found


def _returning(value: JSON) -> Callable[..., Any]:
    return lambda *args, **kwargs: value


@contextmanager
def watched(documents: Sequence[Mapping[str, Any]], fakes: Mapping[str, Callable[..., Any]], effects: Effects) -> Iterator[None]:
    """Has the steps of these documents recorded inside the block, and those in `fakes` replaced."""
    names = {str(call) for document in documents for call in _called(document)}
    with ExitStack() as stack:
        for name in sorted(names):
            if _is_lifted(name):
                continue
            former = registry.find(name).callable
            registry.replace(name, _watched(name, former, fakes.get(name), effects))
            stack.callback(registry.replace, name, former)
        yield


def _is_lifted(name: str) -> bool:
    return getattr(registry.find(name).callable, "__qualname__", "") == name


def _watched(
    name: str, former: Callable[..., Any], fake: Callable[..., Any] | None, effects: Effects
) -> Callable[..., Any]:
    signature, function = inspect.signature(former), fake or former

    @functools.wraps(former)
    async def called(*args: Any, **kwargs: Any) -> Any:
        effects(name, signature.bind(*args, **kwargs))
        result = function(*args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    return called


def _called(level: Mapping[str, Any]) -> Iterator[Any]:
    for node in level["nodes"].values():
        given = node.get("with") or {}
        if node["type"] == "function":
            yield given["call"]
        if _has_body(node):
            yield from _called(given["body"])


def _has_body(node: Mapping[str, Any]) -> bool:
    return node["type"] in ("loop", "parallel")


def is_concurrent(level: Mapping[str, Any]) -> bool:
    """Returns whether steps of a document may run at the same time, so that the order in which they begin is not fixed."""
    exits = Counter(_exit(after) for node in level["nodes"].values() for after in _all(node.get("after")))
    bodies = [node["with"]["body"] for node in level["nodes"].values() if _has_body(node)]
    parallel = any(node["type"] == "parallel" for node in level["nodes"].values())
    return parallel or any(count > 1 for count in exits.values()) or any(map(is_concurrent, bodies))


def _all(after: JSON) -> Sequence[JSON]:
    return after if isinstance(after, list) else [] if after is None else [after]


def _exit(after: JSON) -> str:
    return str(after["from"] if isinstance(after, dict) else after)


def difference(plain: Effects, compiled: Effects, *, ordered: bool) -> str:
    """Returns how the calls differ, in words; empty if they do not."""
    one, other = plain.made, compiled.made
    if not ordered:
        one, other = sorted({*one}), sorted({*other})
    for number, (left, right) in enumerate(zip(one, other, strict=False), 1):
        if left != right:
            return f"call {number} of a step is {_shown(left)} in the function, and {_shown(right)} in the document"
    if len(one) != len(other):
        longer, where = (one, "function") if len(one) > len(other) else (other, "document")
        return f"only the {where} calls {_shown(longer[min(len(one), len(other))])}"
    return ""


def _shown(call: tuple[str, str]) -> str:
    return f"{call[0]} {call[1]}"
