"""Defines the kind `parallel`, which runs its body for several branches at once."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from stepless.limits import DEFAULT_WINDOW, MAX_IN_FLIGHT
from stepless.model.findings import Finding
from stepless.model.kind import ContainerSpec, Kind, Nature, Part
from stepless.nodes.control.container import PARTS, ContainerParams, bounds, check_container

MODES: Final = ("branches", "items")


class ParallelParams(ContainerParams):
    """Exactly one of `branches` and `items` sets the number of iterations."""

    branches: str | int | None = None
    """The number of iterations."""
    items: str | list[Any] | dict[str, Any] | None = None
    """One iteration for each item of a list, or for each [key, value] of an object."""
    window: int = Field(DEFAULT_WINDOW, ge=1, le=MAX_IN_FLIGHT)
    """How many iterations run at once."""


def check(params: ParallelParams, path: str) -> list[Finding]:
    findings = check_container(params, path, MODES)
    if isinstance(params.branches, int) and params.branches < 0:
        message = f"there cannot be {params.branches} branches"
        findings.append(Finding("out_of_range", f"{path}.branches", message, "Use 0 or more."))
    return findings


KIND = Kind(
    "parallel", Nature.CONTAINER, ParallelParams, "runs its body for several branches at once; returns the list of results",
    parts={**dict.fromkeys(MODES, Part.EXPRESSION), "window": Part.LITERAL, **PARTS}, check=check,
    container=ContainerSpec(MODES, parallel=True, bounds=lambda params: bounds(params, params.window)),
    brief=MODES, output_fields=lambda written: (),
    icon="M2.5 3.5h11M2.5 8h11M2.5 12.5h11",
)
