"""`router`: lets a model choose the exit."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from stepless.limits import MAX_CASES, MAX_MESSAGE_CHARACTERS
from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Part
from stepless.nodes.params import Name, Params, reserved_exits

Description = Annotated[str, StringConstraints(max_length=MAX_MESSAGE_CHARACTERS)]


class RouterParams(Params):
    """`routes` maps exits to the descriptions that the model chooses by; `prompt` is what it is asked about, the merged
    input when left out."""

    routes: dict[Name, Description] = Field(min_length=1, max_length=MAX_CASES)
    provider: str | None = Field(None, min_length=1)
    model: str | None = Field(None, min_length=1)
    system: str | None = None
    prompt: str | None = None


def exits(params: RouterParams) -> tuple[str, ...]:
    return tuple(params.routes)


def check(params: RouterParams, path: str) -> list[Finding]:
    return reserved_exits(params.routes, f"{path}.routes")


KIND = Kind(
    "router", Nature.EFFECT, RouterParams, "lets a model choose one of its routes; puts out route, reasoning and alternatives",
    exits=exits, parts={"routes": Part.LITERAL}, check=check,
)
