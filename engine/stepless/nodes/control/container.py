"""Defines what `loop` and `parallel` share: a body that runs once per iteration, its limits, and the effect of failed
iterations."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from stepless.limits import DEFAULT_MAX_ITERATIONS, MAX_ITERATIONS
from stepless.model.findings import Finding
from stepless.model.kind import Bounds, Part
from stepless.nodes.params import Params, exactly_one, warning


class ContainerParams(Params):
    """The body, the limit of iterations, and the effect of a failed iteration."""

    body: dict[str, Any]
    """The graph of one iteration: `nodes` and, optionally, `edges`."""
    max_iterations: int = Field(DEFAULT_MAX_ITERATIONS, ge=1, le=MAX_ITERATIONS)
    """The container fails if it needs more iterations than this."""
    truncate: bool = False
    """Omits the iterations beyond `max_iterations` instead of failing."""
    on_error: Literal["stop", "continue", "drop"] = "stop"
    """After a failed iteration: `stop` starts no new iteration and fails the container, `continue` marks the iteration in the
    results, `drop` omits it from them."""
    max_consecutive_errors: int | None = Field(None, ge=1, le=MAX_ITERATIONS)
    """With `on_error: continue`: the container fails after this many failed iterations in a row."""


PARTS: Final = dict.fromkeys(ContainerParams.model_fields, Part.LITERAL)
"""The fields that the compiler reads. They are the same in every run, so they cannot contain references."""


def bounds(params: ContainerParams, window: int = 1) -> Bounds:
    return Bounds(window, params.max_iterations, params.truncate, params.on_error, params.max_consecutive_errors)


def check_container(params: ContainerParams, path: str, modes: tuple[str, ...]) -> list[Finding]:
    findings = exactly_one(params, path, modes)
    if params.max_consecutive_errors is not None and params.on_error != "continue":
        findings.append(warning(
            "unused_parameter", f"{path}.max_consecutive_errors",
            f"it has an effect only with `on_error: continue`; found `on_error: {params.on_error}`",
            "Set `on_error: continue`, or leave it out.",
        ))
    return findings
