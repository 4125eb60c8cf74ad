"""Checks what a node may read (docs/understand/semantics.md#references), for each reference.

A name is resolved from the inside out: a node upstream in the same body, a node upstream of the enclosing container in the body
around it, and so on. It may also name an enclosing container, to read its current iteration. Ids cannot shadow each other in this
search (see `checks.shadowed_ids`), so the first match is the only one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from stepless.compile.order import not_upstream, topological_order
from stepless.compile.parsed import Parsed, ParsedBody, ParsedNode
from stepless.compile.suggest import did_you_mean, listed, nearest
from stepless.compile.values.fields import MESSAGE, texts_in
from stepless.model.findings import Change, Finding, Fix, Severity
from stepless.model.scope import Reference
from stepless.model.texts.failure_targets import parse_target

ITEM: Final = "item"  # of the `distributed` node around, unless a node has this id
ITERATION_FIELDS: Final = ("index", "iteration", "item", "items")
RUN_FIELDS: Final = ("id", "workflow", "version", "started_at")
_OWN_SETTINGS: Final = "STEPLESS_"
_TESTED_BETWEEN_ITERATIONS: Final = ("with.while", "with.do_while")
_EVALUATED_AGAIN: Final = ("with.items", "join.vars.custom")  # whenever a log is read, without secrets
_RECEIVED: Final = "with.where"  # evaluated for a message
_SHOWN: Final = ("concurrency.by", "concurrency.weight", "rate.by")

Mention = tuple[ParsedNode, str, Reference]


def reference_findings(parsed: Parsed) -> Iterator[Finding]:
    """A finding for every reference that is not in scope."""
    seen: dict[int, list[tuple[ParsedNode, ParsedNode, Mention]]] = {}  # by body: (read, must be below it, mention)
    for node in parsed.nodes:
        for place, references in node.fields.mentions:
            for reference in references:
                yield from _of_reference(parsed, (node, place, reference), seen)
    for body in parsed.bodies:
        yield from _out_of_scope(body, seen.get(id(body), []))


def findings_of(parsed: Parsed, node: ParsedNode, place: str, references: Iterable[Reference]) -> Iterator[Finding]:
    """A finding for each of these references that is not in scope at a place of a node, whatever is written there."""
    seen: dict[int, list[tuple[ParsedNode, ParsedNode, Mention]]] = {}
    for reference in references:
        yield from _of_reference(parsed, (node, place, reference), seen)
    for body in parsed.bodies:
        yield from _out_of_scope(body, seen.get(id(body), []))


def _of_reference(
    parsed: Parsed, mention: Mention, seen: dict[int, list[tuple[ParsedNode, ParsedNode, Mention]]]
) -> Iterator[Finding]:
    reference = mention[2]
    if reference.root == MESSAGE and not reference.env and _examines_messages(mention):
        return
    if reference.env:
        yield from _env(parsed, mention)
    elif reference.root in _SCOPE_CHECKS:
        yield from _SCOPE_CHECKS[reference.root](parsed, mention)
    else:
        yield from _named(parsed, mention, seen)


def _examines_messages(mention: Mention) -> bool:
    kind = mention[0].kind
    return kind is not None and kind.receives and mention[1] == _RECEIVED


# -- scopes -----------------------------------------------------------------------------------------------------------


def reserved_env(parsed: Parsed) -> Iterator[Finding]:
    """Workflows may not read the engine's own settings, which include secrets."""
    for place, name in enumerate(parsed.document.env):
        if name.upper().startswith(_OWN_SETTINGS):
            message = f"`{name}` is a setting of the engine, which no workflow may read"
            mend = f"Give the value a name that does not begin with `{_OWN_SETTINGS}`."
            yield Finding("reserved_env", f"env.{place}", message, mend)


def unlisted_targets(parsed: Parsed) -> Iterator[Finding]:
    """`on_failure_notify` may read only what `env` lists."""
    for place, text in enumerate(parsed.document.on_failure_notify or ()):
        name = parse_target(text).secret
        if name is not None and name not in parsed.document.env:
            mend = did_you_mean(name, parsed.document.env) or f"Add `{name}` to `env`."
            many = isinstance(parsed.document.raw["on_failure_notify"], list)
            where = f"on_failure_notify.{place}" if many else "on_failure_notify"
            fix = _listing(parsed, name)
            yield Finding("unlisted_env", where, f"`${{{name}}}` is not listed in `env`", mend, fix=fix)


