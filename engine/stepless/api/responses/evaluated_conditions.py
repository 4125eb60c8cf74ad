"""Renders the evaluated conditions in the record of a node."""

from __future__ import annotations

from typing_extensions import TypedDict

from stepless.model.json import JSON


class LoopedOut(TypedDict):
    """The last value that decided a container: its parameter `mode` had this `value`; of a test, before the iteration `turn`.
    `preview` has the beginning of a value that is too large to be shown."""

    mode: str
    value: JSON
    preview: str | None
    turn: int | None


class TestedOut(TypedDict):
    """The condition of an edge from the exit by which a node has left: `test` with `operand`, over the `value` that the edge
    carried, and whether it `held`."""

    handle: str
    target: str
    test: str
    operand: JSON
    value: JSON
    preview: str | None
    held: bool
