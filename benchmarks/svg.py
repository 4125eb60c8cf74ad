"""A chart as SVG: one bar per row on a logarithmic scale, with the spread as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, LEFT, RIGHT, ROW, TOP = 760, 190, 110, 22, 44
COLORS = {"floor": "#9aa5b1", "ours": "#1f6feb", "peer": "#c98a1b"}


@dataclass(frozen=True)
class Bar:
    """`low` and `high` are the fastest and slowest repetition; `kind` is floor, ours or peer."""

    label: str
    kind: str
    value: float
    low: float
    high: float


def chart(title: str, unit: str, bars: Sequence[Bar]) -> str:
    """The whole chart. Values must be above zero."""
    first = floor(log10(min(bar.low for bar in bars)))
    last = max(first + 1, ceil(log10(max(bar.high for bar in bars))))
    scale = (WIDTH - LEFT - RIGHT) / (last - first)

    def x(value: float) -> float:
        return LEFT + max(0.0, (log10(value) - first) * scale)

    height = TOP + ROW * len(bars) + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="10" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
        f'<text x="{WIDTH - 10}" y="20" text-anchor="end" fill="#57606a">{escape(unit)}, less is better, logarithmic</text>',
    ]
    for power in range(first, last + 1):
        at = x(10.0**power)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 8}" y2="{height - 22}" stroke="#e4e7eb"/>')
        parts.append(f'<text x="{at:.1f}" y="{height - 8}" text-anchor="middle" fill="#57606a">{10.0**power:g}</text>')
    for number, bar in enumerate(bars):
        y = TOP + ROW * number
        middle = y + 8
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{max(1.0, x(bar.value) - LEFT):.1f}" height="16" fill="{COLORS[bar.kind]}"/>',
            f'<line x1="{x(bar.low):.1f}" x2="{x(bar.high):.1f}" y1="{middle}" y2="{middle}" stroke="#24292f"/>',
            f'<text x="{max(x(bar.value), x(bar.high)) + 6:.1f}" y="{y + 12}">{number_text(bar.value)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def number_text(value: float) -> str:
    """A number with three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3g}"
