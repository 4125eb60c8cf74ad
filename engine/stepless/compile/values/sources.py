"""Compiles keys and messages, and the sources of messages: webhooks and event patterns that deliver a message to the run whose
key they carry.

A source says the same as an entry of the kind `webhook` or `event`, so it is compiled as one: in a document of its own that has
nothing but the sources of one kind. Every check of such a node applies, and what verifies a request of a webhook works unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypedDict

from stepless.compile.parsed import Parsed, as_written, parsed_of, readable
from stepless.compile.values.fields import fill
from stepless.compile.values.input_expressions import of_inputs
from stepless.errors import ExpressionError
from stepless.expressions import compile_contract, compile_expression, compile_template
from stepless.limits import MAX_DECLARED_MESSAGES
from stepless.model.declaration.document import DocumentView
from stepless.model.declaration.messages import MessageView
from stepless.model.declaration.policies import OnConflict
from stepless.model.findings import Finding, remove
from stepless.model.graph import Incoming, MessageSource, Node
from stepless.model.json import JSON
from stepless.model.kind import Kinds
from stepless.model.scope import Expression

ROOTS: Final[Mapping[str, tuple[str, ...]]] = {"webhook": ("body", "headers", "query"), "event": ("event",)}
"""The names that the expressions of a source may read, by its kind."""
Link: TypeAlias = Callable[[Parsed], tuple[Node, ...]]
Check: TypeAlias = Callable[[Mapping[str, JSON], Kinds], Iterable[Finding]]
_OF_SOURCES: Final = ("where", "key", "map")


class KeysAndMessages(TypedDict, total=False):
    """The fields of a graph that say by what its runs are found and what they may receive."""

    key: Expression | None
    on_conflict: OnConflict
    messages: Mapping[str, Incoming]
    sources: tuple[MessageSource, ...]
    cancel_on: frozenset[str]


def keys_and_messages(document: DocumentView, kinds: Kinds, link: Link) -> KeysAndMessages:
    """Compiles the keys and messages of a document without errors. `link` links the nodes of a parsed document."""
    return {
        "key": None if document.key is None else of_inputs(document.key),
        "on_conflict": document.on_conflict,
        "messages": {name: _incoming(message) for name, message in document.declared_messages},
        "sources": sources_of(document, kinds, link) if document.messages else (),
        "cancel_on": frozenset(document.cancel_on),
    }


def _incoming(message: MessageView) -> Incoming:
    return Incoming(compile_contract(message.data) if message.data is not None else None, message.keep_ms)


def sources_of(document: DocumentView, kinds: Kinds, link: Link) -> tuple[MessageSource, ...]:
    """Returns the sources of a document without errors. `link` links the nodes of a parsed document."""
    found: list[MessageSource] = []
    declared = dict(document.declared_messages)
    for kind in ROOTS:
        for node in _linked(document, kind, kinds, link):
            message = declared[node.id]
            where, key = (compile_expression(text, _known) if text else None for text in (message.where, message.key))
            template = compile_template(message.map, _known) if message.map is not None else None
            found.append(MessageSource(node.id, node, where, key, template))
    return tuple(found)


def _known(name: str) -> bool:
    return any(name in roots for roots in ROOTS.values())


def _linked(document: DocumentView, kind: str, kinds: Kinds, link: Link) -> tuple[Node, ...]:
    alone = _alone(document, kind)
    if not alone["nodes"]:
        return ()
    parsed = parsed_of(alone, kinds, as_written)
    known = readable(parsed)
    for node in parsed.nodes:
        if node.kind is not None:
            fill(node, node.kind, known)
            node.exits = ("source",)
    return link(parsed)


def _alone(document: DocumentView, kind: str) -> dict[str, Any]:
    """A document of the sources of one kind, as entries with the names of their messages."""
    given = ((name, getattr(message, kind)) for name, message in document.declared_messages)
    wanted = {name: {"pattern": with_} if kind == "event" else with_ for name, with_ in given if with_ is not None}
    nodes = {name: {"type": kind, "with": with_} for name, with_ in wanted.items()}
    return {"id": "sources", "env": [*document.env], "nodes": nodes}


# -- checks -----------------------------------------------------------------------------------------------------------


def source_findings(parsed: Parsed, check: Check) -> Iterator[Finding]:
    """Yields the findings about the sources of a document. `check` checks a document."""
    document = parsed.document
    if len(document.messages) > MAX_DECLARED_MESSAGES:
        return
    for kind in ROOTS:
        alone = _alone(document, kind)
        for finding in check(alone, parsed.kinds) if alone["nodes"] else ():
            yield replace(finding, path=_path_of(finding.path, kind), node=None, edge=None)
    for name, message in document.declared_messages:
        yield from _expressions(name, message)
    yield from _doubled_paths(parsed)


def _path_of(path: str, kind: str) -> str:
    """The place in the document of a place in the document of the sources."""
    _, name, *rest = path.split(".")
    if rest[:1] == ["with"]:
        rest = rest[2:] if rest[1:2] == ["pattern"] else rest[1:]
    return ".".join(("messages", name, kind, *rest))


def _expressions(name: str, message: MessageView) -> Iterator[Finding]:
    place = f"messages.{name}"
    kinds = [kind for kind in ROOTS if getattr(message, kind) is not None]
    if not kinds:
        for field in _OF_SOURCES:
            if field in message.given:
                text = f"`{field}` has no effect: the message has neither `webhook` nor `event`"
                yield Finding("idle_setting", f"{place}.{field}", text, "Leave it out, or add a source.", fix=remove(field))
        return
    if message.key is None:
        mend = "Add `key`, an expression over what the sender delivers, like `<body.order_id>`."
        yield Finding("missing_field", f"{place}.key", "a source needs `key`: for which run a delivery is", mend)
    roots = [root for kind in kinds for root in ROOTS[kind]]
    for field in ("where", "key"):
        text = getattr(message, field)
        if text is not None:
            yield from _compiled(text, f"{place}.{field}", roots, compile_expression)
    if message.map is not None:
        yield from _compiled(message.map, f"{place}.map", roots, compile_template)


def _compiled(value: JSON, place: str, roots: list[str], compile_: Any) -> Iterator[Finding]:
    try:
        compiled = compile_(value, lambda name: name in roots)
    except ExpressionError as error:
        mend = f"{error.mend[:1].upper()}{error.mend[1:]}" if error.mend else _reads(roots)
        yield Finding(error.code, place, f"{error.message} (character {error.offset + 1})", mend)
        return
    for reference in compiled.references:
        if reference.env or reference.root not in roots:
            yield Finding("unknown_reference", place, f"`{reference.text}` cannot be read here", _reads(roots))


def _reads(roots: list[str]) -> str:
    return f"It reads {', '.join(f'<{root}>' for root in roots)}."


def _doubled_paths(parsed: Parsed) -> Iterator[Finding]:
    """Two listeners of one workflow on one path and method would each get half of the requests."""
    taken = {
        str(node.document.with_.get("path")) for node in parsed.bodies[0].order
        if node.kind is not None and node.kind.name == "webhook"
    }
    for name, message in parsed.document.declared_messages:
        path = message.webhook.get("path") if isinstance(message.webhook, Mapping) else None
        if isinstance(path, str) and path in taken:
            place = f"messages.{name}.webhook.path"
            yield Finding("doubled_path", place, f"another webhook of the workflow has the path {path}", "Choose another path.")
        elif isinstance(path, str):
            taken.add(path)
