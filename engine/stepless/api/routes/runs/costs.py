"""Serves `GET /runs/{id}/cost`: what a run costs on AWS."""

from __future__ import annotations

from typing import Any, Final, Literal

from fastapi import APIRouter
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.problems import documented
from stepless.api.replies import reply
from stepless.runtime.service import Service


class BillLineOut(TypedDict):
    """One line: `count` times `what` in one run, at `usd` for `per` of them."""

    what: str
    count: float
    usd: float
    per: int
    usd_per_million_runs: float
    note: str


class OtherOut(TypedDict):
    """The same run on another service. `times` is the factor by which it is dearer, null if this run cost nothing."""

    name: str
    lines: list[BillLineOut]
    usd_per_run: float
    usd_per_million_runs: float
    times: float | None
    note: str


class PricesOut(TypedDict):
    region: str
    date: str


class CostOut(TypedDict):
    """A bill and its arithmetic. `basis` says whether requests were counted, or the cost on AWS was estimated from the log."""

    run_id: str
    workflow: str
    status: str
    basis: Literal["counted", "estimated from the log"]
    prices: PricesOut
    name: str
    lines: list[BillLineOut]
    usd_per_run: float
    usd_per_million_runs: float
    notes: list[str]
    beside: list[OtherOut]


_EXAMPLE: Final[dict[str, Any]] = {
    "run_id": "run_0123456789abcdef0123",
    "workflow": "greet",
    "status": "completed",
    "basis": "counted",
    "prices": {"region": "us-east-1", "date": "2026-11"},
    "name": "Stepless",
    "lines": [
        {"what": "DynamoDB write units", "count": 18, "usd": 0.625, "per": 1_000_000, "usd_per_million_runs": 11.25,
         "note": "4 of them for indexes"},
    ],
    "usd_per_run": 0.00001125,
    "usd_per_million_runs": 11.25,
    "notes": ["Requests were counted at the client."],
    "beside": [
        {"name": "Step Functions Standard",
         "lines": [{"what": "state transitions", "count": 11, "usd": 25, "per": 1_000_000, "usd_per_million_runs": 275,
                    "note": "the start, 10 nodes"}],
         "usd_per_run": 0.000275, "usd_per_million_runs": 275, "times": 24.44, "note": "Transitions alone."},
    ],
}  # fmt: skip


def add_routes(router: APIRouter, service: Service) -> None:
    @router.get(
        "/runs/{run_id}/cost",
        summary="Get the cost of a run",
        response_model=CostOut,
        responses={200: {"content": {"application/json": {"example": _EXAMPLE}}}, **documented(401, 404)},
        tags=["runs"],
    )
    def read_cost(run_id: str) -> Response:
        """The cost of the run so far, counted or estimated for AWS, and the cost of the same work on other services."""
        return reply(service.cost(run_id))
