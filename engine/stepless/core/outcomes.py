"""Computes what a rerun takes over from the log of the former run (docs/understand/semantics.md#reruns).

`Former` folds the former log and records how each instance settled. `Former.outcomes` then keeps the outcomes that stay, in the
order in which the instances settled:

* completed instances, also inside the iterations of a container that did not complete; a completed container as a whole;
* failures that the graph has dealt with: an error edge leads away from the instance, every node that needed it has started
  without it, or its loop has gone on after the iteration;
* losers of a join that has started.

Everything else is left out and runs again: what failed, was cancelled in flight or skipped because of a failure, and what was
never reached. An instance that runs again although its former outcome is unknown keeps its token.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from stepless.core.branches import LOST, SATISFIED
from stepless.core.events import NODE_FAILURES, Event, EventType
from stepless.core.fold import apply, subject
from stepless.core.rerun_targets import Target, target_of
from stepless.core.reused_outcomes import Payload, by_event, outcomes_of
from stepless.core.state import Instance, State, Status
from stepless.model.effects.call import token_of
from stepless.model.graph import Body, Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import Nature

UNKNOWN: Final = frozenset({"timeout", "outcome_unknown", "crashed", "connection_failed", "protocol_error"})
"""Codes of failures after which the effect may or may not have happened."""
_COMPLETED_KEYS: Final = ("handle", "halt", "break", "response", "usage")

Ends: TypeAlias = "dict[str, _End]"


class _End(NamedTuple):
    """How an instance settled. `payload` is that of its outcome; `unknown` says that its effect may have happened."""

    status: Status
    sequence: int
    payload: Payload
    started: bool
    reason: str
    unknown: bool
    upstream: bool
    child: str
    token: str  # what its last attempt had, unless the run itself had taken over another one


class _Group(NamedTuple):
    """How one scope is read: the positions that run again although they completed, and whether every failure in it stays."""

    again: frozenset[int] = frozenset()
    keeps_all: bool = False
    inner: Target | None = None  # inside which container the rerun begins


class Former:
    """Reads the log of the former run, event by event. `target` is where a rerun begins in addition to what failed; with
    `edited`, the entries run again, too."""

    def __init__(self, graph: Graph, run_id: str, target: Target | None = None, *, edited: bool = False) -> None:
        self.state = State(graph, run_id)
        self._graph = graph
        self._target = target
        self._edited = edited
        self._open = target.owners if target is not None else frozenset()
        self._scopes: dict[str, Ends] = {"": {}}  # by the suffix of their instances: iterations as their attempts counted them
        self._suffixes = {"": ""}  # that suffix, by the one that the instances have: a later attempt of a container counts on
        self._first: dict[str, int] = {}  # the index of the first iteration of the last attempt, by container
        self._iterations: dict[str, list[str]] = {}  # suffixes of the iterations of each container that has not completed
        self._last: dict[str, bool] = {}  # whether the last attempt of a waiting instance has an unknown outcome
        self._child: dict[str, str] = {}  # the child run of each instance that has not settled
        self._inherited: OrderedDict[str, Payload] = OrderedDict()
        self._tokens: Mapping[str, str] = {}
        self._calls: Mapping[str, str] = {}

    def add(self, event: Event) -> None:
        """Takes the next event of the log. Raises as `fold` does."""
        state = self.state
        instance = subject(state, event)
        before = instance.status if instance is not None else Status.PENDING
        waiting = instance.wait.reason if instance is not None and instance.wait is not None else ""
        if event.type is EventType.RUN_STARTED:
            self._inherited = outcomes_of(event.data)
            kept = event.data.get("kept", {})
            self._tokens, self._calls = kept.get("tokens", {}), kept.get("calls", {})
        apply(state, event, instance)
        state.notes.clear()
        if instance is None:
            return
        match event.type:
            case EventType.LOOP_STARTED:
                self._first[instance.id] = event.data.get("first", 0)
            case EventType.LOOP_NEXT:
                index, number = event.data["index"], event.data["index"] - self._first.get(instance.id, 0)
                around = self._suffixes[instance.scope.suffix]
                suffix = f"@{instance.node.id}[{number}]{around}"
                self._suffixes[f"@{instance.node.id}[{index}]{instance.scope.suffix}"] = suffix
                self._iterations.setdefault(instance.node.id + around, []).append(suffix)
                self._scopes[suffix] = {}
            case EventType.NODE_RETRIED:
                if instance.node.container is not None:  # the next attempt has iterations of its own
                    self._forget(self._name_of(instance))
                self._last[instance.id] = event.data.get("code") in UNKNOWN or event.data.get("code") == "cut_off"
            case EventType.NODE_WAITING if event.data.get("reason") == "subrun":
                self._child[instance.id] = str(event.data["details"].get("run", ""))
            case _ if instance.settled and instance.settled_sequence == event.sequence:
                self._settle(instance, event, before, waiting)

    def _settle(self, instance: Instance, event: Event, before: Status, waiting: str) -> None:
        last = self._last.pop(instance.id, False)
        child = self._child.pop(instance.id, "")
        payload: dict[str, Any] = {}
        unknown = upstream = False
        if event.type is EventType.NODE_COMPLETED:
            payload = {name: event.data[name] for name in _COMPLETED_KEYS if name in event.data}
            payload["output"] = instance.value
            if variables := event.data.get("variables") or _written(instance):
                payload["variables"] = variables
            if instance.substituted:
                payload["substituted"] = True
            if instance.node.container is not None and instance.id not in self._open:
                self._forget(self._name_of(instance))
        elif event.type in NODE_FAILURES:
            error = event.data["error"]
            payload = {"error": error, "type": event.type.value, "started": bool(instance.index)}
            payload |= {"exception": event.data["exception"]} if "exception" in event.data else {}
            if instance.node.container is not None and (variables := _written(instance)):
                payload["variables"] = variables
            unknown, upstream = error.get("code") in UNKNOWN, error.get("class") == "upstream"
        elif event.type is EventType.NODE_CANCELLED:
            payload = {"reason": instance.reason}
            in_flight = before is Status.RUNNING or (before is Status.WAITING and waiting != "retry_backoff")
            unknown = in_flight or last
        token = self._tokens.get(instance.id) or token_of(self.state.run_id, instance.id, instance.used)
        self._scopes[self._suffixes[instance.scope.suffix]][instance.node.id] = _End(
            instance.status, event.sequence, payload, bool(instance.index), instance.reason, unknown, upstream, child, token
        )

    def _name_of(self, instance: Instance) -> str:
        return instance.node.id + self._suffixes[instance.scope.suffix]

    def _forget(self, owner: str) -> None:
        """Drops what is known of the iterations of a container that completed: its own outcome stands for them."""
        stack = [owner]
        while stack:
            for suffix in self._iterations.pop(stack.pop(), ()):
                stack += [name + suffix for name in self._scopes.pop(suffix, ()) if name + suffix in self._iterations]

    # -- what stays --------------------------------------------------------------------------------------------------

    @cached_property
    def _place(self) -> Target | None:
        """The target, with the number of each iteration in the last attempt of its container. None without a target, and for one
        in an attempt that was repeated. Only after the whole log was read."""
        if self._target is None:
            return None
        suffix, iterations = "", list[tuple[str, int]]()
        for name, index in self._target.iterations:
            iterations.append((name, index - self._first.get(name + suffix, 0)))
            suffix = f"@{name}[{index}]{suffix}"
        return None if any(number < 0 for _, number in iterations) else Target(tuple(iterations), self._target.node)

    @cached_property
    def _around(self) -> frozenset[str]:
        """The containers around the target."""
        return self._place.owners if self._place is not None else frozenset()

    def reached(self) -> bool:
        """Returns whether the target ran, or everything that it directly needs completed or failed along an error edge."""
        if self._target is None:
            return True
        found = self._body_of(self._place) if self._place is not None else None
        if found is None:
            return False
        body, suffix = found
        ends = self._scopes.get(suffix)
        if ends is None:
            return False
        node = body.nodes[body.positions[self._target.node]]
        instance = self.state.find(self._target.id)
        if ((end := ends.get(node.id)) is not None and end.started) or (instance is not None and instance.index):
            return True
        return all(
            (source := ends.get(body.nodes[branch].id)) is not None and source.status is Status.COMPLETED
            for branch in node.branches
        ) and (bool(node.branches) or bool(suffix))

    def missing(self) -> tuple[str, ...]:
        """Returns the direct predecessors of the target that did not complete."""
        found = self._body_of(self._place) if self._place is not None else None
        if found is None or self._target is None:
            return ()
        body, suffix = found
        ends = self._scopes.get(suffix, {})
        sources = (body.nodes[branch].id for branch in body.nodes[body.positions[self._target.node]].branches)
        return tuple(
            source for source in sources if (end := ends.get(source)) is None or end.status is not Status.COMPLETED
        )

    def _body_of(self, target: Target) -> tuple[Body, str] | None:
        """The body with the node of a target, and the suffix of its instances; None where the graph has no such node."""
        body, suffix = self._graph.root, ""
        for name, index in target.iterations:
            position = body.positions.get(name)
            container = body.nodes[position].container if position is not None else None
            if container is None:
                return None
            body, suffix = container.body, f"@{name}[{index}]{suffix}"
        return (body, suffix) if target.node in body.positions else None

    def outcomes(self) -> tuple[Mapping[str, Payload], Mapping[str, JSON]]:
        """Returns the outcomes that a rerun takes over, in the form in which `run.started` stores it: `reused` and `kept`."""
        stays: list[tuple[int, str, Payload]] = []
        tokens: dict[str, str] = {}
        calls: dict[str, str] = {}
        left_out: set[str] = set()
        for node, suffix, end, kept, named in self._walk():
            name = node.id + suffix
            if kept and end is not None:
                stays.append((end.sequence, name, end.payload))
                continue
            if named:
                left_out.add(name)
            self._note_again(node, name, end, named, tokens, calls)
        stays.sort(key=lambda one: one[0])
        ordered = OrderedDict((name, payload) for _, name, payload in stays)
        for name, payload in self._inherited.items():
            if name not in ordered and self._is_unused(name, ordered, left_out):
                ordered[name] = payload
        for mine, given in ((tokens, self._tokens), (calls, self._calls)):
            mine.update({name: text for name, text in given.items() if self._is_unused(name, ordered, left_out)})
        return by_event(ordered, tokens, calls)

    def _note_again(
        self, node: Node, name: str, end: _End | None, named: bool, tokens: dict[str, str], calls: dict[str, str]
    ) -> None:
        """Notes the token of an instance that runs again, or the child run that its call repeats."""
        again = named and self._place is not None and name != self._place.id
        if node.kind.nature is not Nature.EFFECT or again:
            return  # what comes after the target has other inputs: it is no repetition
        if end is None or not end.started:
            return  # what it has of an earlier run is passed on
        if node.kind.calls_runs:
            if end.status is not Status.COMPLETED and (end.child or end.unknown):
                calls[name] = end.child or end.token
        elif end.unknown:
            tokens[name] = end.token

    def _is_unused(self, name: str, ordered: Mapping[str, Payload], left_out: set[str]) -> bool:
        """Whether what this run itself took over for an instance was not used before it ended, and can still be used."""
        target = target_of(name)
        if target is None or self._comes_after(target):
            return False
        owners = target.owners
        if name in left_out or owners & left_out or any(owner in ordered for owner in owners):
            return False
        _, _, suffix = name.partition("@")
        end = self._scopes.get(f"@{suffix}" if suffix else "", {}).get(target.node)
        return end is None or (end.status is Status.CANCELLED and not end.started)

    def _walk(self) -> Iterator[tuple[Node, str, _End | None, bool, bool]]:
        """Every instance of the scopes that count: node, suffix, end, whether its outcome stays, and whether it runs again
        because of the target."""
        root = self._graph.root
        stack: list[tuple[Body, str, _Group]] = [(root, "", self._begun(root, "", _Group(), self._place))]
        while stack:
            body, suffix, group = stack.pop()
            ends = self._scopes.get(suffix, {})
            dealt = _dealt_with(body, ends)
            for node in body.nodes:
                name, end = node.id + suffix, ends.get(node.id)
                named = node.position in group.again
                kept = not named and name not in self._around and self._stays(node, end, group, dealt)
                yield node, suffix, end, kept, named
                if node.container is not None and not kept and not named:
                    stack += self._inside(node, name, end, group)

    def _comes_after(self, target: Target) -> bool:
        """Whether an instance is in an iteration of a loop after the one in which the rerun begins."""
        body, begun = self._graph.root, self._place.iterations if self._place is not None else ()
        for (name, index), (owner, here) in zip(target.iterations, begun, strict=False):
            container = body.nodes[body.positions[name]].container if name == owner and name in body.positions else None
            if container is None or index != here:
                return container is not None and not container.parallel and index > here
            body = container.body
        return False

    def _stays(self, node: Node, end: _End | None, group: _Group, dealt: frozenset[int]) -> bool:
        if end is None:
            return False
        if end.status is Status.COMPLETED:
            return not (self._edited and node.kind.nature is Nature.ENTRY)
        if end.status is Status.FAILED:
            return group.keeps_all or "error" in node.handles or node.position in dealt
        return end.status is Status.CANCELLED and end.reason == SATISFIED

    def _inside(self, node: Node, name: str, end: _End | None, group: _Group) -> Iterator[tuple[Body, str, _Group]]:
        """The iterations of a container that runs again, each with how it is read."""
        container = node.container
        suffixes = self._iterations.get(name, ())
        if container is None:
            return
        begun = group.inner if group.inner is not None and name in self._around else None
        here = begun.iterations[name.count("@")][1] if begun is not None else None
        settled = end is not None and (end.status is Status.COMPLETED or "error" in node.handles)
        last = -1
        if not container.parallel:
            sound = (at for at, suffix in enumerate(suffixes) if not _is_bad(container.body, self._scopes[suffix]))
            last = here if here is not None else max(sound, default=-1)
        for at, suffix in enumerate(suffixes):
            if begun is not None and at == here:
                yield container.body, suffix, self._begun(container.body, suffix, group, begun)
            elif not container.parallel:
                if here is None or at < here:
                    yield container.body, suffix, _Group(keeps_all=group.keeps_all or at < last)
                else:  # after the iteration that runs again, each iteration has other variables
                    yield container.body, suffix, _Group(frozenset(range(len(container.body.nodes))))
            else:
                yield container.body, suffix, _Group(keeps_all=group.keeps_all or (begun is not None and settled))

    def _begun(self, body: Body, suffix: str, group: _Group, target: Target | None) -> _Group:
        """How the scope in which the target is, or a container around it, is read."""
        if target is None:
            return group
        depth = suffix.count("@")
        name = target.iterations[depth][0] if depth < len(target.iterations) else target.node
        start = body.positions.get(name)
        if start is None:
            return group
        again = downstream(body, start)
        return _Group(again if depth == len(target.iterations) else again - {start}, group.keeps_all, target)


def downstream(body: Body, start: int) -> frozenset[int]:
    """Returns a node and all nodes downstream of it."""
    seen, stack = {start}, [start]
    while stack:
        for target in body.nodes[stack.pop()].targets:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return frozenset(seen)


def _dealt_with(body: Body, ends: Ends) -> frozenset[int]:
    """The failed and skipped nodes of a scope whose failure every node after them has dealt with."""
    dealt: set[int] = set()
    if not any(end.status is Status.FAILED for end in ends.values()):
        return frozenset()
    for node in sorted(body.nodes, key=lambda node: -node.wave):  # every target before its sources
        if node.targets and all(_is_over(body.nodes[target], ends, dealt) for target in node.targets):
            dealt.add(node.position)
    return frozenset(dealt)


def _is_over(node: Node, ends: Ends, dealt: set[int]) -> bool:
    """Whether a node does not depend on the failure of one of its sources any more."""
    end = ends.get(node.id)
    if end is None:
        return False
    if end.started or end.status is Status.COMPLETED:
        return True
    match end.status:
        case Status.FAILED:
            return "error" in node.handles or (end.upstream and node.position in dealt)
        case Status.SKIPPED if end.reason == "upstream_failure":
            return node.position in dealt
        case Status.SKIPPED:
            return end.reason == "branch_not_taken" or end.reason in LOST
    return end.reason in LOST


def _is_bad(body: Body, ends: Ends) -> bool:
    """Whether an iteration failed: one of its leaves failed, or was skipped after a failure."""
    leaves = (ends.get(body.nodes[position].id) for position in body.leaves)
    return any(
        leaf is not None
        and (leaf.status is Status.FAILED or (leaf.status is Status.SKIPPED and leaf.reason == "upstream_failure"))
        for leaf in leaves
    )


def _written(instance: Instance) -> dict[str, JSON]:
    """The variables that a container wrote."""
    if instance.node.container is None:
        return {}
    return {name: cell.value for name, cell in instance.cells.items() if cell.writer == instance.node.position}
