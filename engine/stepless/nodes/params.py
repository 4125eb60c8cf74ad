"""What the parameters of all kinds have in common: strictness, durations, and validation once references are filled in."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError, WithJsonSchema

from stepless.errors import ConfigError
from stepless.limits import MAX_ID_CHARACTERS
from stepless.model.durations import DURATION_SCHEMA
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON
from stepless.model.kind import no_findings
from stepless.model.misfits import misfits, read_duration_ms
from stepless.model.work import NodeFailure
from stepless.ports import Call


class Params(BaseModel):
    """Base of every kind's `with`: unknown fields are refused, and no type is taken for another (`"3"` is no 3)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)  # a run needs few of them


def _readable(text: object) -> object:
    read_duration_ms(text)
    return text


Duration = Annotated[str, BeforeValidator(_readable), WithJsonSchema(dict(DURATION_SCHEMA))]
Scalar = str | int | float | bool
Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_CHARACTERS)]
P = TypeVar("P", bound=Params)

_SHOWN_FAULTS = 5


def rendered(
    model: type[P], *parts: Mapping[str, JSON], check: Callable[[P, str], list[Finding]] = no_findings,
) -> P:
    """The parameters as `model`, from the filled-in `parts`. Raises `ConfigError` naming the field: what publishing could
    not judge, because it was a reference then, is judged here by the same rules."""
    given = {name: value for part in parts for name, value in part.items()}
    try:
        params = model.model_validate(given)
    except ValidationError as refused:
        faults = misfits(refused.errors(include_url=False), given)
        place = ".".join(map(str, ("with", *faults[0].place)))
        told = "; ".join(f"`{'.'.join(map(str, fault.place))}` {fault.told(quoted=False)}" for fault in faults[:_SHOWN_FAULTS])
        raise ConfigError(told, place=place, mend="mend the parameter, or what its reference reads") from refused
    for finding in check(params, "with"):
        if finding.severity is Severity.ERROR:
            raise ConfigError(finding.message, code=finding.code, place=finding.path, mend=finding.mend)
    return params


def params_of(model: type[P], call: Call, *, check: Callable[[P, str], list[Finding]] = no_findings) -> P:
    """`rendered`, for an attempt: what does not fit is a `NodeFailure` (config) that another attempt would not mend."""
    try:
        return rendered(model, call.params, call.literals, check=check)
    except ConfigError as error:
        told = f"{error.place}: {error.message}"
        raise NodeFailure("config", error.code, told, retryable=False, mend=error.mend) from error


def exactly_one(params: BaseModel, path: str, names: tuple[str, ...]) -> list[Finding]:
    """A finding unless one and only one of the fields is given. `names` are as in the document (`for`, `while`)."""
    fields = {name: f"{name}_" if keyword.iskeyword(name) else name for name in names}
    given = [name for name, field in fields.items() if getattr(params, field) is not None]
    if len(given) == 1:
        return []
    null = [f"`{name}` is null" for name, field in fields.items() if name not in given and field in params.model_fields_set]
    wanted = ", ".join(f"`{name}`" for name in names)
    told = "given are " + ", ".join(f"`{name}`" for name in given) if given else ", ".join(null) or "none is given"
    return [Finding("exactly_one", path, f"exactly one of {wanted} is needed; {told}", "Keep the one that you mean.")]


def warning(code: str, path: str, message: str, mend: str) -> Finding:
    return Finding(code, path, message, mend, severity=Severity.WARNING)


def notify_target(target: str | None, path: str) -> list[Finding]:
    """A finding for a target that nobody can be told by. One that a run fills in is judged then."""
    if target is None or re.match(r"https?://|arn:aws[a-z-]*:sns:|mailto:.+@|<|\$\{|\{\{", target):
        return []
    return [Finding("invalid_value", f"{path}.notify", f"{target!r:.100} is nothing that people can be told by",
                    "Give a URL, the ARN of an SNS topic or `mailto:` an address.")]


def reserved_exits(names: Mapping[str, Any], path: str) -> list[Finding]:
    """A finding for every exit that a node would give a name which means something else."""
    return [
        Finding("reserved_exit", f"{path}.{name}", f"`{name}` is the exit of failures in every kind", "Choose another name.")
        for name in names if name in ("error", "onError")
    ]
