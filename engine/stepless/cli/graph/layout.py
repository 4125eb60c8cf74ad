"""Computes where the nodes of a graph are drawn, left to right. The layer of a node is its wave; the order within a layer is by
barycentres. An edge that crosses a layer gets a cell of its own there (Sugiyama, Tagawa, Toda 1981). A container contains the
layout of its body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from stepless.cli.graph.drawing import edges_of
from stepless.model.graph import Body, Node

BOX_WIDTH, BOX_HEIGHT = 168.0, 46.0
_LAYER_GAP: Final = 72.0  # between layers: the name of an exit must fit
_GAP: Final = 18.0  # between boxes of a layer
_PAD, HEAD = 14.0, 30.0  # of a container's frame: around its body, and for its title
_THIN: Final = 10.0  # the height of an edge in a layer that it crosses
_ROUNDS: Final = 8

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    node: Node
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Curve:
    """All edges from one node to another, with their exits. The path alternates through `points`: a curve from the first to the
    second, a straight line to the third, and so on."""

    handles: tuple[str, ...]
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """All boxes and curves. A frame comes before its contents."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]


@dataclass(slots=True, eq=False)
class _Cell:
    """A cell in a layer: a node, or an edge that crosses the layer. `cross` is its middle, `x` its left edge, `wish` the middle
    that its neighbours suggest."""

    node: Node | None = None
    inner: Layout | None = None
    width: float = 0.0
    height: float = _THIN
    cross: float = 0.0
    wish: float = 0.0
    x: float = 0.0
    band: Point = (0.0, 0.0)
    before: list[_Cell] = field(default_factory=list)
    after: list[_Cell] = field(default_factory=list)


def layout(body: Body) -> Layout:
    base = min(node.wave for node in body.nodes)
    layers: list[list[_Cell]] = [[] for _ in range(1 + max(node.wave for node in body.nodes) - base)]
    cells = [_cell(node) for node in body.nodes]
    for node, cell in zip(body.nodes, cells, strict=True):
        layers[node.wave - base].append(cell)
    handles: dict[tuple[int, int], list[str]] = {}
    for edge in edges_of(body):
        handles.setdefault((edge.source, edge.target), []).append(edge.handle)
    chains = [(exits, _chain(*ends, body, cells, layers, base)) for ends, exits in handles.items()]
    _arrange(layers)
    long = _place(layers)
    top = min(cell.cross - cell.height / 2 for layer in layers for cell in layer)
    bottom = max(cell.cross + cell.height / 2 for layer in layers for cell in layer)
    boxes: list[Box] = []
    curves = [Curve(tuple(exits), tuple(_points(chain, top))) for exits, chain in chains]
    for cell in cells:
        box = Box(_node_of(cell), cell.x, cell.cross - cell.height / 2 - top, cell.width, cell.height)
        boxes.append(box)
        if cell.inner is not None:
            x, y = box.x + _PAD, box.y + HEAD
            boxes += [replace(inner, x=inner.x + x, y=inner.y + y) for inner in cell.inner.boxes]
            curves += [replace(curve, points=tuple((a + x, b + y) for a, b in curve.points)) for curve in cell.inner.curves]
    return Layout(long, bottom - top, tuple(boxes), tuple(curves))


def _cell(node: Node) -> _Cell:
    if node.container is None:
        return _Cell(node, None, BOX_WIDTH, BOX_HEIGHT)
    inner = layout(node.container.body)
    return _Cell(node, inner, max(BOX_WIDTH, inner.width + 2 * _PAD), inner.height + HEAD + _PAD)


def _node_of(cell: _Cell) -> Node:
    assert cell.node is not None  # only cells of nodes become boxes
    return cell.node


def _chain(
    source: int, target: int, body: Body, cells: Sequence[_Cell], layers: Sequence[list[_Cell]], base: int
) -> list[_Cell]:
    """The cells that an edge passes, linked as neighbours."""
    chain = [cells[source]]
    for at in range(body.nodes[source].wave + 1, body.nodes[target].wave):
        passing = _Cell()
        layers[at - base].append(passing)
        chain.append(passing)
    chain.append(cells[target])
    for former, latter in pairwise(chain):
        former.after.append(latter)
        latter.before.append(former)
    return chain


def _place(layers: Sequence[Sequence[_Cell]]) -> float:
    """Puts the layers side by side; returns their total length."""
    at = 0.0
    for layer in layers:
        wide = max(cell.width for cell in layer)
        for cell in layer:
            cell.x, cell.band = at + (wide - cell.width) / 2, (at, at + wide)
        at += wide + _LAYER_GAP
    return at - _LAYER_GAP


def _points(chain: Sequence[_Cell], top: float) -> list[Point]:
    points: list[Point] = []
    for step, cell in enumerate(chain):
        left, right = (cell.x, cell.x + cell.width) if cell.node is not None else cell.band
        if step > 0:
            points.append((left, cell.cross - top))
        if step < len(chain) - 1:
            points.append((right, cell.cross - top))
    return points


# -- order and place within layers ------------------------------------------------------------------------------------


def _arrange(layers: Sequence[list[_Cell]]) -> None:
    for layer in layers:
        _spread(layer)
    for turn in range(_ROUNDS):
        backwards = bool(turn % 2)
        for layer in reversed(layers) if backwards else layers:
            _wish(layer, (lambda cell: cell.after) if backwards else (lambda cell: cell.before))
            layer.sort(key=lambda cell: cell.wish)
            _spread(layer)
            shift = sum(cell.wish - cell.cross for cell in layer) / len(layer)
            for cell in layer:
                cell.cross += shift
    for turn in range(_ROUNDS):
        for layer in reversed(layers) if turn % 2 else layers:
            _settle(layer)


def _spread(layer: Sequence[_Cell]) -> None:
    at = 0.0
    for cell in layer:
        cell.cross = at + cell.height / 2
        at += cell.height + _GAP


def _wish(layer: Sequence[_Cell], around: Callable[[_Cell], Sequence[_Cell]]) -> None:
    for cell in layer:
        near = around(cell)
        cell.wish = sum(other.cross for other in near) / len(near) if near else cell.cross


def _settle(layer: Sequence[_Cell]) -> None:
    """Moves cells closer to their neighbours, without overlaps."""
    _wish(layer, lambda cell: [*cell.before, *cell.after])
    down = [cell.wish for cell in layer]
    up = list(down)
    least = [(former.height + latter.height) / 2 + _GAP for former, latter in pairwise(layer)]
    for at in range(1, len(layer)):
        down[at] = max(down[at], down[at - 1] + least[at - 1])
    for at in range(len(layer) - 2, -1, -1):
        up[at] = min(up[at], up[at + 1] - least[at])
    for cell, low, high in zip(layer, down, up, strict=True):
        cell.cross = (low + high) / 2
