"""Computes how the items of a `distributed` node are divided into shards, and how many workers take them."""

from __future__ import annotations

from stepless.limits import MAX_SHARD_ITEMS, MAX_SHARD_WORKERS, MIN_SHARD_ITEMS, USUAL_SHARDS


def items_per_shard(total: int, wanted: int | None, step: int = 1) -> int:
    """Returns how many items each shard but the last has: `wanted`, or as many as make USUAL_SHARDS shards, within bounds. Always
    a multiple of `step`, the distance of the known beginnings of rows in a source."""
    size = wanted or min(max(-(-total // USUAL_SHARDS), MIN_SHARD_ITEMS), MAX_SHARD_ITEMS)
    return -(-size // step) * step


def shards_of(total: int, size: int) -> int:
    return -(-total // size)


def range_of(number: int, total: int, size: int) -> tuple[int, int]:
    """Returns the first item of a shard, and the first one after it."""
    return number * size, min(total, (number + 1) * size)


def workers_for(concurrency: int, lanes: int, shards: int) -> int:
    """Returns how many workers run at once, each with `lanes` items."""
    return max(1, min(-(-concurrency // lanes), shards, MAX_SHARD_WORKERS))
