"""Formats the bill of a run for the terminal: every line with its arithmetic, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from stepless.model.json import JSON

_WIDTH: Final = 80
_SIZES: Final = {1_000_000: "/M", 1_000_000_000: "/GB"}  # the quantity of a price


def lines(report: Mapping[str, JSON]) -> list[str]:
    """Returns the response of `GET /runs/{id}/cost`, at most 80 columns wide. Amounts are USD per million runs."""
    prices = report["prices"]
    shown = [
        f"{report['run_id']}  {report['status']}  {report['basis']}",
        f"Prices of {prices['region']}, {prices['date']}. USD per million such runs.",
        "",
        *_sheet(report),
    ]
    for other in report["beside"]:
        times = f", {other['times']:,.1f} times as much" if other["times"] else ""
        shown += ["", *_sheet(other, times), *_wrapped(other["note"])]
    return [*shown, "", *(line for note in report["notes"] for line in _wrapped(note))]


def _sheet(sheet: Mapping[str, JSON], times: str = "") -> Iterator[str]:
    for line in sheet["lines"]:
        arithmetic = f"{_number(line['count'])} × ${line['usd']:.10g}{_SIZES[line['per']]}"
        note = f"  {line['note']}" if line["note"] else ""
        yield f"  {line['what']:<21}{arithmetic:>21}{line['usd_per_million_runs']:>10,.2f}{note}"[:_WIDTH]
    yield f"{sheet['name'] + times:<44}{sheet['usd_per_million_runs']:>10,.2f}"


def _number(count: float) -> str:
    return f"{count:,.0f}" if count == int(count) or count >= 100 else f"{count:.4g}"


def _wrapped(text: str) -> Iterator[str]:
    """The text wrapped at spaces, indented by two columns."""
    line = " "
    for word in text.split():
        if len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = " "
        line += f" {word}"
    yield line
