"""Replaces secrets in an export by `{{NAME}}`, Sim's syntax for environment variables, before any other module reads the values.

A value is recognized as a secret by the name of its field (`apiKey`, `credential`, `Authorization`), or by its format (keys of
well-known services, private keys, passwords in URLs and assignments). A value that contains a reference (`{{NAME}}`,
`<block.path>`) is not a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from stepless.imports.reporting import Reporting
from stepless.imports.sim.names import screaming, unique
from stepless.model.json import JSON

_SENSITIVE_NAME: Final = re.compile(
    r"(?:api_?key|secret|secret_?key|password|passwd|passphrase|access_?key(?:_?id)?|private_?key|signing_?key|credentials?|"
    r"credential_?id|authorization|cookie|connection_?string|(?:^|access|auth|bearer|bot|refresh|session|api|user|app|id|webhook|"
    r"client|personal|secret|x|_)_?token|webhook_?url)$"
)
_FORMATS: Final = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]{1,20}[-_]){0,4}[A-Za-z0-9_-]{16,500}"),
    re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|xai-\w{20,})"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\bAIza[\w-]{30,}"),
    re.compile(r"\beyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{5,1000}"),
    re.compile(r"(?<=://)[^\s/:@<>{}]{1,100}:[^\s/@<>{}]{1,200}(?=@)"),
    re.compile(r"(?i)(?<=\bbearer )[\w.~+/=-]{16,}"),
    re.compile(r"https://hooks\.slack\.com/(?:services|workflows)/[\w/]{10,}"),
)
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
        """`value` without its secrets. Their names are derived from `owner` and `field`; `sort` is the field's type in Sim."""

        def replace(secret: str, detail: str, where: str) -> str:
            name = self._names.get(secret)
            if name is None:
                name = self._names[secret] = unique(screaming(owner, where), self._names.values())
            self._report.add(self._code, path, detail=detail, name=name)
            return f"{{{{{name}}}}}"

        return _hidden(value, field, sort == _CREDENTIAL_FIELD or _sensitive(field), replace)


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
        return {**value, "Value": _hidden(value["Value"], row, _sensitive(row), replace)}
    return {key: _hidden(item, key, _sensitive(key), replace) for key, item in value.items()}


def _sensitive(field: str) -> bool:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", field.rpartition(":")[2]).lower().strip("_")
    return _SENSITIVE_NAME.search(name) is not None


def _without_secret_formats(text: str, field: str, replace: Replace) -> str:
    for pattern in _FORMATS:
        text = pattern.sub(lambda found: replace(found[0], f"what looks like a secret in `{field}`", f"{field}_secret"), text)
    return _ASSIGNED.sub(lambda found: (found[1] or found[3]) + replace(
        found[2] or found[4], f"the value of an assignment in `{field}`", f"{field}_secret"), text)
