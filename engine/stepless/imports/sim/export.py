"""Reads the blocks, edges, container settings and variables of an export, from every known release of Sim.

Known forms: `{version, state: {blocks, edges, loops, parallels, metadata, variables}}`, the state alone, and either of them under
`data`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from stepless.compile.canonical import json_findings
from stepless.errors import InvalidRequest
from stepless.imports.sim.findings import Report
from stepless.imports.sim.secrets import Secrets
from stepless.imports.sim.values import deeper_than, typed
from stepless.limits import MAX_IMPORT_BLOCKS, MAX_IMPORT_EDGES, MAX_IMPORT_FIELD_DEPTH, MAX_VARIABLES
from stepless.model.json import JSON

CONTAINERS: Final = ("loop", "parallel")
NOTE: Final = "note"
TRIGGER: Final = "trigger"
WEBHOOKS: Final = ("webhook", "generic_webhook")
ENTRIES: Final = frozenset({"starter", "schedule", *WEBHOOKS})
_ENTRY_SUFFIX: Final = "_trigger"
_ENVELOPE_DEPTH: Final = 3
SETTINGS: Final = frozenset({
    "loopType", "iterations", "count", "forEachItems", "collection", "whileCondition", "doWhileCondition", "parallelType",
    "distribution", "batchSize",
})  # fmt: skip
_EDITOR_SETTINGS: Final = frozenset({
    "id", "type", "name", "nodes", "enabled", "parentId", "extent", "width", "height", "canonicalModes", "state", "isPreview",
    "hasNestedError",
})  # fmt: skip
_NO_BEHAVIOUR: Final = frozenset({
    "id", "type", "name", "enabled", "triggerMode", "subBlocks", "data", "parentId", "retry", "position", "positionAbsolute",
    "height", "width", "horizontalHandles", "isWide", "advancedMode", "locked", "layout", "outputs", "extent", "color",
    "selected", "dragging", "isStarterBlock",
})  # fmt: skip
_STATE_KEYS: Final = frozenset({
    "blocks", "edges", "loops", "parallels", "variables", "metadata", "version", "exportedAt", "lastSaved", "lastUpdate",
    "isDeployed", "deployedAt", "deploymentStatuses", "needsRedeployment", "hasActiveWebhook", "state", "name", "description",
    "id", "color", "workflow", "folderId", "isPublished", "isFromTemplate",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """`fields` are the non-empty values of its sub-blocks, without secrets; `settings` is the other data of the editor, mostly of
    containers; `path` is its place in the export."""

    key: str
    type: str
    name: str
    path: str
    enabled: bool
    trigger: bool
    parent: str | None
    fields: Mapping[str, JSON]
    settings: Mapping[str, JSON]
    retry: Mapping[str, JSON]

    @property
    def is_container(self) -> bool:
        return self.type in CONTAINERS

    @property
    def role(self) -> str:
        """TRIGGER for every trigger that is not a container, else the block's type."""
        return TRIGGER if self.is_trigger and not self.is_container else self.type

    @property
    def is_trigger(self) -> bool:
        return self.trigger or self.type in ENTRIES or self.type.endswith(_ENTRY_SUFFIX)


@dataclass(frozen=True, slots=True)
class Edge:
    id: str
    path: str
    source: str
    target: str
    handle: str | None


@dataclass(frozen=True, slots=True)
class Variable:
    key: str
    name: str
    value: JSON


@dataclass(frozen=True, slots=True)
class Export:
    """`blocks` by key, in the order of the export; `subflows` are the settings of containers by block key."""

    name: str
    description: str
    blocks: Mapping[str, Block]
    edges: tuple[Edge, ...]
    subflows: Mapping[str, Mapping[str, JSON]]
    variables: tuple[Variable, ...]


