"""Builds one level of nodes and edges: that of a workflow, or the body of a container."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypedDict, Unpack

from stepless.builder.plain import plain, plain_after
from stepless.builder.steps import UNSET, After, Exit, Step, Unset, Value
from stepless.errors import InvalidRequest

CONTAINERS: Final = ("loop", "parallel", "distributed")


class NodeOptions(TypedDict, total=False):
    """The options that every kind of node accepts in addition to its own parameters."""

    label: str | None
    after: After | Sequence[After] | None
    enabled: bool | Mapping[str, Value]
    retry: Mapping[str, Value]
    timeout_ms: int
    delivery: Literal["at_least_once", "at_most_once"]
    join: Mapping[str, Value]
    merge: str
    on_parent_failure: Literal["skip", "propagate", "substitute_default"]
    default: Value
    input_contract: Mapping[str, Value] | None
    output_contract: Mapping[str, Value] | None
    moderation: Literal["off", "input", "output", "both"]
    moderation_on_error: Literal["block", "allow"]
    at: Sequence[int] | None


class EntryOptions(NodeOptions, total=False):
    """The options of entries: those of every node, and the schema of the run's inputs."""

    inputs: Mapping[str, Value] | None


class CallOptions(NodeOptions, total=False):
    """The options of nodes that make attempts: those of every node, and limits over all runs."""

    concurrency: Mapping[str, Value] | None
    rate: Mapping[str, Value] | None


class AnyOptions(CallOptions, EntryOptions, total=False):
    """The options of nodes of all kinds."""


class Nodes(ABC):
    """Adds nodes and edges, and keeps their order."""

    def __init__(self, level: dict[str, Any], place: str = "") -> None:
        self._level = level
        self._place = place

    def add(self, id: str, type: str, with_: Mapping[str, Value] | None = None, **options: Unpack[AnyOptions]) -> Step:
        """Adds a node of any kind, including kinds of plug-ins. `with_` are the kind's own parameters.

        Raises `InvalidRequest`: id_taken if the level already has this id, not_json for a value that JSON cannot represent.
        Everything else is checked by `validate`, or when the workflow runs.
        """
        place = f"{self._place}nodes.{id}"
        if id in self._level["nodes"]:
            message = f"there is already a node {id!r}"
            raise InvalidRequest(message, code="id_taken", place=place, mend="choose another id")
        node: dict[str, Any] = {"type": type}
        for name, value in options.items():
            node[name] = plain_after(value, f"{place}.after") if name == "after" else plain(value, f"{place}.{name}")
        if with_ is not None:
            node["with"] = plain(with_, f"{place}.with")
        self._level["nodes"][id] = node
        return self._step(id)

    def edge(
        self,
        source: str | Step | Exit,
        target: str | Step,
        *,
        handle: str | Unset = UNSET,
        param: str | Unset = UNSET,
        key: str | Unset = UNSET,
        condition: Mapping[str, Value] | Unset = UNSET,
        merge: str | Unset = UNSET,
    ) -> None:
        """Adds an edge to `edges`, which follow the edges of all `after`. An `Exit` as the source sets the `handle`."""
        if isinstance(source, Exit):
            handle = source.name if handle is UNSET else handle
            source = source.node
        edge: dict[str, Value] = {"source": _id(source), "target": _id(target)}
        given = {"handle": handle, "param": param, "key": key, "condition": condition, "merge": merge}
        edge |= {name: value for name, value in given.items() if value is not UNSET}
        edges = self._level.setdefault("edges", [])
        edges.append(plain(edge, f"{self._place}edges.{len(edges)}"))

    def _step(self, id: str) -> Step:
        node = self._level["nodes"][id]
        with_ = node.get("with") if isinstance(node, dict) else None
        body = with_.get("body") if isinstance(with_, dict) and node.get("type") in CONTAINERS else None
        if isinstance(body, dict) and isinstance(body.get("nodes"), dict):
            return self._container(id, body, f"{self._place}nodes.{id}.with.body.")
        return Step(id)

    @abstractmethod
    def _container(self, id: str, body: dict[str, Any], place: str) -> Step:
        """The container node with the methods that build its body."""


def _id(node: str | Step) -> str:
    return node.id if isinstance(node, Step) else node


def given(**params: Value) -> dict[str, Value]:
    """Returns the parameters that were given, by their names in the document: without the `_` after a name that Python
    reserves."""
    return {name.removesuffix("_"): value for name, value in params.items() if value is not UNSET}
