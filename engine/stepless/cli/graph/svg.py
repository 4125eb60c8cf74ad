"""Draws a graph as a self-contained SVG: it uses the viewer's own fonts and follows the viewer's light or dark mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape

from stepless.cli.graph.layout import HEAD, Box, Curve, Layout, layout
from stepless.model.graph import Graph
from stepless.model.kind import ERROR, SOURCE, Nature

_MARGIN: Final = 16.0
_LABEL: Final = 21  # characters that fit into a box
_HANDLE: Final = 10  # characters that fit between two layers
_LINE: Final = 12.0  # from one line of small letters to the next
_FRAME: Final = 0.14  # characters per unit of a frame's width
_CLASSES: Final = {Nature.ENTRY: "entry", Nature.PAUSE: "pause", Nature.EFFECT: "effect", Nature.PURE: "pure"}
_STYLE: Final = """\
  svg { background: #fff; font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
  rect { fill: #f6f7f9; stroke: #8a93a3; stroke-width: 1.25; }
  .entry rect { fill: #eef6ff; stroke: #3b82c4; } .pause rect { fill: #fff8e6; stroke: #c08a1e; }
  .effect rect { fill: #eefaf1; stroke: #3f9a5c; } .frame > rect { fill: #8a93a312; stroke: #8a93a3; }
  text { fill: #1d2430; } .kind, .handle { fill: #5d6675; font-size: 11px; }
  path { fill: none; stroke: #8a93a3; stroke-width: 1.5; } .error { stroke: #c4443b; stroke-dasharray: 5 4; }
  .handle { text-anchor: middle; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
  marker path { fill: #8a93a3; stroke: none; }
  @media (prefers-color-scheme: dark) {
    svg { background: #14181f; } rect { fill: #1d232d; stroke: #6b7585; } text { fill: #e4e8ee; }
    .entry rect { fill: #16293d; } .pause rect { fill: #332a14; } .effect rect { fill: #17301f; }
    .frame > rect { fill: #8a93a318; }
    .kind, .handle { fill: #9aa4b2; } .handle { stroke: #14181f; }
  }
"""
_TIP: Final = """\
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">
<path d="M0 0 L8 4 L0 8 z"/></marker></defs>"""


def svg(graph: Graph) -> str:
    """Returns a complete SVG document. Boxes show label and kind, edges show their exits; containers are frames."""
    placed = layout(graph.root)
    name = graph.name or graph.workflow_id
    width, height = f"{placed.width + 2 * _MARGIN:.0f}", f"{placed.height + 2 * _MARGIN:.0f}"
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={_attribute(name)}>',
        f"<title>{_text(name)}</title>",
        f"<style>\n{_STYLE}</style>",
        _TIP,
        f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">',
        *_parts(placed),
        "</g>",
        "</svg>",
    ]) + "\n"  # fmt: skip


def _parts(placed: Layout) -> Iterator[str]:
    """Frames, then edges, then boxes, then the text on edges: no line covers a text."""
    for box in placed.boxes:
        if box.node.container is not None:
            yield _frame(box)
    yield from map(_line, placed.curves)
    for box in placed.boxes:
        if box.node.container is None:
            yield _box(box)
    for curve in placed.curves:
        yield from _handles(curve)


def _frame(box: Box) -> str:
    title = _cut(f"{box.node.label} · {box.node.kind.name}", int(box.width * _FRAME))
    return (
        f'<g class="frame">{_rect(box, 10)}<text x="{box.x + 12:.1f}" y="{box.y + HEAD - 10:.1f}">{_text(title)}</text>'
        f"{_hint(box)}</g>"
    )


def _box(box: Box) -> str:
    kind, middle = box.node.kind, box.x + box.width / 2
    round = box.height / 2 if kind.nature is Nature.ENTRY else 8
    lines = [(box.node.label, "", -2.0), (kind.name, ' class="kind"', 14.0)]
    if box.node.label == kind.name:
        lines = [(kind.name, "", 5.0)]
    texts = "".join(
        f'<text{style} x="{middle:.1f}" y="{box.y + box.height / 2 + down:.1f}" text-anchor="middle">'
        f"{_text(_cut(text, _LABEL))}</text>"
        for text, style, down in lines
    )
    return f'<g class="{_CLASSES.get(kind.nature, "pure")}">{_rect(box, round)}{texts}{_hint(box)}</g>'


def _rect(box: Box, radius: float) -> str:
    return f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius:g}"/>'


def _hint(box: Box) -> str:
    return f"<title>{_text(f'{box.node.id}: {box.node.kind.name}')}</title>"


def _line(curve: Curve) -> str:
    """A curve between layers, straight where it crosses one."""
    (x, y), *rest = curve.points
    path = f"M{x:.1f} {y:.1f}"
    for step, (to_x, to_y) in enumerate(rest):
        if step % 2:
            path += f" L{to_x:.1f} {to_y:.1f}"
        else:
            half = (x + to_x) / 2
            path += f" C{half:.1f} {y:.1f} {half:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
        x, y = to_x, to_y
    style = ' class="error"' if curve.handles == (ERROR,) else ""
    return f'<path{style} d="{path}" marker-end="url(#tip)"/>'


def _handles(curve: Curve) -> Iterator[str]:
    """The names of the exits, in the middle of the first segment, one below the other."""
    (x, y), (to_x, to_y) = curve.points[:2]
    named = [handle for handle in curve.handles if handle != SOURCE]
    first = (y + to_y) / 2 - 4 - _LINE * (len(named) - 1) / 2
    for at, handle in enumerate(named):
        yield f'<text class="handle" x="{(x + to_x) / 2:.1f}" y="{first + at * _LINE:.1f}">{_text(_cut(handle, _HANDLE))}</text>'


def _cut(text: str, size: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= size else text[: size - 1] + "…"


def _text(text: str) -> str:
    """The text, escaped. Control characters, which XML does not allow, become spaces."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))


def _attribute(text: str) -> str:
    return '"' + _text(text).replace('"', "&quot;") + '"'
