"""Defines the kind `distributed`, which runs its body for each of many items, in shards that many processes share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from pydantic import Field

from stepless.limits import (
    DEFAULT_CHUNK_ITEMS,
    DEFAULT_CHUNK_MS,
    DEFAULT_ITEMS_AT_ONCE,
    DEFAULT_LANES,
    MAX_CHUNK_ITEMS,
    MAX_CHUNK_MS,
    MAX_IN_FLIGHT,
    MAX_ITEMS,
    MAX_ITEMS_AT_ONCE,
    MAX_SHARD_ITEMS,
)
from stepless.model.findings import Finding
from stepless.model.kind import Bounds, ContainerSpec, Group, Kind, Nature, Part
from stepless.model.runs.span import PRODUCER
from stepless.nodes.control.item_places import IntoParams, SourceParams, check_places
from stepless.nodes.params import Params, stored_secrets

MODES: Final = ("items", "source")


def _bounded(default: Any, least: int, most: int) -> Any:
    """A number with bounds, which `check` refuses beyond them with the code `out_of_range`."""
    return Field(default, json_schema_extra={"minimum": least, "maximum": most})


class ChunkParams(Params):
    """When the ends of items are committed: at the first of these."""

    items: int = _bounded(DEFAULT_CHUNK_ITEMS, 1, MAX_CHUNK_ITEMS)
    """After so many items."""
    ms: int = _bounded(DEFAULT_CHUNK_MS, 100, MAX_CHUNK_MS)
    """After so many milliseconds."""


class ToleranceParams(Params):
    """How many items may fail. Beyond either limit, no new item starts, and the node fails."""

    count: int | None = _bounded(None, 0, MAX_ITEMS)
    """So many items."""
    percent: float | int | None = _bounded(None, 0, 100)
    """So many percent of all items."""


class DistributedParams(Params):
    """The items, the body, and how many run at once."""

    items: str | list[Any] | dict[str, Any] | None = None
    """The items: a list, or an object, which gives items {key, value}. At most 100,000."""
    source: SourceParams | None = None
    """Instead of `items`: a file or objects that have the items. At most 10,000,000."""
    body: dict[str, Any]
    """The graph of one item: `nodes` and, optionally, `edges`. Reads the item as `<item>`, and its number as `<item.index>`."""
    concurrency: int = _bounded(DEFAULT_ITEMS_AT_ONCE, 1, MAX_ITEMS_AT_ONCE)
    """How many items run at once, over all processes."""
    lanes: int = _bounded(DEFAULT_LANES, 1, MAX_IN_FLIGHT)
    """How many items run at once in one invocation."""
    shard: int | None = _bounded(None, 1, MAX_SHARD_ITEMS)
    """How many items one shard has. Default: by the number of items, 100 to 5,000."""
    commit: ChunkParams | None = None
    """When the ends of items are committed."""
    tolerate: ToleranceParams | None = None
    """How many items may fail. Default: none."""
    on_error: Literal["mark", "drop"] = "mark"
    """A failed item in the results: `mark` has an entry {error, index}, `drop` leaves it out."""
    results: Literal["all", "failed", "none"] = "all"
    """Whose results are kept: those of all items, of the failed ones, or none."""
    into: IntoParams | None = None
    """Where the results are put, as files. Default: the store of runs."""
    max_items: int = _bounded(MAX_ITEMS, 1, MAX_ITEMS)
    """The node fails if there are more items than this."""
    truncate: bool = False
    """Omits the items beyond `max_items` instead of failing."""


def _out_of_bounds(params: Params, path: str) -> Iterator[Finding]:
    for name, field in type(params).model_fields.items():
        given = getattr(params, name)
        bounds: Any = field.json_schema_extra
        if isinstance(given, Params):
            yield from _out_of_bounds(given, f"{path}.{name}")
        elif isinstance(bounds, dict) and isinstance(given, int | float) and not bounds["minimum"] <= given <= bounds["maximum"]:
            message = f"`{name}` is {given:,}, and {bounds['minimum']:,} to {bounds['maximum']:,} is allowed"
            yield Finding("out_of_range", f"{path}.{name}", message, f"Use {bounds['minimum']:,} to {bounds['maximum']:,}.")


def check(params: DistributedParams, path: str) -> list[Finding]:
    found = [] if params.items is None else stored_secrets(params.items, f"{path}.items", "shards")
    found += [*_out_of_bounds(params, path), *check_places(params.source, params.into, path)]
    if (params.items is None) == (params.source is None):
        found.append(Finding("out_of_range", path, "exactly one of `items` and `source` is required", "Set one of them."))
    return found


KIND = Kind(
    "distributed", Nature.EFFECT, DistributedParams,
    "runs its body for each of many items, in shards that many processes share; returns counts and results",
    parts={
        **dict.fromkeys(DistributedParams.model_fields, Part.LITERAL), "items": Part.EXPRESSION,
        **dict.fromkeys(("source", "into"), Part.TEMPLATE),
    },
    check=check, calls_runs=True, distributes=True,
    container=ContainerSpec(MODES, parallel=True, bounds=lambda params: Bounds(
        window=params.lanes, max_iterations=params.max_items, truncate=params.truncate, on_error="drop", keeps_results=False,
    )),
    group=Group.DECIDE, brief=("items",), span=PRODUCER,
    icon="M2.5 3h4v4h-4zM9.5 3h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z",
)
