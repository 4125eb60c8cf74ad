"""Texts that are valid, and probably do not say what was meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.compile.draft import Draft, DraftNode, readable
from stepless.compile.fields import texts_in
from stepless.expressions.references import doubtful_words
from stepless.limits import MAX_DOUBTFUL_WORDS
from stepless.model.findings import Finding, Severity
from stepless.model.kind import Nature, Part

_TEMPLATES: Final = (Part.TEMPLATE, Part.EXPRESSION)


def doubtful_references(draft: Draft) -> Iterator[Finding]:
    """A bare `<ordr>` is text when no node has that name. Beside a node `order` it was probably meant to be read."""
    known = readable(draft)
    guessed: dict[str, str | None] = {}
    for node in draft.nodes:
        for place, text in _texts(node):
            if "<" not in text:
                continue
            for word, near in doubtful_words(text, known, guessed, MAX_DOUBTFUL_WORDS):
                told = f"`<{word}>` stays text, for nothing here is called `{word}`"
                yield Finding("doubtful_reference", f"{node.path}.with.{place}", told, f"Did you mean `<{near}>`?", node.id,
                              severity=Severity.WARNING)


def _texts(node: DraftNode) -> Iterator[tuple[str, str]]:
    """What a run fills in. Every text of a container is literal or an expression, and told of as such."""
    if node.kind is None or node.kind.nature is Nature.CONTAINER:
        return
    for name, value in node.document.with_.items():
        if node.kind.parts.get(name, Part.TEMPLATE) in _TEMPLATES:
            yield from texts_in(value, name)
