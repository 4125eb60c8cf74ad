"""Warns of secrets that are written into the document, where everyone who may read the workflow can read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.compile.parsed import Parsed, ParsedNode
from stepless.compile.values.fields import texts_in
from stepless.model.findings import Finding, Severity
from stepless.model.kind import Nature, Part
from stepless.model.texts.secret_formats import has_secret_format, names_secret

_LEAST: Final = 12  # characters of a value that is taken for a secret because of the name of its field
_SCHEMES: Final = ("basic ", "bearer ", "token ")


def literal_secrets(parsed: Parsed) -> Iterator[Finding]:
    """Warns of each text of a node that has the format of a well-known key, or stands in a field like `Authorization` or
    `api_key` and is no reference. The finding does not repeat the text."""
    for node in parsed.nodes:
        for part, place, text in _texts(node):
            name = next((step for step in reversed(place.split(".")) if not step.isdigit()), "")
            if has_secret_format(text) or (part is Part.TEMPLATE and names_secret(name) and _is_value(text)):
                message = f"the document itself contains what looks like a secret, in `{name}`"
                mend = "Keep it in the environment or the secret store and write `${NAME}`."
                path = f"{node.path}.with.{place}"
                yield Finding("secret_in_document", path, message, mend, node.id, severity=Severity.WARNING)


def _texts(node: ParsedNode) -> Iterator[tuple[Part, str, str]]:
    """The texts of a node, with how their parameter is compiled and their places. Of a container its own; how a webhook
    authenticates its callers is checked by the webhook, which accepts no literal at all."""
    if node.kind is None:
        return
    is_entry = node.kind.nature is Nature.ENTRY
    for name, value in node.document.with_.items():
        part = node.kind.parts.get(name, Part.TEMPLATE)
        if not (is_entry and name == "auth") and not (node.kind.container is not None and name == "body"):
            for place, text in texts_in(value, name):
                yield part, place, text


def _is_value(text: str) -> bool:
    """Whether a text is one word without a reference, apart from the scheme of an HTTP header."""
    word = text.strip()
    for scheme in _SCHEMES:
        if word.lower().startswith(scheme):
            word = word[len(scheme):].strip()
    return len(word) >= _LEAST and not any(mark in word for mark in ("<", "${", "{{")) and not any(map(str.isspace, word))