def read_export(export: JSON, report: Report) -> Export:
    """Reads an export and removes its secrets. Raises `InvalidRequest` if it is not an export, not JSON, or too large."""
    if next(iter(json_findings(export)), None) is not None:
        raise _no_export("it is not JSON, or nested too deeply")
    state, prefix = _state(export)
    if len(state["blocks"]) > MAX_IMPORT_BLOCKS or len(state["edges"]) > MAX_IMPORT_EDGES:
        message = f"the export has {len(state['blocks'])} blocks and {len(state['edges'])} edges"
        mend = f"split the workflow: the limits are {MAX_IMPORT_BLOCKS} blocks and {MAX_IMPORT_EDGES} edges"
        raise InvalidRequest(message, code="sim_export_too_large", mend=mend, status=413)
    secrets = Secrets(report)
    for key in state.keys() - _STATE_KEYS:
        if state[key]:
            report.add("sim_field_ignored", f"{prefix}{key}", field=key, kind="a workflow", detail=type(state[key]).__name__)
    blocks = {block.key: block for block in _blocks(state, f"{prefix}blocks", report, secrets)}
    subflows = dict(_subflows(state, prefix, blocks, report, secrets))
    description = str(secrets.hidden(_metadata("description", state, export), f"{prefix}metadata", "workflow", "description"))
    return Export(
        _metadata("name", state, export), description, blocks,
        tuple(_edges(state["edges"], f"{prefix}edges", report)), subflows,
        tuple(_variables(state.get("variables") or export.get("variables"), f"{prefix}variables", report, secrets)),
    )  # fmt: skip


def _state(export: JSON) -> tuple[Mapping[str, JSON], str]:
    """The object that holds blocks and edges, and the path to it."""
    prefix = ""
    for _ in range(_ENVELOPE_DEPTH):
        if not isinstance(export, dict):
            break
        if isinstance(export.get("blocks"), dict) and isinstance(export.get("edges"), list):
            return export, prefix
        inner = next((key for key in ("state", "data") if isinstance(export.get(key), dict)), None)
        if inner is None:
            break
        export, prefix = export[inner], f"{prefix}{inner}."
    raise _no_export("it has no blocks and edges")


def _metadata(field: str, state: Mapping[str, JSON], export: Mapping[str, JSON]) -> str:
    """A text about the workflow, from any of the places where releases of Sim store it."""
    for place in (state.get("metadata"), state.get("workflow"), export.get("workflow"), state):
        text = place.get(field) if isinstance(place, dict) else None
        if isinstance(text, str) and text.strip():
            return text.strip()
    return ""


def _no_export(reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"this is not an export of Sim: {reason}", code="no_sim_export",
        mend='use the file that Sim writes as "Export": {"version": "1.0", "state": {"blocks": {…}, "edges": […], …}}',
    )  # fmt: skip


def _blocks(state: Mapping[str, JSON], place: str, report: Report, secrets: Secrets) -> Iterator[Block]:
    listed = _listed_parents(state)
    for key, raw in state["blocks"].items():
        path = f"{place}.{key}"
        if not isinstance(raw, dict) or not isinstance(raw.get("type"), str) or not raw["type"]:
            report.add("sim_block_unreadable", path, detail=f"{type(raw).__name__} {raw!s}")
            continue
        data = raw["data"] if isinstance(raw.get("data"), dict) else {}
        name = raw["name"] if isinstance(raw.get("name"), str) and raw["name"].strip() else raw["type"]
        for extra in raw.keys() - _NO_BEHAVIOUR:
            if raw[extra]:
                report.add("sim_field_ignored", f"{path}.{extra}", field=extra, kind=raw["type"], detail=raw[extra])
        parent = data.get("parentId") or raw.get("parentId") or listed.get(key)
        yield Block(
            key, raw["type"], name.strip(), path, raw.get("enabled") is not False, raw.get("triggerMode") is True,
            parent if isinstance(parent, str) and parent != key else None,
            dict(_fields(raw.get("subBlocks"), f"{path}.subBlocks", name, report, secrets)),
            dict(_settings(data, f"{path}.data", raw["type"], report, secrets)),
            raw["retry"] if isinstance(raw.get("retry"), dict) else {},
        )  # fmt: skip


