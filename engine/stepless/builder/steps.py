"""Represents nodes and exits as other nodes use them: in `after`, and as values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, TypeAlias

from stepless.builder.ref import Ref


class Unset(Enum):
    """The argument was not given, which differs from None."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
Value: TypeAlias = Any
"""JSON that may contain a `Ref` or a `Step` (its whole output) in place of any value, at any depth."""


class _Source(ABC):
    """The source of an edge."""

    __slots__ = ()

    @property
    @abstractmethod
    def written(self) -> str:
        """The text in `after`: `node` or `node.exit`."""

    def into(
        self,
        param: str | Unset = UNSET,
        *,
        key: str | Unset = UNSET,
        condition: Mapping[str, Value] | Unset = UNSET,
        merge: str | Unset = UNSET,
    ) -> dict[str, Value]:
        """Returns an edge with details, for `after`: the input that it feeds, the part of the output that it carries, its
        condition, and how several values merge."""
        given = {"param": param, "key": key, "condition": condition, "merge": merge}
        return {"from": self.written, **{name: value for name, value in given.items() if value is not UNSET}}


class Exit(_Source):
    """An exit of a node, for `after`: `triage["auto"]`, `score["error"]`."""

    __slots__ = ("node", "name")

    def __init__(self, node: str, name: str) -> None:
        self.node = node
        self.name = name

    @property
    def written(self) -> str:
        return f"{self.node}.{self.name}"

    def __repr__(self) -> str:
        return f"Exit({self.written!r})"


class Step(_Source):
    """A node of the workflow. `step["approved"]` is one of its exits, `step.ref` its output. In `after` a step means its exit
    `source`; as a value and in a text it means `<id>`, the whole output."""

    __slots__ = ("id",)

    def __init__(self, id: str) -> None:
        self.id = id

    @property
    def written(self) -> str:
        return self.id

    @property
    def ref(self) -> Ref:
        """The node's output: `order.ref.body.order_id` is `<order.body.order_id>`. After a failure, `ref.error` is the error."""
        return Ref(self.id)

    def __getitem__(self, exit: str) -> Exit:
        return Exit(self.id, exit)

    __iter__ = None

    def __str__(self) -> str:
        return str(self.ref)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"


After: TypeAlias = str | Step | Exit | Mapping[str, Value]
"""One incoming edge: a node (or its id), an exit (or `node.exit`), or `into(…)`."""
