"""Converts an export to a document with findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepless.compile import check_document
from stepless.errors import EngineBug, InvalidRequest
from stepless.imports.escaping import escaped
from stepless.imports.import_result import Imported
from stepless.imports.n8n.actions import ACTIONS, foreign
from stepless.imports.n8n.export import NOTE, Block, read_export
from stepless.imports.n8n.findings import Report
from stepless.imports.n8n.references import References, response_options
from stepless.imports.n8n.site import Node, Site, call_name
from stepless.imports.n8n.templates import with_secrets
from stepless.imports.n8n.triggers import TRIGGERS
from stepless.imports.n8n.triggers import foreign as foreign_trigger
from stepless.imports.n8n.wiring import Wire, Wiring
from stepless.imports.n8n.wiring import wire as wire_export
from stepless.imports.settings import disabled, is_retried, kept
from stepless.imports.sim.names import slug, unique
from stepless.limits import MAX_DURATION_MS, MAX_ENV_NAMES, MAX_IMPORT_FAULTS, MAX_MESSAGE_CHARACTERS, MAX_RETRY_ATTEMPTS
from stepless.model.findings import Severity
from stepless.model.json import JSON
from stepless.model.kind import ERROR, SOURCE
from stepless.nodes import KINDS

_TOO_LARGE: Final = ("nested_too_deep", "too_many_nodes", "too_many_edges")
_REFUSED: Final = "refused"
_REPORT: Final = "please report it, with the export"
_IDLE: Final = "nothing"  # the node in an empty loop
_PASSING: Final = ("condition", "join", "wait", "loop", "respond")
_KEPT_SETTINGS: Final = frozenset({
    "executionOrder", "timezone", "saveExecutionProgress", "saveManualExecutions", "saveDataErrorExecution", "callerPolicy",
    "saveDataSuccessExecution", "errorWorkflow", "executionTimeout", "timeSavedPerExecution", "callerIds", "availableInMCP",
    "timeSavedMode", "binaryMode",
})  # fmt: skip


def convert(export: Mapping[str, JSON]) -> Imported:
    """Converts an n8n export to a document. Raises `InvalidRequest` if it is not an export, or too large."""
    report = Report()
    read = read_export(dict(export), report)
    wiring = wire_export(read, report)
    references = References(read, wiring, report)
    document: dict[str, Any] = {"id": slug(read.name) if read.name else "n8n-workflow"}
    if read.name and read.name != document["id"]:
        document["name"] = read.name[:MAX_MESSAGE_CHARACTERS]
    description = _notes(references)
    if description:
        document["description"] = description
    document |= _settings(references)
    nodes = _body(None, references)["nodes"]
    nodes = with_secrets(nodes, references.variable)
    if references.env:
        document["env"] = sorted(references.env)
    if len(references.env) > MAX_ENV_NAMES:
        message = f"the workflow reads {len(references.env)} environment variables; the limit is {MAX_ENV_NAMES}"
        raise InvalidRequest(message, code="n8n_export_too_large", mend="split the workflow", status=413)
    document |= {"on_failure": "halt", "nodes": nodes}  # as in n8n, the first unhandled failure stops the run
    _accepted(document, references)
    return Imported(document, report.findings)


def _notes(references: References) -> str:
    pieces = []
    for block in references.export.blocks.values():
        if block.type == NOTE:
            references.report.add("n8n_note", block.path, name=block.name)
            pieces.append(str(block.params.get("content") or "").strip())
    description = "\n\n".join(piece for piece in pieces if piece)
    if len(description) > MAX_MESSAGE_CHARACTERS:
        references.report.add("n8n_description_cut", "", limit=MAX_MESSAGE_CHARACTERS)
    return str(with_secrets(description[:MAX_MESSAGE_CHARACTERS], lambda name: name))


def _settings(references: References) -> dict[str, JSON]:
    """What the settings of the workflow become."""
    report, settings = references.report, references.export.settings
    made: dict[str, JSON] = {}
    for name, value in settings.items():
        if name not in _KEPT_SETTINGS and value not in (None, "", {}, [], False):
            report.add("n8n_setting_ignored", f"settings.{name}", name=name, detail=value)
    if settings.get("errorWorkflow"):
        report.add("n8n_error_workflow", "settings.errorWorkflow", workflow=settings["errorWorkflow"])
    seconds = settings.get("executionTimeout")
    if isinstance(seconds, int) and 0 < seconds * 1_000 <= MAX_DURATION_MS:
        made["timeout"] = f"{seconds}s"
    if references.export.pinned:
        report.add("n8n_pinned_data", "pinData", nodes=", ".join(f"`{name}`" for name in references.export.pinned))
    return made


# -- bodies -----------------------------------------------------------------------------------------------------------


def _body(owner: str | None, references: References) -> Node:
    """The graph of a loop or of the workflow itself."""
    wiring, nodes = references.wiring, dict[str, Node]()
    several = []
    for name in wiring.bodies[owner]:
        block = references.export.blocks[name]
        site = Site(block, wiring.ids[name], references, references.report)
        nodes[site.id] = _node(site, _body(name, references) if block.is_loop else None)
        if nodes[site.id]["type"] == "function" or block.type in ("httpRequest", "splitOut"):
            several.append(f"`{site.id}`")
    if owner is None and several:
        references.report.add("n8n_items", "", nodes=", ".join(several))
    if not nodes:
        nodes[unique(_IDLE, wiring.ids.values())] = {"type": "join"}
        if owner is not None:
            at = wiring.ids[owner]
            references.report.add("n8n_loop_empty", references.export.blocks[owner].path, at=at, node=at)
    return {"nodes": nodes}


def _node(site: Site, body: Node | None) -> Node:
    block, wiring = site.block, site.references.wiring
    if not block.enabled:
        site.warn("n8n_disabled_node", node=site.id)
    if body is not None:
        node = _loop(site, body)
    elif block.is_trigger:
        node = TRIGGERS.get(block.type, foreign_trigger)(site)
    else:
        node = ACTIONS.get(block.type, foreign)(site)
    made: Node = {"type": node["type"]}
    if block.name != site.id:
        made["label"] = block.name[:MAX_MESSAGE_CHARACTERS]
    after = _after(site, node)
    if after:
        made["after"] = after[0] if len(after) == 1 else after
    made |= {name: value for name, value in node.items() if name != "type"}
    if not block.enabled:
        made["enabled"] = disabled(made)
    if block.retry and is_retried(node["type"]):
        made["retry"] = _retry(block)
    leaving = [wire for wires in wiring.into.values() for wire in wires if wire.source == block.name]
    if block.on_error and any(wire.exit == ERROR for wire in leaving):
        site.warn("n8n_continues", node=site.id)
    return made


def _loop(site: Site, body: Node) -> Node:
    """A loop over the list that it gets."""
    items = site.input_expression()
    size = site.take("batchSize")
    source = site.references.wiring.into[site.block.name]
    if len(source) != 1 or site.references.export.blocks[source[0].source].type != "splitOut":
        site.warn("n8n_loop_items", node=site.id, items=items)
    if size not in (None, 1):
        site.warn("n8n_loop_batches", "batchSize", node=site.id, size=size)
    if site.block.name not in site.references.wiring.closed:
        site.warn("n8n_loop_open", node=site.id)
    site.warn_unused("loop")
    return {"type": "loop", "with": {"items": items, "body": body}}


def _retry(block: Block) -> dict[str, int]:
    """The retry policy. In n8n, the wait between attempts is constant."""
    tries, wait_ms = block.retry.get("maxTries"), block.retry.get("waitBetweenTries")
    wait_ms = min(wait_ms, MAX_DURATION_MS) if isinstance(wait_ms, int) else 1_000
    attempts = min(tries, MAX_RETRY_ATTEMPTS) if isinstance(tries, int) else 3
    return {"attempts": max(1, attempts), "backoff_ms": wait_ms, "max_backoff_ms": wait_ms}


# -- edges ------------------------------------------------------------------------------------------------------------


def _after(site: Site, node: Node) -> list[JSON]:
    """The incoming edges. What comes after an answer, which has no exits here, follows what came before the answer."""
    wiring, name = site.references.wiring, site.block.name
    wires = list(dict.fromkeys(_through(wiring, site.references, wiring.into[name])))
    is_merge = site.block.type == "merge"
    if not is_merge and len({wire.source for wire in wires}) > 1 and not _are_exclusive(site.references, wires):
        site.warn("n8n_several_branches", node=site.id)
    carries = len(wires) > 1 or node["type"] in _PASSING or not site.block.enabled
    after: list[JSON] = []
    for wire in wires:
        entry = _edge(site.references, wire, carries, wire.edge.input if is_merge and node["type"] != "join" else None)
        if entry not in after:
            after.append(entry)
    return after


def _edge(references: References, wire: Wire, carries: bool, place: int | None) -> JSON:
    source = references.wiring.ids[wire.source]
    text = source if wire.exit == SOURCE else f"{source}.{wire.exit}"
    block = references.export.blocks[wire.source]
    entry: dict[str, JSON] = {"from": text}
    if place is not None:
        entry["param"] = f"input{place}"
    is_body = block.type == "httpRequest" and block.enabled and response_options(block).get("fullResponse") is not True
    if carries and wire.exit == SOURCE and is_body:
        entry["key"] = "body"
    return text if len(entry) == 1 else entry


def _through(wiring: Wiring, references: References, wires: tuple[Wire, ...]) -> list[Wire]:
    """The wires, with those that leave an answer replaced by the wires that lead to it."""
    found: list[Wire] = []
    for wire in wires:
        source = references.export.blocks[wire.source]
        if source.type in ("respondToWebhook", "stopAndError") and source.enabled:
            before = wiring.into[source.name] if source.type == "respondToWebhook" else ()
            found += [Wire(one.source, one.exit, wire.target, one.edge) for one in _through(wiring, references, before)]
        else:
            found.append(wire)
    return found


def _are_exclusive(references: References, wires: list[Wire]) -> bool:
    """Whether at most one of the wires is ever taken: each pair begins at different triggers, or at different exits of a node."""
    reasons = [_reasons(references, wire) for wire in wires]
    return all(
        not (left["triggers"] & right["triggers"]) or any(
            exits.isdisjoint(right["exits"].get(name, exits)) for name, exits in left["exits"].items()
        )
        for place, left in enumerate(reasons) for right in reasons[place + 1 :]
    )  # fmt: skip


def _reasons(references: References, wire: Wire) -> dict[str, Any]:
    """The triggers above a wire, and of every node above it the exits by which a path can lead here."""
    triggers, exits, left, seen = set[str](), dict[str, set[str]](), [wire], set[str]()
    while left:
        one = left.pop()
        exits.setdefault(one.source, set()).add(one.exit)
        if one.source in seen:
            continue
        seen.add(one.source)
        into = references.wiring.into[one.source]
        if not into:
            triggers.add(one.source)
        left += into
    return {"triggers": triggers, "exits": exits}


# -- the compiler's check ---------------------------------------------------------------------------------------------


def _accepted(document: dict[str, Any], references: References) -> None:
    """Replaces every node whose parameters the compiler refuses by a function with the parameters of the export. Thus only the
    kinds check values such as URLs and header names."""
    by_id = {node: name for name, node in references.wiring.ids.items()}
    for _ in range(MAX_IMPORT_FAULTS):
        errors = [finding for finding in check_document(document, KINDS) if finding.severity is Severity.ERROR]
        if not errors:
            return
        if errors[0].code in _TOO_LARGE:
            raise InvalidRequest(errors[0].message, code="n8n_export_too_large", place=errors[0].path, mend="split the workflow")
        refused = {finding.node: finding for finding in reversed(errors)}
        for node, finding in refused.items():
            block = references.export.blocks.get(by_id.get(node or "", ""))
            if block is None or not _replaced(document, str(node), block, finding.message, references):
                raise EngineBug(f"the imported document is refused: {finding}", place=finding.path, mend=_REPORT)
    raise EngineBug("the imported document is still refused", mend=_REPORT)


def _replaced(document: dict[str, Any], node: str, block: Block, detail: str, references: References) -> bool:
    """Replaces a node by a function; returns False if it was replaced before."""
    home = _home(document["nodes"], node)
    if home is None or _REFUSED in home[node].get("with", {}).get("args", {}):
        return False
    call = call_name(block.type)
    references.report.add("n8n_node_refused", block.path, at=node, node=node, type=block.type, detail=detail, call=call)
    args = {_REFUSED: with_secrets(_as_text(dict(block.params), references), references.variable)}
    home[node] = {**kept(home[node]), "type": "function", "with": {"call": call, "args": args}}
    document["env"] = sorted(references.env) or document.get("env", [])
    for other in home.values():
        _leave_by_source(other, node)
    return True


def _as_text(value: JSON, references: References) -> JSON:
    if isinstance(value, str):
        return escaped(value, references.known)
    if isinstance(value, list):
        return [_as_text(item, references) for item in value]
    return {key: _as_text(item, references) for key, item in value.items()} if isinstance(value, dict) else value


def _home(nodes: dict[str, Node], node: str) -> dict[str, Node] | None:
    """The body that contains a node."""
    bodies = [nodes]
    for body in bodies:
        if node in body:
            return body
        bodies += [inner["with"]["body"]["nodes"] for inner in body.values() if inner["type"] == "loop"]
    return None


def _leave_by_source(node: Node, source: str) -> None:
    """Moves a node's incoming edges from `source` to that node's only exit; edges from `error` stay."""
    after = node.get("after", [])
    moved = []
    for entry in after if isinstance(after, list) else [after]:
        given = entry["from"] if isinstance(entry, dict) else entry
        leaves = source if given.startswith(f"{source}.") and given != f"{source}.error" else given
        named = {name: value for name, value in entry.items() if name != "key"} if isinstance(entry, dict) else {}
        one = {**named, "from": leaves} if named else leaves
        if one not in moved:
            moved.append(one)
    if moved:
        node["after"] = moved[0] if len(moved) == 1 else moved
