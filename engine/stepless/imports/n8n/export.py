"""Reads the nodes, connections and settings of an export, without secrets.

Known forms: `{name, nodes, connections, settings, …}`, a list with one of them, either of them under `data`, and what n8n copies
to the clipboard: nodes and connections alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from stepless.compile.canonical import json_findings
from stepless.errors import InvalidRequest
from stepless.imports.n8n.findings import Report
from stepless.imports.sim.secrets import Secrets
from stepless.limits import MAX_IMPORT_BLOCKS, MAX_IMPORT_EDGES
from stepless.model.json import JSON

BASE: Final = "n8n-nodes-base."
NOTE: Final = "stickyNote"
LOOP: Final = "splitInBatches"
MAIN: Final = "main"
NODES: Final = "nodes"
_MARKED: Final = re.compile("[\ue000-\ue003]")
_NAMED: Final = re.compile(r"\{\{([A-Z][A-Z0-9_]*)\}\}")
SECRET: Final = re.compile("\ue000([A-Z][A-Z0-9_]*)\ue001")
"""A secret that was replaced, by its name. The two characters are for private use; texts of an export lose them."""
_TRIGGERS: Final = frozenset({"webhook", "cron", "interval", "start", "emailReadImap"})
_ENVELOPE_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Block:
    """A node of an export. `type` is without the package of n8n's own nodes; `path` is its place in the export."""

    name: str
    type: str
    version: float
    path: str
    params: Mapping[str, JSON]
    enabled: bool
    on_error: str
    retry: Mapping[str, JSON]
    credentials: Mapping[str, str]  # type → name

    @property
    def is_trigger(self) -> bool:
        return self.type in _TRIGGERS or self.type.endswith("Trigger")

    @property
    def is_loop(self) -> bool:
        return self.type == LOOP


@dataclass(frozen=True, slots=True)
class Edge:
    """A connection: from an output of `source` to an input of `target`, both by name. `sort` is `main`, or what part of the
    target the source is."""

    id: str
    path: str
    source: str
    output: int
    target: str
    input: int
    sort: str


@dataclass(frozen=True, slots=True)
class Export:
    """`blocks` by name, in the order of the export."""

    name: str
    blocks: Mapping[str, Block]
    edges: tuple[Edge, ...]
    settings: Mapping[str, JSON]
    pinned: tuple[str, ...]


def read_export(export: JSON, report: Report) -> Export:
    """Reads an export and removes its secrets. Raises `InvalidRequest` if it is not an export, not JSON, or too large."""
    if next(iter(json_findings(export)), None) is not None:
        raise no_export("it is not JSON, or nested too deeply")
    found, prefix = _workflow(export)
    nodes, connections = found[NODES], found["connections"]
    assert isinstance(nodes, list) and isinstance(connections, dict)
    edges = tuple(_edges(connections, prefix, report))
    if len(nodes) > MAX_IMPORT_BLOCKS or len(edges) > MAX_IMPORT_EDGES:
        message = f"the export has {len(nodes)} nodes and {len(edges)} connections"
        mend = f"split the workflow: the limits are {MAX_IMPORT_BLOCKS} nodes and {MAX_IMPORT_EDGES} connections"
        raise InvalidRequest(message, code="n8n_export_too_large", mend=mend, status=413)
    pinned, settings = found.get("pinData"), found.get("settings")
    return Export(
        str(found.get("name") or ""), dict(_blocks(nodes, prefix, report)), edges, settings if isinstance(settings, dict) else {},
        tuple(str(name) for name, data in pinned.items() if data) if isinstance(pinned, dict) else (),
    )


def no_export(detail: str) -> InvalidRequest:
    return InvalidRequest(
        f"this is not an export of n8n: {detail}", code="no_n8n_export", mend="give the JSON that n8n downloads as a workflow",
    )


def _workflow(export: JSON) -> tuple[dict[str, JSON], str]:
    """The workflow in an export, and the beginning of its paths."""
    inner, prefix = export, ""
    for _ in range(_ENVELOPE_DEPTH):
        if isinstance(inner, list) and len(inner) == 1:
            inner, prefix = inner[0], f"{prefix}0."
        if not isinstance(inner, dict):
            break
        if isinstance(inner.get(NODES), list) and isinstance(inner.get("connections"), dict):
            return inner, prefix
        name = "data" if inner.get("data") else "workflow"
        inner, prefix = inner.get(name), f"{prefix}{name}."
    raise no_export("expected `nodes`, a list, and `connections`, an object")


def _blocks(nodes: list[JSON], prefix: str, report: Report) -> Iterator[tuple[str, Block]]:
    secrets, seen = Secrets(report, "n8n_secret"), set[str]()
    for place, node in enumerate(nodes):
        path = f"{prefix}{NODES}.{place}"
        if not isinstance(node, dict) or not isinstance(node.get("name"), str) or not isinstance(node.get("type"), str):
            report.add("n8n_node_unreadable", path, detail="it has no name or no type")
            continue
        name, version, params = str(node["name"]), node.get("typeVersion"), node.get("parameters")
        if name in seen:
            report.add("n8n_name_twice", path, name=name)
            continue
        seen.add(name)
        on_error = str(node.get("onError") or ("continueRegularOutput" if node.get("continueOnFail") is True else ""))
        retried = ("maxTries", "waitBetweenTries") if node.get("retryOnFail") is True else ()
        yield name, Block(
            name, str(node["type"]).removeprefix(BASE), float(version) if isinstance(version, int | float) else 1.0, path,
            {key: _hidden(secrets, value, f"{path}.parameters.{key}", name, key) for key, value in params.items()}
            if isinstance(params, dict) else {},
            node.get("disabled") is not True, on_error,
            {"on": True, **{key: node.get(key) for key in retried}} if retried else {}, _credentials(node.get("credentials")),
        )  # fmt: skip


def _hidden(secrets: Secrets, value: JSON, path: str, owner: str, field: str) -> JSON:
    """The value with its secrets replaced by marks that SECRET finds."""
    if isinstance(value, list):
        return [_hidden(secrets, item, path, owner, field) for item in value]
    if isinstance(value, dict):
        row = value.get("name")
        return {
            key: _hidden(secrets, item, path, owner, row if key == "value" and isinstance(row, str) else key)
            for key, item in value.items()
        }
    if not isinstance(value, str):
        return value
    plain = _MARKED.sub("", value)
    hidden = str(secrets.hidden(plain, path, owner, field))
    own = set(_NAMED.findall(plain))
    return _NAMED.sub(lambda found: found[0] if found[1] in own else f"\ue000{found[1]}\ue001", hidden)


def _credentials(given: JSON) -> dict[str, str]:
    if not isinstance(given, dict):
        return {}
    return {sort: str(entry.get("name") if isinstance(entry, dict) else entry) for sort, entry in given.items()}


def _edges(connections: Mapping[str, JSON], prefix: str, report: Report) -> Iterator[Edge]:
    for source, sorts in connections.items():
        for sort, outputs in (sorts if isinstance(sorts, dict) else {}).items():
            for output, targets in enumerate(outputs if isinstance(outputs, list) else []):
                for place, target in enumerate(targets if isinstance(targets, list) else []):
                    path = f"{prefix}connections.{source}.{sort}.{output}.{place}"
                    if not isinstance(target, dict) or not isinstance(target.get("node"), str):
                        report.add("n8n_edge_unreadable", path, detail="it names no node")
                        continue
                    index = target.get("index")
                    yield Edge(path, path, source, output, str(target["node"]), index if isinstance(index, int) else 0, sort)
