"""Warns of environment variables that a document reads and that have no value in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON


def unset_names(document: Mapping[str, JSON], value_of: Callable[[str], str | None]) -> tuple[Finding, ...]:
    """Returns a warning for each name in `env` that is unset or empty: a node that reads it fails with `secret_missing`. The
    document must compile."""
    return tuple(
        Finding(
            "unset_env", f"env.{place}", f"`{name}` is not set here, or is empty: a node that reads it fails",
            f"Set `{name}` in the environment of the process that runs the workflow.", severity=Severity.WARNING,
        )
        for place, name in enumerate(document.get("env", ())) if not value_of(name)
    )  # fmt: skip
