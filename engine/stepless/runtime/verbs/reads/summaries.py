"""Reads summaries and timelines of runs of any size. What was read of a run is kept for a while, so that a further look costs its
new events only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from typing import NamedTuple, TypeVar

from stepless.core.history.digest import Conditional, Digest, Row, conditional
from stepless.errors import SteplessError
from stepless.limits import MAX_WARM_DIGESTS
from stepless.model.graph import Graph
from stepless.ports import RunHead
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.reads.inspecting import graph_of, head_of, read_or_reported
from stepless.runtime.world import World

T = TypeVar("T")


class Shown(NamedTuple):
    """What a timeline shows: the instances of a node, by its path; one instance, with those inside it; those with a status, and
    those that something happened to between two instants, in milliseconds since the run began."""

    node: str | None = None
    instance: str | None = None
    status: str | None = None
    from_ms: int | None = None
    to_ms: int | None = None

    def has(self, row: Row, now_ms: int) -> bool:
        if self.node is not None and row.path != self.node and not row.path.endswith(f"@{self.node}"):
            return False
        if self.status is not None and row.status != self.status:
            return False
        if self.instance is not None and not _within(row.instance, self.instance):
            return False
        if self.from_ms is None and self.to_ms is None:
            return True
        begin_ms = row.begin_ms if row.begin_ms is not None else row.parts[0][1] if row.parts else row.end_ms
        if begin_ms is None:
            return False
        end_ms = now_ms if row.end_ms is None else row.end_ms
        return end_ms >= (self.from_ms or 0) and (self.to_ms is None or begin_ms <= self.to_ms)


def _within(instance: str, outer: str) -> bool:
    """Whether an instance is `outer`, or inside it: a container, or one turn of it such as `l[3]`."""
    if instance == outer or instance.endswith(f"@{outer}"):
        return True
    name, at, around = outer.partition("@")
    if "[" in name:
        return False
    head, _, turn = instance.partition(f"@{name}[")
    if not turn:
        return False
    number, _, rest = turn.partition("]")
    return number.isdigit() and rest == (at + around if at else "") and bool(head)


class Page(NamedTuple):
    """Rows in the order of first mention. `total` is how many fit altogether, up to the rows that a digest keeps."""

    rows: Sequence[Row]
    total: int


class Digests:
    """The digests of the runs that were looked at last. Thread-safe."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._warm: OrderedDict[str, _Warm] = OrderedDict()
        self._lock = Lock()

    def read(self, run_id: str, take: Callable[[Digest], T]) -> T:
        """Returns the result of `take` for the digest of a run as it is now; it must not keep the digest. Raises `NotFound`,
        `Gone` and `LogUnreadable`."""
        head = head_of(self._world, run_id)
        warm = self._of(head)
        try:
            with warm.lock, read_or_reported(self._world, head):
                log = RunLog(self._world.store, self._world.blobs, run_id)
                log.replay(warm.digest.add, warm.digest.sequence)
                log.check_end(warm.digest.sequence, head.sequence)
                return take(warm.digest)
        except SteplessError:
            self._forget(run_id)
            raise

    def page(self, digest: Digest, shown: Shown, *, after: int, limit: int) -> Page:
        """Returns at most `limit` rows that are shown, after the first `after` of them."""
        now_ms = max(0, self._world.clock.now_ms() - digest.began_ms)
        rows = digest.rows if shown == Shown() else [row for row in digest.rows if shown.has(row, now_ms)]
        return Page(rows[after : after + limit], len(rows))

    def _forget(self, run_id: str) -> None:
        with self._lock:
            self._warm.pop(run_id, None)

    def _of(self, head: RunHead) -> _Warm:
        with self._lock:
            warm = self._warm.get(head.run_id)
            if warm is None:
                warm = self._warm[head.run_id] = _Warm(self._conditions(head))
            self._warm.move_to_end(head.run_id)
            while len(self._warm) > MAX_WARM_DIGESTS:
                self._warm.popitem(last=False)
            return warm


    def _conditions(self, head: RunHead) -> Callable[[str], Sequence[Conditional]]:
        """The edges with conditions of the nodes of a run; none of a run whose version cannot be read. A graph takes a while to
        make, so it is made when the first node settles, and for versions with such edges only."""

        @cache
        def graph() -> Graph | None:
            try:
                has_some = self._world.versions.has_conditions(head.workflow_id, head.version)
                return graph_of(self._world, head) if has_some else None
            except SteplessError:
                return None

        @cache
        def of(path: str) -> Sequence[Conditional]:
            made = graph()
            return conditional(made, path) if made is not None else ()

        return of


class _Warm:
    def __init__(self, conditions: Callable[[str], Sequence[Conditional]]) -> None:
        self.digest = Digest(conditions)
        self.lock = Lock()