def _env(parsed: Parsed, mention: Mention) -> Iterator[Finding]:
    _, place, reference = mention
    name = reference.root
    if place in _EVALUATED_AGAIN:
        message = f"`${{{name}}}` cannot be read here: the value is evaluated again from the log, which holds no secrets"
        yield _finding("secret_out_of_reach", mention, message, "Read it in an earlier node, and refer to that node's output.")
    if place in _SHOWN:
        message = f"`${{{name}}}` cannot be read here: the key of a limit is shown to readers of the run"
        yield _finding("secret_out_of_reach", mention, message, "Use something that names the owner of the secret.")
    if name not in parsed.document.env:
        mend = did_you_mean(name, parsed.document.env) or f"Add `{name}` to `env`."
        yield _finding("unlisted_env", mention, f"`${{{name}}}` is not listed in `env`", mend, fix=_listing(parsed, name))


def _listing(parsed: Parsed, name: str) -> Fix | None:
    """The listed name that was meant, else the name listed; none for a setting of the engine, which may not be listed."""
    near = nearest(name, parsed.document.env)
    if near is not None:
        return Fix(Change.RESPELL, f"Use `{near}`", f"${{{near}}}", f"${{{name}}}")
    return None if name.upper().startswith(_OWN_SETTINGS) else Fix(Change.APPEND, f"Add `{name}` to `env`", name, path="env")


def _variable(parsed: Parsed, mention: Mention) -> Iterator[Finding]:
    path = mention[2].path
    if not path or path[0] not in parsed.document.variables:
        name = str(path[0]) if path else "workflow"
        mend = did_you_mean(name, parsed.document.variables, what="variables") or f"Declare `{name}` in `variables`."
        message = f"there is no variable `{name}`" if path else "`<workflow>` needs the name of a variable"
        near = nearest(name, parsed.document.variables) if path else None
        fix = Fix(Change.RESPELL, f"Use `{near}`", f"<workflow.{near}", f"<workflow.{name}") if near is not None else None
        yield _finding("unknown_variable", mention, message, mend, fix=fix)


def _run(parsed: Parsed, mention: Mention) -> Iterator[Finding]:
    path = mention[2].path
    if not path or path[0] not in RUN_FIELDS:
        message = f"a run has no field `{path[0]}`" if path else "`<run>` needs the name of a field"
        yield _finding("unknown_run_field", mention, message, f"It has {listed(RUN_FIELDS)}.")


def _iteration(parsed: Parsed, mention: Mention) -> Iterator[Finding]:
    node, place, reference = mention
    between_iterations = reference.root == "loop" and place in _TESTED_BETWEEN_ITERATIONS and node.inner is not None
    fields = ITERATION_FIELDS[:2] if between_iterations else ITERATION_FIELDS
    if not between_iterations and reference.root not in (owner.document.type for owner in _owners(node.body)):
        message = f"`{reference.text}` is outside a {reference.root}"
        yield _finding(f"outside_{reference.root}", mention, message, f"Move the node into the body of a {reference.root}.")
    elif not reference.path or reference.path[0] not in fields:
        message = f"`{reference.text}` is not a field of an iteration"
        if between_iterations and reference.path and reference.path[0] in ITERATION_FIELDS:
            message = f"`{reference.text}` is evaluated between two iterations, when there is no item"
        yield _finding("unknown_turn_field", mention, message, f"An iteration has {listed(fields)}.")


def _param(parsed: Parsed, mention: Mention) -> Iterator[Finding]:
    node, _, reference = mention
    if not reference.path or node.body.incomplete:
        return
    params = node.body.fed.get(node.id, {"input"})
    if reference.path[0] not in params:
        message = f"no edge feeds the param `{reference.path[0]}`, so it is null"
        yield _finding("unfed_param", mention, message, f"Edges feed {listed(sorted(params))}.", Severity.WARNING)


def _always(parsed: Parsed, mention: Mention) -> Iterator[Finding]:
    return iter(())


_SCOPE_CHECKS: Final[Mapping[str, Callable[[Parsed, Mention], Iterator[Finding]]]] = {
    "loop": _iteration, "parallel": _iteration, "workflow": _variable, "run": _run, "inputs": _param, "input": _always,
}


# -- names ------------------------------------------------------------------------------------------------------------


def _owners(body: ParsedBody | None) -> Iterator[ParsedNode]:
    """The enclosing containers, from the inside out."""
    while body is not None and body.owner is not None:
        yield body.owner
        body = body.owner.body


def _named(parsed: Parsed, mention: Mention, seen: dict[int, list[tuple[ParsedNode, ParsedNode, Mention]]]) -> Iterator[Finding]:
    users = mention[0].body.tools.get(mention[0].id)
    for reader in users or (mention[0],):  # a tool can read what the nodes that run it can read
        yield from _named_from(reader, parsed, mention, seen)


