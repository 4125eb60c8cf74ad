"""Defines the kind `loop`, which runs its body several times, one iteration after another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Literal

from pydantic import Field

from stepless.model.findings import Finding
from stepless.model.kind import Bounds, ContainerSpec, Kind, Nature, Part
from stepless.nodes.control.container import PARTS, ContainerParams, bounds, check_container

MODES: Final = ("times", "items", "while", "do_while")


class LoopParams(ContainerParams):
    """Exactly one of `times`, `items`, `while` and `do_while` sets the number of iterations."""

    times: str | int | None = None
    """The number of iterations."""
    items: str | list[Any] | dict[str, Any] | None = None
    """One iteration for each item of a list, or for each [key, value] of an object."""
    while_: str | bool | None = Field(None, alias="while")
    """Runs iterations while this is true; tested before each iteration."""
    do_while: str | bool | None = None
    """Runs iterations while this is true; tested after each iteration, so there is at least one."""
    results: Literal["list", "none"] = "list"
    """The output of the loop: the `list` of its iterations' results, or null (`none`): then no result is kept."""
    keep_writes: bool = False
    """Keeps the variables that a failed iteration wrote: for the iterations after it and, when the loop fails, for the nodes
    after its `error` edge. By default a failed iteration writes nothing, and a failed loop has the variables from before it."""


def check(params: LoopParams, path: str) -> list[Finding]:
    findings = check_container(params, path, MODES)
    if isinstance(params.times, int) and params.times < 0:
        findings.append(Finding("out_of_range", f"{path}.times", f"there cannot be {params.times} iterations", "Use 0 or more."))
    return findings


def loop_bounds(params: LoopParams) -> Bounds:
    return replace(bounds(params), keeps_results=params.results == "list", keeps_writes=params.keep_writes)


KIND = Kind(
    "loop", Nature.CONTAINER, LoopParams, "runs its body once per item, or while a condition holds; returns the list of results",
    parts={**dict.fromkeys(MODES, Part.EXPRESSION), "results": Part.LITERAL, "keep_writes": Part.LITERAL, **PARTS}, check=check,
    container=ContainerSpec(MODES, parallel=False, bounds=loop_bounds),
    brief=MODES, output_fields=lambda written: (),
    icon="M4 6.2A4.6 4.6 0 0 1 12.3 6M12 9.8A4.6 4.6 0 0 1 3.7 10M12.6 3v3.2H9.4M3.4 13V9.8h3.2",
)
