"""`loop`: runs its body turn after turn."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Part
from stepless.nodes.container import PARTS, ContainerParams, check_container

MODES: Final = ("times", "items", "while", "do_while")


class LoopParams(ContainerParams):
    """Exactly one of `times`, `items`, `while` and `do_while` says how many turns there are."""

    times: str | int | None = None
    """So many turns."""
    items: str | list[Any] | dict[str, Any] | None = None
    """A turn for each item of a list, or for each [key, value] of an object."""
    while_: str | bool | None = Field(None, alias="while")
    """Turns as long as this holds, tested before each."""
    do_while: str | bool | None = None
    """Turns as long as this holds, tested after each: at least one."""


def check(params: LoopParams, path: str) -> list[Finding]:
    findings = check_container(params, path, MODES)
    if isinstance(params.times, int) and params.times < 0:
        findings.append(Finding("out_of_range", f"{path}.times", f"{params.times} turns cannot be run", "Use 0 or more."))
    return findings


KIND = Kind(
    "loop", Nature.CONTAINER, LoopParams, "runs its body turn after turn; puts out the list of results",
    parts={**dict.fromkeys(MODES, Part.EXPRESSION), **PARTS}, check=check,
)
