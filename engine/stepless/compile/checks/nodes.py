"""Checks the nodes of each body."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from stepless.compile.dominators import dominator_tree
from stepless.compile.order import topological_order
from stepless.compile.parsed import Parsed, ParsedBody, ParsedNode
from stepless.compile.suggest import did_you_mean, nearest
from stepless.limits import MAX_LOSERS
from stepless.model.declaration.document import RESERVED_IDS
from stepless.model.findings import Change, Finding, Severity, remove, use
from stepless.model.kind import SOURCE, Nature, Part
from stepless.model.kind_settings import obeys

_TIMEOUT: Final = "timeout"


def empty_bodies(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    if not body.nodes and not body.unreadable and not body.incomplete:
        owner = body.owner.id if body.owner is not None else None
        message = "`nodes` is empty, so there is nothing to run"
        yield Finding("empty_body", body.at("nodes"), message, "Add a node.", owner)


def unknown_kinds(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for node in body.order:
        if node.kind is None and node.id not in body.untyped:
            name = node.document.type
            mend = did_you_mean(name, parsed.kinds, what="kinds")
            fix = use(nearest(name, parsed.kinds))
            yield Finding("unknown_kind", f"{node.path}.type", f"there is no kind `{name}`", mend, node.id, fix=fix)


def reserved_ids(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for name in RESERVED_IDS:
        if name in body.nodes:
            message = f"`{name}` is a reserved word of references, and cannot be the id of a node"
            yield Finding("reserved_id", body.nodes[name].path, message, "Choose another id.", name)


def shadowed_ids(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """Sibling bodies may use the same ids. In nested bodies, `<id…>` would be ambiguous to the reader."""
    outer = body.owner.body if body.owner is not None else None
    while outer is not None:
        for name in body.nodes.keys() & outer.nodes.keys():
            message = f"the id `{name}` is also used outside the container, at {outer.nodes[name].path}"
            yield Finding("shadowed_id", body.nodes[name].path, message, "Choose another id for one of them.", name)
        outer = outer.owner.body if outer.owner is not None else None


def source_lines(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """`at` is the first and the last line of a node."""
    for node in body.order:
        lines = node.document.raw.get("at")
        if lines is not None and lines[0] > lines[1]:
            message = f"the node ends at line {lines[1]}, before it begins at line {lines[0]}"
            yield Finding("out_of_range", f"{node.path}.at", message, "Write the first line, then the last one.", node.id)


def misplaced_inputs(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """`inputs` describes what a run is started with, which only an entry receives."""
    for node in body.order:
        if "inputs" in node.document.given and node.kind is not None and not obeys(node.kind, "inputs"):
            message = f"a {node.kind.name} does not receive the inputs of a run"
            mend = "Move it to the entry; `input_contract` says what a node takes."
            yield Finding("misplaced_inputs", f"{node.path}.inputs", message, mend, node.id)


def entries_in_bodies(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for node in body.order if body.owner is not None else ():
        if node.kind is not None and node.kind.nature is Nature.ENTRY:
            message = f"runs start at a {node.kind.name}, which cannot be inside a container"
            yield Finding("entry_in_body", f"{node.path}.type", message, "Move it out of the body.", node.id)


def joins(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """Checks `count` and `min_success` against the number of branches."""
    for node in body.order:
        join = node.document.join
        branches = len(body.predecessors[node.place])
        path = f"{node.path}.join"
        if join.mode == "count" and join.count is None:
            message = "`mode: count` needs `count`, the required number of branches"
            yield Finding("missing_count", path, message, "Add `count`.", node.id)
        if body.incomplete:
            continue
        for name, wanted in (("count", join.count if join.mode == "count" else None), ("min_success", join.min_success)):
            if wanted is not None and wanted > max(branches, 1):
                message = f"`{name}` is {wanted}, and `{node.id}` has {branches} branch{'es' * (branches != 1)}"
                yield Finding("out_of_range", f"{path}.{name}", message, f"Use 1 to {max(branches, 1)}.", node.id)


def join_timeouts(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for node in body.order:
        join = node.document.join
        path = f"{node.path}.join"
        if join.mode == "timeout" and join.timeout_ms is None:
            yield Finding("missing_timeout", path, "`mode: timeout` needs `timeout_ms`", "Add `timeout_ms`.", node.id)
        if join.mode == "timeout" and join.on_timeout == "fail" and "on_timeout" in _given(node):
            message = "`mode: timeout` proceeds when the time is up, and `on_timeout: fail` contradicts it"
            mend, fix = "Use `mode: all`, or leave `on_timeout` out.", remove("on_timeout")
            yield Finding("contradiction", f"{path}.on_timeout", message, mend, node.id, fix=fix)


def every_branch(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """`mode: every` excludes what runs a node with fewer branches."""
    for node in body.order:
        join = node.document.join
        if join.mode != "every":
            continue
        for name, fewer in (("errors", "best-effort"), ("on_timeout", "proceed")):
            if getattr(join, name) == fewer:
                message = f"`mode: every` needs every branch, and `{name}: {fewer}` runs with fewer"
                mend = "Use `mode: all`, or leave it out."
                yield Finding("contradiction", f"{node.path}.join.{name}", message, mend, node.id, fix=remove(name))


def too_many_losers(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """Limits the losers of all joins: consecutive joins share losers, so the lists could grow quadratically."""
    joins = [node for node in body.order if node.document.join.losers == "cancel"]
    if not joins:
        return
    order = topological_order(body.successors, body.predecessors)
    if len(order) < len(body.nodes):
        return  # a cycle, which another check reports
    behind = dominator_tree(order[::-1], body.successors)
    number = sum(behind.count_below(node.place) for node in joins)
    if number > MAX_LOSERS:
        message = f"the joins with `losers: cancel` have {number} nodes to cancel in all, at most {MAX_LOSERS} are allowed"
        yield Finding("too_many_losers", f"{joins[0].path}.join.losers", message, "Use it on fewer joins.", joins[0].id)


def idle_settings(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """Settings without effect in their place."""
    for node in body.order:
        document, join = node.document, node.document.join
        given = _given(node)
        if not given and "default" not in document.given:
            continue
        idle = {
            "join.count": "count" in given and join.mode != "count" and "it counts only in `mode: count`",
            "join.on_timeout": "on_timeout" in given and join.timeout_ms is None and "there is no `timeout_ms`",
            "join.min_success": "min_success" in given and join.errors != "best-effort" and join.timeout_ms is None
            and "it counts only for `errors: best-effort` and for timeouts",
            "default": "default" in document.given and document.on_parent_failure != "substitute_default"
            and "it is used only by `on_parent_failure: substitute_default`",
        }
        for place, reason in idle.items():
            if reason:
                message = f"`{place.rpartition('.')[2]}` has no effect: {reason}"
                yield Finding(
                    "idle_setting", f"{node.path}.{place}", message, "Leave it out.", node.id, severity=Severity.WARNING,
                    fix=remove(place.rpartition(".")[2]),
                )


def _given(node: ParsedNode) -> Collection[str]:
    """The settings of the node's `join` that the author specified."""
    join: Collection[str] = node.document.raw.get("join", ())
    return join


