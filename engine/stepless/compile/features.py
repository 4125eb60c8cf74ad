"""Finds what a document uses that the release before this one would read as something else.

A release refuses kinds, parameters of containers and functions of expressions that it does not know, and ignores unknown fields.
What it would ignore or misread in between is a feature: the stored form of such a document names it (`model.stored.document`).
Recognising too much is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import dumps
from typing import Final

from stepless.expressions.references import REFERENCE
from stepless.model.json import JSON
from stepless.model.stored.document import (
    CONTAINER_POLICIES,
    DISABLED_EXIT,
    EVERY,
    FUNCTIONS,
    INPUTS,
    LIMITS,
    STRICT_REFERENCES,
)

_REFERENCE: Final = re.compile(REFERENCE)
_LATER_FUNCTIONS: Final = re.compile(r"\b(?:need|merge|put|sort|range|zip|repeat|text)\s*\(")


def features_of(document: Mapping[str, JSON], *, limited: bool, enclosing: bool = False) -> frozenset[str]:
    """Returns the features that a checked document uses. `limited`: it has limits per key. `enclosing`: policies of a node of it
    apply to all that the node encloses (`Node.whole`)."""
    found = {LIMITS} if limited else set()
    if enclosing:
        found.add(CONTAINER_POLICIES)
    if any(_LATER_FUNCTIONS.search(text) for text in _workflow_expressions(document)):
        found.add(FUNCTIONS)
    written = dumps(document.get("nodes"), ensure_ascii=False)
    if "!>" in written and any(match["strict"] for match in _REFERENCE.finditer(written)):
        found.add(STRICT_REFERENCES)
    for node in _nodes(document):
        join = node.get("join")
        if isinstance(join, Mapping) and join.get("mode") == "every":
            found.add(EVERY)
        if "inputs" in node:
            found.add(INPUTS)
        if isinstance(node.get("enabled"), Mapping):
            found.add(DISABLED_EXIT)
    return frozenset(found)


def _nodes(body: Mapping[str, JSON]) -> Iterator[Mapping[str, JSON]]:
    """The nodes of a document, also those in the bodies of containers."""
    nodes = body.get("nodes")
    for node in nodes.values() if isinstance(nodes, Mapping) else ():
        if isinstance(node, Mapping):
            yield node
            with_ = node.get("with")
            inner = with_.get("body") if isinstance(with_, Mapping) else None
            if isinstance(inner, Mapping):
                yield from _nodes(inner)


def _workflow_expressions(document: Mapping[str, JSON]) -> Iterator[str]:
    """The expressions at the top level. Those of nodes are refused by a release that does not know their functions."""
    for limit in ("concurrency", "rate"):
        given = document.get(limit)
        if isinstance(given, Mapping):
            yield from (text for name in ("by", "weight") if isinstance(text := given.get(name), str))
