"""Implements `runs show RUN --node NODE`: shows one node of a run: its parameters, its output and its error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from stepless.cli.reach.gateway import Gateway
from stepless.cli.terminal.exceptions import source_line, traceback
from stepless.cli.terminal.formatting import Column, brief, coloured, cut, fields, put_json, say, table, when
from stepless.cli.terminal.progress import duration, instant_ms
from stepless.errors import NotFound
from stepless.limits import MAX_PAGE_ITEMS

_SHOWN: Final = 2_000  # characters of a value
_INSTANCES: Final = (Column("INSTANCE", least=16), Column("STATUS"), Column("CODE", least=8, spare=True))
Node = Mapping[str, Any]


def show_node(gateway: Gateway, run_id: str, name: str, *, as_json: bool) -> None:
    """Prints the instance of that name, or the instances of the node of that name: one in full, several with a line each. Raises
    `NotFound`."""
    found = list(_found(gateway, run_id, name))
    if not found:
        message = f"the run has no node {name!r}, or the node has not been reached"
        raise NotFound(message, code="unknown_node", place=run_id, mend=f"see `stepless runs show {run_id}` for its nodes")
    if as_json:
        for node in found:
            put_json(node)
    elif len(found) == 1:
        say(_lines(found[0]))
    else:
        say(table(_INSTANCES, [(node["instance"], node["status"], node["code"] or "") for node in found]))
        print(f"\nTo show one of them: stepless runs show {run_id} --node '{found[0]['instance']}'")


def _found(gateway: Gateway, run_id: str, name: str) -> Iterator[Node]:
    after: int | None = 0
    while after is not None:
        page = gateway.ask("GET", "runs", run_id, "nodes", query={"after": after, "limit": MAX_PAGE_ITEMS})
        for node in page["nodes"]:
            if node["instance"] == name:
                yield node
                return
            if node["node"] == name:
                yield node
        after = page["cursor"]


def _lines(node: Node) -> Iterator[str]:
    yield f"{node['instance']}  {node['kind']}  {coloured(node['status'])}"
    started, ended = node["started_at"], node["ended_at"]
    took = f", took {duration(instant_ms(ended) - instant_ms(started))}" if started and ended else ""
    yield from fields([("started", when(started) + took if started else ""), ("reason", node["reason"] or "")])
    for call in node["calls"]:
        yield from ("", f"attempt {call['attempt']}, {when(call['at'])}, called with")
        values = [(name, brief(value, _SHOWN)) for name, value in call["params"].items()]
        yield from fields(values + [(name, cut(f"{text} ", len(text))) for name, text in call["previews"].items()])
    for label, value in (("inputs", node["inputs"]), ("output", node["output"])):
        if value not in (None, {}):
            yield ""
            yield from fields([(label, brief(value, _SHOWN))])
    if node["error"]:
        yield ""
        yield from fields([("failed", f"{node['error']['message']} [{node['error']['code']}]")])
        yield from source_line(node["error"])
        yield from traceback(node["exception"])