def unwired_exits(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """Warns, for nodes that wait, of an answer without a following node and of a deadline that can only fail the node
    (docs/understand/semantics.md#pauses)."""
    waiting = [node for node in body.order if node.kind is not None and node.kind.nature is Nature.PAUSE and node.exits]
    if not waiting or body.incomplete:
        return
    wired = {(edge.source, edge.handle) for edge in body.edges}
    for node in waiting:
        for name in node.exits or ():
            if name == SOURCE or (node.id, name) in wired:
                continue
            if name != _TIMEOUT:
                yield _unwired(node, name, f"nothing follows `{node.id}.{name}`: that decision is a dead end")
            elif node.document.with_.get(_TIMEOUT) is not None:
                message = f"nothing follows `{node.id}.{name}`: without an answer, the node will fail (wait_timeout)"
                yield _unwired(node, name, message)


def _unwired(node: ParsedNode, name: str, message: str) -> Finding:
    mend = f"Add a node after `{node.id}.{name}`."
    return Finding("unwired_exit", node.path, message, mend, node.id, severity=Severity.WARNING)


def written_variables(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """`set` may write declared variables only."""
    for node in body.order:
        targets = node.document.with_.get("variables") if node.document.type == "set" else None
        for name in targets if isinstance(targets, dict) else ():
            if name not in parsed.document.variables:
                mend = did_you_mean(name, parsed.document.variables) or f"Declare `{name}` in `variables`."
                path = f"{node.path}.with.variables.{name}"
                near = nearest(name, parsed.document.variables)
                fix = use(near, change=Change.RENAME)
                yield Finding("unknown_variable", path, f"there is no variable `{name}`", mend, node.id, fix=fix)


def unknown_callables(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    registered = parsed.functions
    for node in body.order if registered is not None else ():
        for place, call in node.kind.functions(node.document.with_).items() if node.kind is not None else ():
            if "<" not in call and call not in (registered or ()):
                mend = did_you_mean(call, registered or ()) or "Register it with `@function`."
                message = f"no function is registered as `{call}`"
                fix = use(nearest(call, registered or ()))
                yield Finding("unknown_callable", f"{node.path}.with.{place}", message, mend, node.id, fix=fix)


def loop_breaks(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for node in body.order:
        if node.document.type == "end" and node.document.with_.get("break") is True and not _in_loop(body):
            yield Finding("break_outside_loop", f"{node.path}.with.break", "there is no loop around this node to end",
                          "Use `halt: true` to end the run.", node.id, severity=Severity.WARNING)


def _in_loop(body: ParsedBody | None) -> bool:
    while body is not None and body.owner is not None:
        if body.owner.document.type == "loop":
            return True
        body = body.owner.body
    return False


def container_modes(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """A container needs exactly one of the fields that control how often it runs its body."""
    for node in body.order:
        if node.kind is None or node.kind.nature is not Nature.CONTAINER:
            continue
        modes = [name for name, part in node.kind.parts.items() if part is Part.EXPRESSION]
        given = [name for name in modes if node.document.with_.get(name) is not None]
        if len(given) != 1:
            wanted = ", ".join(f"`{name}`" for name in modes)
            found = "found " + ", ".join(f"`{name}`" for name in given) if given else "none is set"
            message = f"exactly one of {wanted} is required; {found}"
            yield Finding("exactly_one", f"{node.path}.with", message, "Keep the one that you mean.", node.id)
