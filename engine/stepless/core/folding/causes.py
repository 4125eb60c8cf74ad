"""Finds the root causes of a failure (docs/understand/semantics.md#how-a-run-ends, docs/understand/semantics.md#inputs). A *root
cause* is a failure that does not result from another one. It propagates through the nodes that were skipped or failed because of
it, and out of containers and child runs, to the join and the run that report it.

Causes are computed when a decision needs them, from the settled instances; a skipped node stores none. Each scope caches computed
causes, so that every node upstream is examined once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from stepless.core.branches import is_dead, resolve
from stepless.core.state import Instance, Scope, Status
from stepless.limits import MAX_CAUSES, MAX_CAUSES_CHARACTERS

Error: TypeAlias = Mapping[str, Any]


def root_cause(error: Error) -> Error:
    """Returns the failure inside a container or child run that made it fail; any other failure is its own cause."""
    while causes := error.get("causes"):
        error = causes[0]
    return error


def note_failure(scope: Scope, instance: Instance) -> None:
    """Records why a scope failed: the first failure by index that does not result from another one and that no error edge
    handled. An instance that failed without starting has no index and comes last."""
    error = instance.error
    if error is None or error["class"] == "upstream":
        return
    later = scope.error is not None and (not instance.index or 0 < scope.error_index < instance.index)
    if not later and not resolve(instance)[0]:
        scope.error, scope.error_index, scope.cause = root_cause(error), instance.index, instance.cause


def causes_behind(instance: Instance) -> list[Error]:
    """Returns the root causes behind the dead branches of an unsatisfied join, in edge order, each once. At most MAX_CAUSES,
    their messages shortened to MAX_CAUSES_CHARACTERS together."""
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
    """The sources of an instance's dead branches, in edge order; for a settled instance, those that were dead when it settled."""
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
    """Merges several lists. Where the result equals the first list, returns that list, so that long chains share it."""
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
    space = MAX_CAUSES_CHARACTERS // max(1, len(causes))
    return [cause if len(str(cause["message"])) <= space else {**cause, "message": cause["message"][:space]} for cause in causes]
