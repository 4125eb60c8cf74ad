"""Replaces secrets in an export by `{{NAME}}`, Sim's syntax for environment variables, before any other module reads the values.

A value is recognized as a secret by the name of its field (`apiKey`, `credential`, `Authorization`), or by its format (keys of
well-known services, private keys, passwords in URLs and assignments). A value that contains a reference (`{{NAME}}`,
`<block.path>`) is not a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from stepless.imports.finding_report import Reporting
from stepless.imports.sim.names import screaming, unique
from stepless.model.json import JSON
from stepless.model.texts.secret_formats import FORMATS, names_secret

_ASSIGNED: Final = re.compile(
    r"(?i)((?:api[_-]?key|secret|token|password|passwd|credential)\w{0,20}[\"']?\s{0,5}[:=]\s{0,5}[\"'])([^\"'<>{}\s]{8,500})(?=[\"'])"
    r"|([?&](?:api[_-]?key|access_token|token|secret|password|sig(?:nature)?|key)=)([^&\s\"'<>{}]{8,500})"
)
_READS: Final = re.compile(r"\{\{[^{}]*\}\}|<[^<>\n]+>")
_CREDENTIAL_FIELD: Final = "oauth-input"  # the sub-block type that holds the id of an account


class Secrets:
    """Finds and replaces secrets. The same secret always gets the same name."""

    def __init__(self, report: Reporting, code: str = "sim_secret") -> None:
        """`code` is that of the finding for each secret."""
        self._report, self._code = report, code
        self._names: dict[str, str] = {}

    def hidden(self, value: JSON, path: str, owner: str, field: str, sort: str = "") -> JSON:
        """Returns `value` without its secrets. Their names are derived from `owner` and `field`; `sort` is the field's type in
        Sim."""

        def replace(secret: str, detail: str, where: str) -> str:
            name = self._names.get(secret)
            if name is None:
                name = self._names[secret] = unique(screaming(owner, where), self._names.values())
            self._report.add(self._code, path, detail=detail, name=name)
            return f"{{{{{name}}}}}"

        return _hidden(value, field, sort == _CREDENTIAL_FIELD or names_secret(field), replace)


Replace = Callable[[str, str, str], str]


def _hidden(value: JSON, field: str, sensitive: bool, replace: Replace) -> JSON:
    if isinstance(value, str):
        if sensitive and len(value) > 1 and not _READS.search(value):
            return replace(value, f"the value of `{field}`", field)
        return _without_secret_formats(value, field, replace)
    if isinstance(value, list):
        return [_hidden(item, field, sensitive, replace) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("Key"), str) and "Value" in value:  # a row of a table
        row = value["Key"]
        return {**value, "Value": _hidden(value["Value"], row, names_secret(row), replace)}
    return {key: _hidden(item, key, names_secret(key), replace) for key, item in value.items()}


def _without_secret_formats(text: str, field: str, replace: Replace) -> str:
    for pattern in FORMATS:
        text = pattern.sub(lambda found: replace(found[0], f"what looks like a secret in `{field}`", f"{field}_secret"), text)
    return _ASSIGNED.sub(lambda found: (found[1] or found[3]) + replace(
        found[2] or found[4], f"the value of an assignment in `{field}`", f"{field}_secret"), text)
