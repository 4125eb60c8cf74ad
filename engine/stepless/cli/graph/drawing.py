"""Writes a graph as text for drawing programs: Mermaid and DOT. Containers are frames, error edges are dashed."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stepless.model.graph import Body, Edge, Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import ERROR, SOURCE, Nature

_MERMAID_SHAPES = {Nature.ENTRY: ("([", "])"), Nature.PAUSE: ("[/", "/]"), Nature.EFFECT: ("[", "]"), Nature.PURE: ("(", ")")}
_DOT_SHAPES = {Nature.ENTRY: "oval", Nature.PAUSE: "parallelogram", Nature.EFFECT: "box", Nature.PURE: "box, style=rounded"}


def mermaid(graph: Graph) -> str:
    """Returns a Mermaid flowchart, left to right."""
    return "\n".join(["flowchart LR", *_mermaid_body(graph.root, "", "  ")]) + "\n"


def _mermaid_body(body: Body, prefix: str, indent: str) -> Iterator[str]:
    """Node ids are positions, because Mermaid reserves words such as `end`."""
    for node in body.nodes:
        name = _name(prefix, node.position)
        if node.container is not None:
            yield f"{indent}subgraph {name}[{_quoted(title(node))}]"
            yield from _mermaid_body(node.container.body, f"{name}_", indent + "  ")
            yield f"{indent}end"
        else:
            left, right = ("{", "}") if node.kind.branches else _MERMAID_SHAPES.get(node.kind.nature, ("[", "]"))
            yield f"{indent}{name}{left}{_quoted(title(node))}{right}"
    for edge in edges_of(body):
        arrow = "-.->" if edge.handle == ERROR else "-->"
        label = "" if edge.handle == SOURCE else f"|{_quoted(edge.handle)}|"
        yield f"{indent}{_name(prefix, edge.source)} {arrow}{label} {_name(prefix, edge.target)}"


def _quoted(text: str) -> str:
    """A label with Mermaid's own escapes. Line breaks become spaces."""
    text = " ".join(text.split())
    return '"' + text.replace("#", "#35;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;") + '"'


def dot(graph: Graph) -> str:
    """Returns a Graphviz digraph, left to right."""
    lines = [f"digraph {json.dumps(graph.workflow_id)} {{", "  rankdir=LR; compound=true; node [fontname=Helvetica];"]
    return "\n".join([*lines, *_dot_body(graph.root, "", "  "), "}"]) + "\n"


def _dot_body(body: Body, prefix: str, indent: str) -> Iterator[str]:
    for node in body.nodes:
        name = _name(prefix, node.position)
        if node.container is not None:
            yield f"{indent}subgraph cluster_{name} {{"
            yield f"{indent}  label={_dot_text(title(node))};"
            yield f"{indent}  {name} [shape=point, style=invis];"  # edges of the frame connect to this point
            yield from _dot_body(node.container.body, f"{name}_", indent + "  ")
            yield f"{indent}}}"
        else:
            shape = "diamond" if node.kind.branches else _DOT_SHAPES.get(node.kind.nature, "box")
            yield f"{indent}{name} [label={_dot_text(title(node))}, shape={shape}];"
    for edge in edges_of(body):
        yield f"{indent}{_name(prefix, edge.source)} -> {_name(prefix, edge.target)}{_dot_edge(body, prefix, edge)};"


def _dot_edge(body: Body, prefix: str, edge: Edge) -> str:
    attributes = [] if edge.handle == SOURCE else [f"label={_dot_text(edge.handle)}"]
    if edge.handle == ERROR:
        attributes.append("style=dashed")
    if body.nodes[edge.source].container is not None:
        attributes.append(f"ltail=cluster_{_name(prefix, edge.source)}")
    if body.nodes[edge.target].container is not None:
        attributes.append(f"lhead=cluster_{_name(prefix, edge.target)}")
    return f" [{', '.join(attributes)}]" if attributes else ""


def _dot_text(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def nodes_and_edges(graph: Graph) -> dict[str, JSON]:
    """Returns the graph as JSON, for programs."""
    return {"workflow": graph.workflow_id, "name": graph.name, **_parts(graph.root)}


def _parts(body: Body) -> dict[str, JSON]:
    nodes: list[JSON] = [
        {"id": node.id, "kind": node.kind.name, "label": node.label, "wave": node.wave}
        | ({"body": _parts(node.container.body)} if node.container is not None else {})
        for node in body.nodes
    ]
    edges: list[JSON] = [
        {"source": body.nodes[edge.source].id, "handle": edge.handle, "target": body.nodes[edge.target].id}
        for edge in edges_of(body)
    ]
    return {"nodes": nodes, "edges": edges}


def edges_of(body: Body) -> Iterator[Edge]:
    """Yields the edges in order, one for each source, target and exit: parallel edges may feed several params."""
    drawn: set[tuple[int, int, str]] = set()
    for edge in sorted((edge for node in body.nodes for edge in node.outgoing), key=lambda edge: edge.order):
        key = (edge.source, edge.target, edge.handle)
        if key not in drawn:
            drawn.add(key)
            yield edge


def _name(prefix: str, position: int) -> str:
    return f"{prefix}n{position}"


def title(node: Node) -> str:
    return f"{node.label}: {node.kind.name}" if node.kind.name != node.label else node.label