def _listed_parents(state: Mapping[str, JSON]) -> dict[str, str]:
    """Block key → container, from the containers' own lists of blocks."""
    parents: dict[str, str] = {}
    for group in ("loops", "parallels"):
        settings = state.get(group)
        for container, setting in settings.items() if isinstance(settings, dict) else ():
            nodes = setting.get("nodes") if isinstance(setting, dict) else None
            parents.update((node, container) for node in nodes or () if isinstance(node, str))
    return parents


def _fields(raw: JSON, place: str, owner: str, report: Report, secrets: Secrets) -> Iterator[tuple[str, JSON]]:
    for name, field in raw.items() if isinstance(raw, dict) else ():
        value = field.get("value") if isinstance(field, dict) and ("value" in field or "type" in field) else field
        if value is None or value in ("", [], {}):
            continue
        if deeper_than(value, MAX_IMPORT_FIELD_DEPTH):
            report.add("sim_field_unreadable", f"{place}.{name}", field=name, detail="it is nested too deeply")
            continue
        sort = field.get("type") if isinstance(field, dict) else ""
        yield name, secrets.hidden(value, f"{place}.{name}", owner, name, sort if isinstance(sort, str) else "")


def _edges(raw: list[JSON], place: str, report: Report) -> Iterator[Edge]:
    for number, edge in enumerate(raw):
        path = f"{place}.{number}"
        if not isinstance(edge, dict) or not isinstance(edge.get("source"), str) or not isinstance(edge.get("target"), str):
            report.add("sim_edge_unreadable", path, edge=str(edge.get("id")) if isinstance(edge, dict) else None)
            continue
        handle = edge.get("sourceHandle")
        name, named = str(edge.get("id") or number), handle if isinstance(handle, str) else None
        yield Edge(name, path, edge["source"], edge["target"], named)


def _subflows(
    state: Mapping[str, JSON], prefix: str, blocks: Mapping[str, Block], report: Report, secrets: Secrets,
) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    for group in ("loops", "parallels"):
        settings = state.get(group)
        for key, setting in settings.items() if isinstance(settings, dict) else ():
            if key not in blocks or not isinstance(setting, dict):
                report.add("sim_unknown_subflow", f"{prefix}{group}.{key}")
            else:
                yield key, dict(_settings(setting, f"{prefix}{group}.{key}", blocks[key].type, report, secrets))


def _settings(
    raw: Mapping[str, JSON], place: str, sort: str, report: Report, secrets: Secrets,
) -> Iterator[tuple[str, JSON]]:
    """The known settings of a container, without secrets. Every other setting with a value becomes a finding."""
    for name, value in raw.items():
        if value is None or value is False or value in ("", [], {}) or name in _EDITOR_SETTINGS:
            continue
        if sort not in CONTAINERS or name not in SETTINGS:
            shown = secrets.hidden(value, place, sort, name)
            report.add("sim_field_ignored", f"{place}.{name}", field=name, kind=sort, detail=shown)
        elif deeper_than(value, MAX_IMPORT_FIELD_DEPTH):
            report.add("sim_field_unreadable", f"{place}.{name}", field=name, detail="it is nested too deeply")
        else:
            yield name, secrets.hidden(value, f"{place}.{name}", sort, name)


def _variables(raw: JSON, place: str, report: Report, secrets: Secrets) -> Iterator[Variable]:
    entries = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    for number, (key, entry) in enumerate(entries):
        path = f"{place}.{key}"
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(name, str) or not name.strip() or number >= MAX_VARIABLES:
            detail = "it has no name, or there are too many variables"
            report.add("sim_variable_unreadable", path, name=name or key, type="a variable", detail=detail)
            continue
        sort = str(entry.get("type") or "string")
        value, detail = typed(secrets.hidden(entry.get("value"), path, "variable", name), sort)
        if detail or deeper_than(value, MAX_IMPORT_FIELD_DEPTH):
            report.add("sim_variable_unreadable", path, name=name, type=sort, detail=detail or "it is nested too deeply")
            value = None
        yield Variable(str(entry.get("id") or key), name.strip(), value)
