"""The names that a document reads from the environment: which of them have no value here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON


def unset_names(document: Mapping[str, JSON], value_of: Callable[[str], str | None]) -> tuple[Finding, ...]:
    """A warning for each name in `env` that has no value, or an empty one: a node that reads it will fail with
    `secret_missing`. The document is one that compiles."""
    return tuple(
        Finding(
            "unset_env", f"env.{place}", f"`{name}` is not set here, or set to nothing: a node that reads it fails",
            f"Set `{name}` in the environment of the process that runs the workflow.", severity=Severity.WARNING,
        )
        for place, name in enumerate(document.get("env", ())) if not value_of(name)
    )  # fmt: skip
