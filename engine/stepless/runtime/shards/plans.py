"""Keeps what all processes that work on a `distributed` node have to know: its plan, and how it is steered.

The node waits for a run of its own, the *distribution*, as it would for a child run. The distribution and the shards have ids
that follow from the token of the node, so a repeated start has no effect. None of them is in a listing.

| key | what |
|---|---|
| counter `shards:{distribution}` | the numbers of shards that workers have drawn |
| line `shards-live:{distribution}` | the shards in progress: `{number}` |
| line `shards-ended:{distribution}` | the ends that the distribution has not recorded yet, in the form of `ShardEnd.text` |
| claim `shards-drawn:{distribution}` | set once every number is drawn |
| claim `shards-plan:{distribution}` | the key of the plan, where a source had to be read for it |
| claim `shards-steer:{distribution}` | `Steer`, changed while the shards run |
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Final, NamedTuple

from stepless.core.shards.sizes import range_of, shards_of, workers_for
from stepless.limits import DISTRIBUTION_LIFE_MS, MAX_ITEMS
from stepless.model.json import JSON
from stepless.model.stored.packing import dump, pack, unpack
from stepless.ports import SHARD, RunHead, Store
from stepless.runtime.header_notes import meta_of
from stepless.runtime.world import World

DISTRIBUTION: Final = -1  # the number of the distribution among the shards of its node
WORKER: Final = "worker"  # the reason of a hint for the distribution: take shards
BEGIN: Final = "shard"  # … begin the shard with this number, which is in `hops`, counted from 1
_DIGITS: Final = 5


def shard_id(token: str, number: int) -> str:
    """Returns the run id of a shard of the node with this token."""
    return f"{SHARD}{sha256(f'{token}:{number}'.encode()).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The items of a node and how they are worked off. `used` is the `ended` of the node's token. `pages` are the first item and
    the blob of each page of items, which holds whole shards, one item per line. Of a `source` the `marks` are the byte and the
    line at which each shard begins, and those after the last one. `into` is where the results go, None for the store.

    A plan of a rerun has the distribution that it repeats, and its run, as `former`. `again` are the items that run again (None:
    those that have failed), `only` the shards that have such items or have not ended. The others are taken over."""

    run: str
    instance: str
    token: str
    used: int
    total: int
    size: int
    pages: Sequence[tuple[int, str]]
    outer: Mapping[str, Any]
    concurrency: int
    lanes: int
    commit_items: int
    commit_ms: int | None
    tolerate: Mapping[str, float] | None
    on_error: str = "mark"
    results: str = "all"
    keyed: bool = False
    former: str = ""
    former_run: str = ""
    again: Sequence[int] | None = None
    only: Sequence[int] | None = None
    source: Mapping[str, Any] | None = None
    marks: Sequence[Sequence[int]] = ()
    into: Mapping[str, str] | None = None
    wanted_size: int | None = None
    max_items: int = MAX_ITEMS
    truncate: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the source was not read yet: `total`, `size` and `marks` are unknown."""
        return self.source is not None and not self.size

    @property
    def shards(self) -> int:
        return shards_of(self.total, self.size) if self.size else 0

    def drawn(self, number: int) -> int | None:
        """Returns the shard that a worker gets by a number of the counter. None once all are drawn."""
        if self.only is not None:
            return self.only[number] if number < len(self.only) else None
        return number if number < self.shards else None

    def range_of(self, number: int) -> tuple[int, int]:
        return range_of(number, self.total, self.size)

    def shard_id(self, number: int) -> str:
        return shard_id(self.token, number)

    def workers(self, steer: Steer) -> int:
        """Returns how many workers run at once."""
        return workers_for(steer.concurrency or self.concurrency, self.lanes, self.shards)

    def encoded(self) -> bytes:
        return pack(dump(asdict(self)))


def plan_of(world: World, distribution: str, key: str) -> Plan:
    """Reads a plan: that of a source, once it is complete, instead of the one without it. Raises `KeyError` if it was removed
    with its run."""
    plan = _plan_in(world, distribution, key)
    if plan.is_open and (planned := world.store.get_claim(f"shards-plan:{distribution}", world.clock.now_ms())) is not None:
        return _plan_in(world, distribution, planned.decode())
    return plan


def _plan_in(world: World, distribution: str, key: str) -> Plan:
    data = world.blobs.get(key)
    if data is None:
        raise KeyError(f"the plan of {distribution} is missing")
    return Plan(**unpack(data))


class Place(NamedTuple):
    """Where a run of a node belongs: the key of the plan, its number, the distribution."""

    plan: str
    number: int
    distribution: str


def place_of(head: RunHead) -> Place:
    """Returns the place of a shard or a distribution, from its header."""
    meta = meta_of(head)
    return Place(str(meta["plan"]), int(meta["number"]), str(meta.get("of") or head.run_id))


@dataclass(frozen=True, slots=True)
class Steer:
    """How a node is steered while it runs: `stop` says why no item begins any more. The others replace those of the plan."""

    stop: str = ""
    concurrency: int | None = None
    tolerate: Mapping[str, float] | None = None


class ShardEnd(NamedTuple):
    """How a shard ended: counts, and the blobs of its rows and of its failures (empty if there are none), with their sizes."""

    number: int
    completed: int
    failed: int
    rows: int = 0
    size: int = 0
    part: str = ""
    failures_size: int = 0
    failures: str = ""

    @property
    def text(self) -> str:
        return " ".join([f"{self.number:0{_DIGITS}}", *(str(value) or "-" for value in self[1:])])

    @classmethod
    def read(cls, text: str) -> ShardEnd:
        number, completed, failed, rows, size, part, failures_size, failures = text.split(" ")
        return cls(
            int(number), int(completed), int(failed), int(rows), int(size), part.replace("-", ""), int(failures_size),
            failures.replace("-", ""),
        )  # fmt: skip


@dataclass(slots=True)
class Board:
    """The shared keys of one distribution."""

    store: Store
    distribution: str
    _steer: bytes | None = field(default=None)

    def draw(self, now_ms: int) -> int:
        """Returns the next number that no one has drawn, from 0."""
        return self.store.count(f"shards:{self.distribution}", now_ms, now_ms + DISTRIBUTION_LIFE_MS) - 1

    def note_plan(self, key: str, now_ms: int) -> None:
        self.store.claim(f"shards-plan:{self.distribution}", key.encode(), now_ms, now_ms + DISTRIBUTION_LIFE_MS)

    def note_all_drawn(self, now_ms: int) -> None:
        self.store.claim(f"shards-drawn:{self.distribution}", b"1", now_ms, now_ms + DISTRIBUTION_LIFE_MS)

    def all_drawn(self, now_ms: int) -> bool:
        return self.store.get_claim(f"shards-drawn:{self.distribution}", now_ms) is not None

    def live(self, limit: int) -> Sequence[int]:
        return [int(place) for place in self.store.read_line(f"shards-live:{self.distribution}", limit=limit)]

    def enter(self, number: int) -> None:
        self.store.join_line(f"shards-live:{self.distribution}", f"{number:0{_DIGITS}}")

    def leave(self, number: int) -> None:
        self.store.leave_line(f"shards-live:{self.distribution}", f"{number:0{_DIGITS}}")

    def put_end(self, end: ShardEnd) -> None:
        self.store.join_line(f"shards-ended:{self.distribution}", end.text)

    def ends(self, limit: int) -> Sequence[str]:
        return self.store.read_line(f"shards-ended:{self.distribution}", limit=limit)

    def forget_end(self, text: str) -> None:
        self.store.leave_line(f"shards-ended:{self.distribution}", text)

    def forget(self, now_ms: int) -> None:
        """Removes the claims, and the counter where that can be; elsewhere it expires."""
        for name in ("shards", "shards-drawn", "shards-plan", "shards-steer", "shards-removed"):
            if (kept := self.store.get_claim(f"{name}:{self.distribution}", now_ms)) is not None:
                self.store.release_claim(f"{name}:{self.distribution}", kept)

    def steer(self, now_ms: int) -> Steer:
        self._steer = self.store.get_claim(f"shards-steer:{self.distribution}", now_ms)
        return Steer(**json.loads(self._steer)) if self._steer else Steer()

    def change(self, now_ms: int, **changes: JSON) -> Steer:
        """Changes how the node is steered. The first reason to stop stays."""
        while True:
            present = self.steer(now_ms)
            kept = {"stop": present.stop} if present.stop else {}
            wanted: dict[str, Any] = {**asdict(present), **changes, **kept}
            data = json.dumps(wanted, separators=(",", ":")).encode()
            key, expires_ms = f"shards-steer:{self.distribution}", now_ms + DISTRIBUTION_LIFE_MS
            if data == self._steer or self.store.replace_claim(key, self._steer, data, now_ms, expires_ms):
                return Steer(**wanted)
