"""Recognises secrets in a text that people wrote: by the format of well-known keys, or by the name of the field."""

from __future__ import annotations

import re
from typing import Final

_NAMED: Final = re.compile(
    r"(?:api_?key|secret|secret_?key|password|passwd|passphrase|access_?key(?:_?id)?|private_?key|signing_?key|credentials?|"
    r"credential_?id|authorization|cookie|connection_?string|(?:^|access|auth|bearer|bot|refresh|session|api|user|app|id|webhook|"
    r"client|personal|secret|x|_)_?token|webhook_?url)$"
)
FORMATS: Final = (
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
"""Of keys of well-known services, private keys, and passwords in addresses."""

_MAYBE: Final = re.compile(
    r"-----BEGIN|[spr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|xai-|AKIA|ASIA|AIza|eyJ|://[^\s/]{3,302}@|(?i:bearer )|"
    r"hooks\.slack\.com"
)
"""What every format has: one search instead of nine, for the many texts that have none of it."""


def names_secret(field: str) -> bool:
    """Returns whether the values of a field are secrets, by its name (`apiKey`, `credential`, `Authorization`)."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", field.rpartition(":")[2]).lower().strip("_")
    return _NAMED.search(name) is not None


def has_secret_format(text: str) -> bool:
    return _MAYBE.search(text) is not None and any(pattern.search(text) for pattern in FORMATS)
