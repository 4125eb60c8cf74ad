"""What is behind a failure (docs/semantics.md#how-a-run-ends, docs/semantics.md#inputs). A *root cause* is a failure that is no
consequence of another one: it travels through the nodes that were skipped or failed because of it, out of containers and child
runs, to the join and the run that tell it.

Causes are worked out when a decision asks for them, from what settled before; nothing is written down for a node that is
skipped. What was worked out for one is kept with its scope, so that every node above is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from stepless.core.branches import is_dead, resolve
from stepless.core.state import Instance, Scope, Status
from stepless.limits import MAX_CAUSES, MAX_CAUSES_CHARACTERS

Error: TypeAlias = Mapping[str, Any]


def root_cause(error: Error) -> Error:
    """The failure inside a container or child run that failed of it; any other failure is its own cause."""
    while causes := error.get("causes"):
        error = causes[0]
    return error


def note_failure(scope: Scope, instance: Instance) -> None:
    """What a scope failed of: the first failure by index, unless it is a mere consequence or an error edge took it. What failed
    without having started has no index and comes last."""
    error = instance.error
    if error is None or error["class"] == "upstream":
        return
    later = scope.error is not None and (not instance.index or 0 < scope.error_index < instance.index)
    if not later and not resolve(instance)[0]:
        scope.error, scope.error_index = root_cause(error), instance.index


def causes_behind(instance: Instance) -> list[Error]:
    """The root causes behind the dead branches of an unsatisfied join, in edge order, each once. At most MAX_CAUSES, their
    messages shortened to MAX_CAUSES_CHARACTERS together."""
    known = instance.scope.causes
    stack = [instance]
    while stack:
        above = [source for source in _dead_sources(stack[-1]) if _is_open(source, known)]
        if above:
            stack += above
        else:
            last = stack.pop()
            known[last.node.position] = _merged(_roots(source, known) for source in _dead_sources(last))
    return _shortened(known.pop(instance.node.position))


def _dead_sources(instance: Instance) -> list[Instance]:
    """The sources of its dead branches, in edge order; of a settled instance those that were dead when it settled."""
    sources = (instance.scope.instances[branch] for branch in instance.node.branches)
    until = instance.settled_sequence
    return [
        source
        for source in sources
        if source is not None and source.settled and is_dead(source) and not 0 < until < source.settled_sequence
    ]


def _is_open(source: Instance, known: Mapping[int, tuple[Error, ...]]) -> bool:
    return source.status is Status.SKIPPED and source.node.position not in known


def _roots(source: Instance, known: Mapping[int, tuple[Error, ...]]) -> tuple[Error, ...]:
    """The root causes of one dead branch."""
    error = source.error
    if error is None:
        return known.get(source.node.position, ())
    if error["class"] == "upstream":
        return tuple(error.get("causes", ()))
    return (root_cause(error),)


def _merged(lists: Iterable[tuple[Error, ...]]) -> tuple[Error, ...]:
    """Several lists as one. A list that says no more than one of them is that one, so that long chains share it."""
    first: tuple[Error, ...] = ()
    found: dict[tuple[Any, Any], Error] = {}
    for causes in lists:
        if causes is first:
            continue
        first = first or causes
        for cause in causes:
            found.setdefault((cause.get("run"), cause.get("node")), cause)
        if len(found) >= MAX_CAUSES:
            break
    return first if len(found) == len(first) else tuple(found.values())[:MAX_CAUSES]


def _shortened(causes: tuple[Error, ...]) -> list[Error]:
    room = MAX_CAUSES_CHARACTERS // max(1, len(causes))
    return [cause if len(str(cause["message"])) <= room else {**cause, "message": cause["message"][:room]} for cause in causes]
