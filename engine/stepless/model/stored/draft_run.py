"""Reads and writes the metadata of the temporary version of a test run."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stepless.model.json import JSON

DRAFT: Final = "draft:"
"""Begins the name of a version that was made of a draft for one run: after it comes the key of the blob that has the version."""
_NO_PINS: Final[Mapping[str, Any]] = MappingProxyType({})


class Pin(NamedTuple):
    """The output that a node has in a test run instead of working, and the exit by which it leaves; None: by its first one."""

    output: JSON
    handle: str | None = None

    def written(self) -> dict[str, JSON]:
        return {"output": self.output} | ({} if self.handle is None else {"handle": self.handle})


class DraftRun(NamedTuple):
    """`pins` are by the path of the node: its id, and the containers around it (`price@each`). After `stop_after`, a node at the
    top level, nothing runs."""

    pins: Mapping[str, Pin] = _NO_PINS
    stop_after: str | None = None

    def written(self) -> dict[str, JSON]:
        pins = {path: pin.written() for path, pin in self.pins.items()}
        return {"pins": pins} | ({} if self.stop_after is None else {"stop_after": self.stop_after})


def read_draft_run(written: Mapping[str, Any]) -> DraftRun:
    pins = {path: Pin(pin["output"], pin.get("handle")) for path, pin in written["pins"].items()}
    return DraftRun(pins, written.get("stop_after"))
