"""Reads and writes the claims that hold the state of limits: the instants reserved under a rate, and the holders of slots."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from random import random
from secrets import token_hex
from typing import Final, Protocol, TypeVar

from stepless.core.limits import pacing
from stepless.core.limits.permits import Cell
from stepless.core.limits.slots import GRANTED, Holder, Holders, decode_holders, doubtful
from stepless.limits import CLOCK_TOLERANCE_MS, LIMIT_LIFE_MS, LIMIT_TRIES, LIMIT_TRY_MS, MAX_DOUBTED_HOLDERS, NEVER_MS
from stepless.model.stored.damage import decoding
from stepless.ports import Store

T = TypeVar("T")


DAMAGED_LIMIT: Final = "restore the store from a backup, or wait until the limit has expired: its runs rest until then"


class Retried(Protocol):
    """Makes a call to the store, and retries it while the store is unavailable."""

    def __call__(self, call: Callable[[], T], /) -> Awaitable[T]: ...


async def reserve(
    store: Store, retried: Retried, cell: Cell, number: int, now_ms: Callable[[], int], lead_ms: int
) -> Sequence[int] | None:
    """Reserves at most `number` instants, in milliseconds, the first at least `lead_ms` from now. One write for all of them. None
    if too many other runs reserve now."""
    pace, key = cell.pace, claim_key(cell.id)
    assert pace is not None
    for tries in range(LIMIT_TRIES):
        at_ms = now_ms()
        former = await retried(partial(store.get_claim, key, at_ms))
        with decoding(former, f"claim.value of {key}", DAMAGED_LIMIT):
            next_us = next_in(former, at_ms)
        times, next_us = pacing.reserve(next_us, at_ms + lead_ms, pace, min(number, pacing.at_once(pace)))
        value = b"%d %s %d" % (next_us, token_hex(4).encode(), at_ms)  # two runs never write the same value
        expires_ms = next_us // 1_000 + pace.per_ms + LIMIT_LIFE_MS
        if await retried(partial(store.replace_claim, key, former, value, at_ms, expires_ms)):
            return times
        await pause_after(tries)
    return None


def next_in(former: bytes | None, now_ms: int) -> int:
    """Returns the earliest instant that is not reserved, in microseconds, from the claim of a cell; 0 if any is free. The claim
    also has the instant at which it was written: if the clock was set back since then, what was reserved moves with it, so that
    the distances between the attempts stay. Raises an error of any type for a damaged claim."""
    if former is None:
        return 0
    next_text, *more = former.split(b" ")
    next_us, written_ms = int(next_text), int(more[1]) if len(more) > 1 else 0  # claims of earlier releases lack it
    if not (0 <= next_us <= NEVER_MS * 1_000 and 0 <= written_ms <= NEVER_MS):
        raise ValueError("it is no instant")
    back_ms = written_ms - now_ms
    return max(0, next_us - back_ms * 1_000) if back_ms > CLOCK_TOLERANCE_MS else next_us


async def pause_after(tries: int) -> None:
    """Waits before the next try of a change, while other runs change the same limit."""
    await asyncio.sleep(LIMIT_TRY_MS / 1000 * 2**tries * random())


def claim_key(cell_id: str) -> str:
    """Returns the claim that holds the state of a cell."""
    return f"limit:{cell_id}"


def holders_in(kept: bytes | None, cell_id: str) -> Holders:
    """Returns the holders of the slots of a cell, from its claim. Raises `Damaged`."""
    with decoding(kept, f"claim.value of {claim_key(cell_id)}", DAMAGED_LIMIT):
        return decode_holders(kept)


async def dead_in(store: Store, retried: Retried, holders: Holders, me: str, now_ms: int) -> dict[str, Holder]:
    """Returns the holders that no longer count: their run has no lease of that epoch. One from before the clock was set back
    counts until its holder renews it, or another session takes it over."""
    dead = {}
    for run_id in doubtful(holders, me, now_ms)[:MAX_DOUBTED_HOLDERS]:
        epoch = holders[run_id].epoch
        head = await retried(partial(store.get_run, run_id)) if epoch != GRANTED else None
        if head is None or head.epoch != epoch or head.owner is None or head.lease_until_ms <= now_ms:
            dead[run_id] = holders[run_id]
    return dead
