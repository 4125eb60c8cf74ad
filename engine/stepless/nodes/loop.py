"""`loop`: runs its body turn after turn."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Part
from stepless.nodes.container import PARTS, ContainerParams, check_container

MODES: Final = ("times", "items", "while", "do_while")


class LoopParams(ContainerParams):
    """Exactly one of `times` (a number), `items` (a list or object), `while` (tested before a turn), `do_while` (after)."""

    times: str | int | None = None
    items: str | list[Any] | dict[str, Any] | None = None
    while_: str | bool | None = Field(None, alias="while")
    do_while: str | bool | None = None


def check(params: LoopParams, path: str) -> list[Finding]:
    findings = check_container(params, path, MODES)
    if isinstance(params.times, int) and params.times < 0:
        findings.append(Finding("out_of_range", f"{path}.times", f"{params.times} turns cannot be run", "Use 0 or more."))
    return findings


KIND = Kind(
    "loop", Nature.CONTAINER, LoopParams, "runs its body turn after turn; puts out the list of results",
    parts={**dict.fromkeys(MODES, Part.EXPRESSION), **PARTS}, check=check,
)
