"""Converts an export to a document with findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepless.compile import check_document
from stepless.errors import EngineBug, InvalidRequest
from stepless.imports.import_result import Imported
from stepless.imports.settings import kept
from stepless.imports.sim.blocks import convert_block
from stepless.imports.sim.containers import container
from stepless.imports.sim.export import CONTAINERS, NOTE, Block, Export, read_export
from stepless.imports.sim.findings import Report
from stepless.imports.sim.names import compared, slug, unique, word
from stepless.imports.sim.reference_translation import References
from stepless.imports.sim.site import Node, Site, call_name
from stepless.imports.sim.wiring import wire
from stepless.limits import MAX_ENV_NAMES, MAX_ID_CHARACTERS, MAX_IMPORT_FAULTS, MAX_MESSAGE_CHARACTERS
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON
from stepless.nodes import KINDS

Document = dict[str, Any]
_TOO_LARGE: Final = ("nested_too_deep", "too_many_nodes", "too_many_edges")
_REFUSED: Final = "refused"
_REPORT: Final = "please report it, with the export"
_IDLE: Final = "nothing"  # the node in an empty container


def convert(export: Mapping[str, JSON]) -> Imported:
    """Converts a Sim export to a document. Raises `InvalidRequest` if it is not an export, or too large."""
    report = Report()
    read = read_export(export, report)
    wiring = wire(read, report)
    references = References(read, wiring, _variable_names(read), report)
    document: Document = {"id": slug(read.name)}
    if read.name and read.name != document["id"]:
        document["name"] = read.name[:MAX_MESSAGE_CHARACTERS]
    description = _description(read, report)
    if description:
        document["description"] = description
    _keep(references)
    nodes = _body(None, references)["nodes"]
    variables = {references.variables[compared(entry.name)]: entry.value for entry in read.variables}
    variables.update(dict.fromkeys(references.kept.values()))
    if variables:
        document["variables"] = variables
    if references.env:
        document["env"] = sorted(references.env)
    if len(references.env) > MAX_ENV_NAMES:
        message = f"the workflow reads {len(references.env)} environment variables; the limit is {MAX_ENV_NAMES}"
        raise InvalidRequest(message, code="sim_export_too_large", mend="split the workflow", status=413)
    document |= {"on_failure": "halt", "nodes": nodes}  # as in Sim, the first unhandled failure stops the run
    _accepted(document, references)
    return Imported(document, report.findings)


def _variable_names(export: Export) -> dict[str, str]:
    names: dict[str, str] = {}
    for entry in export.variables:
        names.setdefault(compared(entry.name), unique(word(entry.name, "variable"), names.values()))
    return names


def _description(export: Export, report: Report) -> str:
    """The workflow's description, followed by its notes."""
    pieces = [export.description] if export.description else []
    for block in export.blocks.values():
        if block.type == NOTE:
            report.add("sim_note", block.path, name=block.name)
            pieces.append(f"{block.name}: {str(block.fields.get('content', '')).strip()}")
    description = "\n\n".join(pieces)
    if len(description) > MAX_MESSAGE_CHARACTERS:
        report.add("sim_description_cut", "", limit=MAX_MESSAGE_CHARACTERS)
    return description[:MAX_MESSAGE_CHARACTERS]


# -- bodies -----------------------------------------------------------------------------------------------------------


def _keep(references: References) -> None:
    """Finds the outputs inside loops that the loops' tests read. This comes before the conversion of the bodies, which adds nodes
    that keep these outputs in variables."""
    for owner in references.wiring.bodies:
        if owner is not None:
            container(Site(references.export.blocks[owner], references.wiring.ids[owner], references, references.report), {})


def _body(owner: str | None, references: References) -> Node:
    """The graph of a container or of the workflow itself, with a node for each output that is kept for a loop's test."""
    wiring, nodes = references.wiring, dict[str, Node]()
    for key in wiring.bodies[owner]:
        block = references.export.blocks[key]
        inner: Node | None = {} if block.is_container else None
        site = Site(block, wiring.ids[key], references, references.report)
        nodes[wiring.ids[key]] = convert_block(site, wiring, inner)
        if inner is not None:
            inner |= _body(key, references)
    for key in wiring.bodies[owner]:
        if key in references.kept:
            name = unique(f"keep_{wiring.ids[key]}"[: MAX_ID_CHARACTERS - 8], {*wiring.ids.values(), *nodes})
            written = {references.kept[key]: f"<{wiring.ids[key]}>"}
            nodes[name] = {"type": "set", "after": wiring.ids[key], "with": {"variables": written}}
    if not nodes:
        nodes[unique(_IDLE, wiring.ids.values())] = {"type": "join"}
        if owner is not None:
            block = references.export.blocks[owner]
            references.report.add("sim_empty_container", block.path, at=wiring.ids[owner], node=wiring.ids[owner])
    return {"nodes": nodes}


# -- the compiler's check ---------------------------------------------------------------------------------------------


def _accepted(document: Document, references: References) -> None:
    """Replaces every node whose parameters the compiler refuses by a function with the parameters of the export. Thus only the
    kinds check values such as URLs and header names."""
    for _ in range(MAX_IMPORT_FAULTS):
        errors = [finding for finding in check_document(document, KINDS) if finding.severity is Severity.ERROR]
        if not errors:
            return
        if errors[0].code in _TOO_LARGE:
            raise InvalidRequest(errors[0].message, code="sim_export_too_large", place=errors[0].path, mend="split the workflow")
        refused = {finding.node: finding for finding in reversed(errors)}
        by_id = {node: key for key, node in references.wiring.ids.items()}
        for node, finding in refused.items():
            block = references.export.blocks.get(by_id.get(node or "", ""))
            if block is None or block.is_container or not _replaced(document, str(node), block, finding, references):
                raise EngineBug(f"the imported document is refused: {finding}", place=finding.path, mend=_REPORT)
    raise EngineBug("the imported document is still refused", mend=_REPORT)


def _replaced(document: Document, node: str, block: Block, finding: Finding, references: References) -> bool:
    """Replaces a node by a function; returns False if it was replaced before."""
    home = _home(document["nodes"], node)
    if home is None or _REFUSED in home[node].get("with", {}).get("args", {}):
        return False
    call = call_name(block.type)
    references.report.add("sim_block_refused", block.path, at=node, node=node, type=block.type, detail=finding.message, call=call)
    refused = references.untouched(dict(block.fields))
    home[node] = {
        **kept(home[node]),
        "type": "function", "with": {"call": call, "args": {_REFUSED: refused}},
    }  # fmt: skip
    for other in home.values():
        _leave_by_source(other, node)
    return True


def _home(nodes: dict[str, Node], node: str) -> dict[str, Node] | None:
    """The body that contains a node."""
    bodies = [nodes]
    for body in bodies:
        if node in body:
            return body
        bodies += [inner["with"]["body"]["nodes"] for inner in body.values() if inner["type"] in CONTAINERS]
    return None


def _leave_by_source(node: Node, source: str) -> None:
    """Moves a node's incoming edges from `source` to that node's only exit; edges from `error` stay."""
    after = [node["after"]] if isinstance(node.get("after"), str) else node.get("after", [])
    moved = [source if entry.startswith(f"{source}.") and entry != f"{source}.error" else entry for entry in after]
    if moved:
        node["after"] = moved[0] if len(moved) == 1 else list(dict.fromkeys(moved))
