"""Shares parts of the kinds' parameters: strict validation at publishing and after references are filled in, common checks."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError, WithJsonSchema

from stepless.errors import ConfigError
from stepless.limits import MAX_ID_CHARACTERS
from stepless.model.declaration.misfits import misfits, read_duration_ms
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON
from stepless.model.kind import no_findings
from stepless.model.texts.durations import DURATION_SCHEMA
from stepless.model.work import misconfigured
from stepless.ports import Call


class Params(BaseModel):
    """The base class of every kind's `with`. Refuses unknown fields, and does not convert types (`"3"` is not 3)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)  # deferred: a run needs few kinds


def _readable(text: object) -> object:
    read_duration_ms(text)
    return text


Duration = Annotated[str, BeforeValidator(_readable), WithJsonSchema(dict(DURATION_SCHEMA))]
Scalar = str | int | float | bool
Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_CHARACTERS)]
P = TypeVar("P", bound=Params)

_SHOWN_FAULTS = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rendered(
    model: type[P], *parts: Mapping[str, JSON], check: Callable[[P, str], list[Finding]] = no_findings,
) -> P:
    """Returns the parameters as `model`, from the filled-in `parts`. Values that publishing could not check, because they were
    references, are checked here by the same rules. Raises `ConfigError` with the name of the field."""
    values = {name: value for part in parts for name, value in part.items()}
    try:
        params = model.model_validate(values)
    except ValidationError as refused:
        faults = misfits(refused.errors(include_url=False), values)
        place = ".".join(map(str, ("with", *faults[0].place)))
        shown = faults[:_SHOWN_FAULTS]
        message = "; ".join(f"`{'.'.join(map(str, fault.place))}` {fault.sentence(quoted=False)}" for fault in shown)
        raise ConfigError(message, place=place, mend="correct the parameter, or the value that its reference reads") from refused
    for finding in check(params, "with"):
        if finding.severity is Severity.ERROR:
            raise ConfigError(finding.message, code=finding.code, place=finding.path, mend=finding.mend)
    return params


def params_of(model: type[P], call: Call, *, check: Callable[[P, str], list[Finding]] = no_findings) -> P:
    """Validates `rendered` for an attempt. Raises `NodeFailure` (config, not retryable) for invalid parameters."""
    try:
        return rendered(model, call.params, call.literals, check=check)
    except ConfigError as error:
        raise misconfigured(error) from error


def instant_ms(text: str, place: str) -> int:
    """Milliseconds since 1970 UTC, from ISO 8601 text with an offset. Raises `ConfigError` that names `place`."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        message, mend = f"{text[:60]!r} is not a valid instant", "use a form such as 2030-01-31T09:00:00Z"
        raise ConfigError(message, place=place, mend=mend) from None
    if instant.tzinfo is None:
        raise ConfigError(f"{text!r} has no offset, so its instant depends on the time zone", place=place,
                          mend="end it with Z or an offset such as +02:00")
    since = instant - _EPOCH
    return since.days * 86_400_000 + since.seconds * 1_000 + -(-since.microseconds // 1_000)  # rounded up: never early


def exactly_one(params: BaseModel, path: str, names: tuple[str, ...]) -> list[Finding]:
    """Returns a finding unless exactly one of the fields is set. `names` are the names in the document (`for`, `while`)."""
    fields = {name: f"{name}_" if keyword.iskeyword(name) else name for name in names}
    present = [name for name, field in fields.items() if getattr(params, field) is not None]
    if len(present) == 1:
        return []
    null = [f"`{name}` is null" for name, field in fields.items() if name not in present and field in params.model_fields_set]
    wanted = ", ".join(f"`{name}`" for name in names)
    found = "found " + ", ".join(f"`{name}`" for name in present) if present else ", ".join(null) or "none is set"
    return [Finding("exactly_one", path, f"exactly one of {wanted} is required; {found}", "Keep the one that you mean.")]


def warning(code: str, path: str, message: str, mend: str) -> Finding:
    return Finding(code, path, message, mend, severity=Severity.WARNING)


def notify_target(target: str | None, path: str) -> list[Finding]:
    """Returns a finding for a target that is not supported. A target with a reference is checked when a run fills it in."""
    if target is None or re.match(r"https?://|arn:aws[a-z-]*:sns:|mailto:.+@|<|\$\{|\{\{", target):
        return []
    return [Finding("invalid_value", f"{path}.notify", f"{target!r:.100} is not a target for notifications",
                    "Use a URL, the ARN of an SNS topic, or `mailto:` and an address.")]


def stored_secrets(value: Any, path: str, whose: str) -> list[Finding]:
    """Returns a finding if a value for another run contains a secret: it is stored, and a run masks only its own secrets in what
    it stores."""
    if "${" not in json.dumps(value, ensure_ascii=False, default=str):
        return []
    field = path.rpartition(".")[2]
    return [Finding("secret_in_inputs", path, f"the secret would be stored in the {field} of the {whose}",
                    "List the name in the `env` of the other workflow, and read it there.")]


def reserved_exits(names: Mapping[str, Any], path: str) -> list[Finding]:
    """Returns a finding for every exit with a reserved name."""
    return [
        Finding("reserved_exit", f"{path}.{name}", f"`{name}` is the exit for failures in every kind", "Choose another name.")
        for name in names if name in ("error", "onError")
    ]
