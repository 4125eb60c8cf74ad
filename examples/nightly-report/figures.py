"""Figures that arrive at the third attempt, and a file cabinet. They replace services, so the example needs no network."""

from __future__ import annotations

from typing import Any

from stepless import FunctionCall, function

ROWS = [{"name": "tea", "amount": 12}, {"name": "cups", "amount": 30}, {"name": "spoons", "amount": 8}]
cabinet: dict[str, dict[str, Any]] = {}  # by the run's token, so that filing again changes nothing


@function("figures.fetch")
def fetch(day: str, call: FunctionCall) -> dict[str, Any]:
    """Raises ConnectionError in the first two attempts of every night, and in all attempts on the 29th of a month."""
    if call.attempt < 3 or day[8:10] == "29":
        raise ConnectionError(f"the figures of {day[:10]} are out of reach")
    return {"day": day[:10], "rows": ROWS}


@function("figures.file")
def file(report: dict[str, Any], status: str, call: FunctionCall) -> dict[str, Any]:
    cabinet[call.token] = {**report, "status": status}
    return cabinet[call.token]