def _named_from(
    reader: ParsedNode, parsed: Parsed, mention: Mention, seen: dict[int, list[tuple[ParsedNode, ParsedNode, Mention]]],
) -> Iterator[Finding]:
    reference = mention[2]
    current = reader  # the reader, or the container around it in the body that is searched
    while True:
        body = current.body
        read = body.nodes.get(reference.root)
        if read is not None and read is current and current is not reader:
            yield from _enclosing(current, mention)
            return
        if read is not None:
            yield from _no_output_field(read, mention)
            seen.setdefault(id(body), []).append((read, current, mention))
            return
        if reference.root in body.unreadable:
            return
        if body.owner is None:
            break
        current = body.owner
    if reference.root != ITEM or not any(owner.kind is not None and owner.kind.distributes for owner in _owners(reader.body)):
        yield _inner(parsed, mention)


def _no_output_field(read: ParsedNode, mention: Mention) -> Iterator[Finding]:
    """Sim writes `<block.output.field>`; here the output of a node is what `<block>` names."""
    path, node = mention[2].path, read.document
    if not path or path[0] != "output" or read.kind is None or node.enabled is not True:
        return
    fields = read.kind.output_fields(node.with_)
    if fields is None or "output" in fields:
        return
    message = f"the output of `{read.id}` has no field `output`, so this is null"
    wrong, right = f"<{read.id}.output", f"<{read.id}"
    fix = Fix(Change.RESPELL, f"Use `{right}`", right, wrong)
    mend = f"`<{read.id}>` is the output" + (f", with {listed(sorted(fields))}." if fields else ".")
    yield _finding("unknown_field", mention, message, mend, Severity.WARNING, fix)


def _enclosing(owner: ParsedNode, mention: Mention) -> Iterator[Finding]:
    path, distributes = mention[2].path, owner.kind is not None and owner.kind.distributes
    fields = ITERATION_FIELDS[:-1] if distributes else ITERATION_FIELDS  # a shard does not have all items
    if not path or path[0] not in fields:
        what = "the results of a container from inside, before they exist"
        if path[:1] == ("items",):
            what = "all items, and a process has some of them"
        yield _finding("unknown_turn_field", mention, f"`{mention[2].text}` reads {what}", f"An iteration has {listed(fields)}.")


def _inner(parsed: Parsed, mention: Mention) -> Finding:
    root = mention[2].root
    container = next((node.body.owner for node in parsed.named(root) if node.body.owner is not None), None)
    if container is None:
        near = nearest(root, parsed.names())
        fix = Fix(Change.RESPELL, f"Use `{near or root}`", f"<{near}" if near is not None else None, f"<{root}")
        return _finding("unknown_reference", mention, f"there is no node `{root}`", did_you_mean(root, parsed.names()), fix=fix)
    message = f"`{root}` is inside `{container.id}` and cannot be read from outside"
    return _finding("inner_node_read", mention, message, f"Read the results of the container: `<{container.id}>`.")


def _out_of_scope(body: ParsedBody, asked: Collection[tuple[ParsedNode, ParsedNode, Mention]]) -> Iterator[Finding]:
    """A finding for each reference to a node that is not upstream. Skips a body with gaps or cycles, where paths are unknown."""
    if not asked or body.incomplete:
        return
    order = topological_order(body.successors, body.predecessors)
    if len(order) < len(body.nodes):
        return
    pairs = {(read.place, reader.place) for read, reader, _ in asked}
    missed = not_upstream(pairs, order, body.successors, body.predecessors)
    for read, reader, mention in asked:
        if (read.place, reader.place) in missed:
            yield _not_upstream(read, reader, mention)


def _not_upstream(read: ParsedNode, reader: ParsedNode, mention: Mention) -> Finding:
    if read is reader:
        return _finding("not_upstream", mention, f"`{read.id}` reads itself", "Read a node before it, or `<input>`.")
    message = f"`{read.id}` is not upstream of `{reader.id}`"
    return _finding("not_upstream", mention, message, f"Add `{read.id}` to the `after` of `{reader.id}` or of a node before it.")


def _finding(
    code: str, mention: Mention, message: str, mend: str, severity: Severity = Severity.ERROR, fix: Fix | None = None,
) -> Finding:
    node, place, reference = mention
    field = place.removeprefix("with.").partition(".")[0]
    written = node.document.with_ if place == "with" else node.document.with_.get(field)
    start = "with" if place == "with" else place if not place.startswith("with.") else f"with.{field}"
    where = next((at for at, text in texts_in(written, start) if reference.text in text), place)
    return Finding(code, f"{node.path}.{where}", message, mend, node.id, severity=severity, fix=fix)


