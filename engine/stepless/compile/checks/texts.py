"""Warns of texts that are valid but probably not what the author meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.compile.parsed import Parsed, ParsedNode, readable
from stepless.compile.values.fields import texts_in
from stepless.expressions.references import doubtful_words
from stepless.limits import MAX_DOUBTFUL_WORDS
from stepless.model.findings import Change, Finding, Severity, use
from stepless.model.kind import Part

_TEMPLATES: Final = (Part.TEMPLATE, Part.EXPRESSION)


def doubtful_references(parsed: Parsed) -> Iterator[Finding]:
    """Warns of a bare `<ordr>`, which is plain text because no node has that name, if a similar name like `order` exists."""
    known = readable(parsed)
    guessed: dict[str, str | None] = {}
    for node in parsed.nodes:
        for place, text in _texts(node):
            if "<" not in text:
                continue
            for word, near in doubtful_words(text, known, guessed, MAX_DOUBTFUL_WORDS):
                message = f"`<{word}>` is plain text, because no node is named `{word}`"
                fix = use(f"<{near}", change=Change.RESPELL, former=f"<{word}")
                yield Finding("doubtful_reference", f"{node.path}.with.{place}", message, f"Did you mean `<{near}>`?", node.id,
                              severity=Severity.WARNING, fix=fix)


def _texts(node: ParsedNode) -> Iterator[tuple[str, str]]:
    """The texts of a node that a run fills in. Texts of a container are literals or expressions, which other checks cover."""
    if node.kind is None or node.kind.container is not None:
        return
    for name, value in node.document.with_.items():
        if node.kind.parts.get(name, Part.TEMPLATE) in _TEMPLATES:
            yield from texts_in(value, name)
