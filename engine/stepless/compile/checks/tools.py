"""Checks the nodes that are only tools. An attempt of another node runs them, so they must not have edges. A tool can read what
the node that runs it can read, and its arguments are in `<input>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.compile.parsed import Parsed, ParsedBody
from stepless.compile.suggest import did_you_mean, listed, nearest
from stepless.model.findings import Finding, Severity, remove, use

_IDLE: Final = ("join", "merge", "on_parent_failure", "default", "retry", "delivery", "enabled")


def unknown_tools(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """A tool must be a node in the same body as the node that runs it, and of a kind that an attempt can run."""
    for user in body.order:
        for place, name in user.kind.tools(user.document.with_).items() if user.kind is not None else ():
            path, tool = f"{user.path}.with.{place}", body.nodes.get(name)
            if tool is None and name not in body.unreadable:
                elsewhere = next(parsed.named(name), None) is not None
                message = f"`{name}` is in another body" if elsewhere else f"there is no node `{name}`"
                mend = "Move it to the body that this node is in." if elsewhere else did_you_mean(name, body.nodes, what="nodes")
                fix = None if elsewhere else use(nearest(name, body.nodes))
                yield Finding("unknown_node", path, message, mend, user.id, fix=fix)
            elif tool is not None and tool.kind is not None and not tool.kind.is_tool:
                kinds = listed([kind for kind in parsed.kinds if parsed.kinds[kind].is_tool])
                message = f"`{name}` is of the kind {tool.kind.name}, which cannot be run as a tool"
                yield Finding("not_a_tool", path, message, f"Tools are nodes of the kinds {kinds}.", user.id)
            elif tool is not None and len(tool.exits or ()) > 1:
                message = f"`{name}` has the exits {listed(tool.exits or ())}, and a tool has no outgoing edges"
                yield Finding("not_a_tool", path, message, "Use it in the graph, or remove what gives it exits.", user.id)


def wired_tools(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """A node is either part of the graph or a tool."""
    for edge in body.edges if body.tools else ():
        for name, way in ((edge.source, "out of"), (edge.target, "into")):
            if name in body.tools:
                message = f"`{name}` is a tool of `{body.tools[name][0].id}`, and an edge leads {way} it"
                mend = "Remove the edge, or add a separate node."
                yield Finding("wired_tool", edge.path, message, mend, edge.target, edge.name)


def idle_tool_settings(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """A tool has its own parameters, `timeout_ms`, contracts and moderation. The node that runs it controls everything else."""
    for name, users in body.tools.items():
        tool = body.nodes[name]
        for setting in _IDLE:
            if setting in tool.document.given:
                message = f"`{setting}` has no effect: `{name}` is a tool, and `{users[0].id}` controls it"
                yield Finding(
                    "idle_setting", f"{tool.path}.{setting}", message, "Leave it out.", name, severity=Severity.WARNING,
                    fix=remove(setting),
                )
