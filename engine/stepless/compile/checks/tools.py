"""Nodes that are only tools: an attempt of another node runs them, so nothing leads into or out of them. A tool reads what the
node that runs it can read, and finds the arguments of its call under `<input>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.compile.draft import Draft, DraftBody
from stepless.compile.suggest import did_you_mean, listed
from stepless.model.findings import Finding, Severity

_IDLE: Final = ("join", "merge", "on_parent_failure", "default", "retry", "delivery", "enabled")


def unknown_tools(draft: Draft, body: DraftBody) -> Iterator[Finding]:
    """What is named as a tool must be a node beside the one that runs it, and of a kind that an attempt can run."""
    for user in body.order:
        for place, name in user.kind.tools(user.document.with_).items() if user.kind is not None else ():
            path, tool = f"{user.path}.with.{place}", body.nodes.get(name)
            if tool is None and name not in body.unreadable:
                elsewhere = next(draft.named(name), None) is not None
                told = f"`{name}` is in another body" if elsewhere else f"there is no node `{name}`"
                mend = "Move it beside this node." if elsewhere else did_you_mean(name, body.nodes, what="nodes")
                yield Finding("unknown_node", path, told, mend, user.id)
            elif tool is not None and tool.kind is not None and not tool.kind.is_tool:
                kinds = listed([kind for kind in draft.kinds if draft.kinds[kind].is_tool])
                told = f"`{name}` is of the kind {tool.kind.name}, which cannot be run as a tool"
                yield Finding("not_a_tool", path, told, f"Tools are nodes of the kinds {kinds}.", user.id)
            elif tool is not None and len(tool.exits or ()) > 1:
                told = f"`{name}` has the exits {listed(tool.exits or ())}, and nothing follows a tool"
                yield Finding("not_a_tool", path, told, "Use it in the graph, or leave out what gives it exits.", user.id)


def wired_tools(draft: Draft, body: DraftBody) -> Iterator[Finding]:
    """A node is either part of the graph or a tool."""
    for edge in body.edges if body.tools else ():
        for name, way in ((edge.source, "out of"), (edge.target, "into")):
            if name in body.tools:
                told = f"`{name}` is a tool of `{body.tools[name][0].id}`, and an edge leads {way} it"
                mend = "Take the edge away, or make the tool a node of its own."
                yield Finding("wired_tool", edge.path, told, mend, edge.target, edge.name)


def idle_tool_settings(draft: Draft, body: DraftBody) -> Iterator[Finding]:
    """A tool has its own parameters, `timeout_ms`, contracts and moderation; all else is the affair of the node that runs it."""
    for name, users in body.tools.items():
        tool = body.nodes[name]
        for setting in _IDLE:
            if setting in tool.document.given:
                told = f"`{setting}` changes nothing: `{name}` is a tool, and what becomes of it is for `{users[0].id}` to say"
                yield Finding("idle_setting", f"{tool.path}.{setting}", told, "Leave it out.", name, severity=Severity.WARNING)
