"""What `loop` and `parallel` have in common: a body that is run once per turn, and what bounds and failures mean for it."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from stepless.limits import DEFAULT_MAX_ITERATIONS, MAX_ITERATIONS
from stepless.model.findings import Finding
from stepless.model.kind import Bounds, Part
from stepless.nodes.params import Params, exactly_one, warning


class ContainerParams(Params):
    """The body, how many turns there may be, and what a failed one means."""

    body: dict[str, Any]
    """The graph of one turn: `nodes` and, if wanted, `edges`."""
    max_iterations: int = Field(DEFAULT_MAX_ITERATIONS, ge=1, le=MAX_ITERATIONS)
    """More turns than this fail the container."""
    truncate: bool = False
    """More turns than `max_iterations` are left out instead."""
    on_error: Literal["stop", "continue", "drop"] = "stop"
    """After a failed turn: no new turn is started and the container fails (`stop`), the turn is marked in the results
    (`continue`), or it is left out of them (`drop`)."""
    max_consecutive_errors: int | None = Field(None, ge=1, le=MAX_ITERATIONS)
    """With `on_error: continue`: so many failed turns in a row fail the container."""


PARTS: Final = dict.fromkeys(ContainerParams.model_fields, Part.LITERAL)
"""The fields that the compiler reads: they are the same in every run, so no reference can stand in them."""


def bounds(params: ContainerParams, window: int = 1) -> Bounds:
    return Bounds(window, params.max_iterations, params.truncate, params.on_error, params.max_consecutive_errors)


def check_container(params: ContainerParams, path: str, modes: tuple[str, ...]) -> list[Finding]:
    findings = exactly_one(params, path, modes)
    if params.max_consecutive_errors is not None and params.on_error != "continue":
        findings.append(warning(
            "unused_parameter", f"{path}.max_consecutive_errors",
            f"it counts only under `on_error: continue`, and this is `{params.on_error}`",
            "Set `on_error: continue`, or leave it out.",
        ))
    return findings
