"""What `loop` and `parallel` have in common: a body that is run once per turn, and what bounds and failures mean for it."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from stepless.limits import DEFAULT_MAX_ITERATIONS, MAX_ITERATIONS
from stepless.model.findings import Finding
from stepless.model.kind import Part
from stepless.nodes.params import Params, exactly_one, warning


class ContainerParams(Params):
    """`max_iterations` is the number of turns above which the container fails, or, with `truncate`, stops counting."""

    body: dict[str, Any]
    max_iterations: int = Field(DEFAULT_MAX_ITERATIONS, ge=1, le=MAX_ITERATIONS)
    truncate: bool = False
    on_error: Literal["stop", "continue", "drop"] = "stop"
    max_consecutive_errors: int | None = Field(None, ge=1, le=MAX_ITERATIONS)


PARTS: Final = dict.fromkeys(ContainerParams.model_fields, Part.LITERAL)
"""The fields that the compiler reads: they are the same in every run, so no reference can stand in them."""


def check_container(params: ContainerParams, path: str, modes: tuple[str, ...]) -> list[Finding]:
    findings = exactly_one(params, path, modes)
    if params.max_consecutive_errors is not None and params.on_error != "continue":
        findings.append(warning(
            "unused_parameter", f"{path}.max_consecutive_errors",
            f"it counts only under `on_error: continue`, and this is `{params.on_error}`",
            "Set `on_error: continue`, or leave it out.",
        ))
    return findings
