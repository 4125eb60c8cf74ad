"""Checks keys and messages: the key of a workflow, the messages that it declares, and the nodes that take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stepless.compile.parsed import Parsed
from stepless.compile.suggest import did_you_mean, nearest
from stepless.compile.values.input_expressions import unreadable
from stepless.errors import AuthorError
from stepless.expressions import compile_contract
from stepless.model.findings import Finding, Severity, remove, use


def key_and_messages(parsed: Parsed) -> Iterator[Finding]:
    """The key, the schemas, and names of messages that the workflow does not declare."""
    document = parsed.document
    for node in parsed.nodes:
        if node.kind is not None and node.kind.receives:
            name = node.document.with_.get("message")
            if isinstance(name, str) and name not in document.messages:
                yield _unknown(name, document.messages, f"{node.path}.with.message", node.id)
    if document.key is not None:
        yield from unreadable("key", document.key, "a workflow's key")
    elif "on_conflict" in document.given:
        yield Finding("idle_setting", "on_conflict", "`on_conflict` has no effect: the workflow has no `key`",
                      "Set `key`, or leave it out.", fix=remove("on_conflict"))
    for name, view in document.declared_messages if document.messages else ():
        yield from _schema(name, view.data)
    for place, name in enumerate(document.cancel_on):
        if name not in document.messages:
            yield _unknown(name, document.messages, f"cancel_on.{place}")


def _unknown(name: str, declared: Mapping[str, object], place: str, node: str | None = None) -> Finding:
    mend = did_you_mean(name, declared, what="messages") or f"Declare it: `messages: {{{name}: {{}}}}`."
    message = f"the workflow declares no message `{name}`"
    return Finding("unknown_message", place, message, mend, node, fix=use(nearest(name, declared)))


def _schema(name: str, schema: object) -> Iterator[Finding]:
    if not isinstance(schema, dict):
        return
    try:
        compile_contract(schema)
    except AuthorError as error:
        where = f"messages.{name}.data" + (f".{error.place}" if error.place else "")
        mend = error.mend or "A schema is an object, like `{type: object}`."
        yield Finding(error.code, where, f"`data`: {error.message}", mend)
        return
    properties = schema.get("properties")
    if isinstance(properties, dict) and "message" in properties:
        message = "the output of a node that takes this message has a `message` of its own: id, key, sender and time"
        mend = "Read this field as `<node.data.message>`, or choose another name."
        yield Finding("reserved_field", f"messages.{name}.data.properties.message", message, mend, severity=Severity.WARNING)
