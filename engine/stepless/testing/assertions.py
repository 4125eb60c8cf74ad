"""Asserts facts about a simulation. Each returns the simulation, so that calls chain. A failed one shows everything that
happened, on the virtual clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NoReturn, Self, TypeVar

from stepless.compile.suggest import did_you_mean
from stepless.core.history.trace import NodeRecord
from stepless.core.mailbox import Mail
from stepless.limits import MAX_REPORTED_LINES
from stepless.model.graph import Body, Graph
from stepless.model.json import JSON


class Assertions:
    """Mixed into `Simulation`. A `node` is a node id, which means all its instances (`ship` for every `ship@each[n]`), or an
    instance id. A node that the workflow does not have is always an error."""

    __slots__ = ()

    if TYPE_CHECKING:  # of `Simulation`
        status: str
        nodes: Mapping[str, NodeRecord]
        error: Mapping[str, JSON] | None
        graph: Graph
        unread: Sequence[Mail]

    def assert_status(self, status: str) -> Self:
        """The run is `completed`, `failed`, `cancelled`, `timed_out` or `paused`."""
        __tracebackhide__ = True
        if self.status != status:
            why = ": {node}, {code}: {message}".format(**{"node": "the run", **self.error}) if self.error else ""
            _fail(self, f"the run is {self.status}, not {status}{why}")
        return self

    def assert_completed(self) -> Self:
        __tracebackhide__ = True
        return self.assert_status("completed")

    def assert_paused(self) -> Self:
        """The run waits, for an answer or for a time."""
        __tracebackhide__ = True
        return self.assert_status("paused")

    def assert_failed(self, node: str | None = None, *, code: str | None = None) -> Self:
        """The run failed, or this node did; with this error code, if one is given."""
        __tracebackhide__ = True
        if node is None:
            self.assert_status("failed")
            if code is not None and (self.error or {}).get("code") != code:
                _fail(self, f"the run failed with {(self.error or {}).get('code')}, not {code}")
            return self
        return _settled(self, node, "failed", code)

    def assert_ran(self, node: str, *, times: int | None = None) -> Self:
        """The node started, `times` times if given (instances, not attempts: a loop of three iterations starts its nodes three
        times)."""
        __tracebackhide__ = True
        starts = sum(record.index is not None for record in _records(self, node))
        if times is None and starts == 0:
            _fail(self, f"{node} did not run")
        if times is not None and starts != times:
            _fail(self, f"{node} ran {starts} times, not {times}")
        return self

    def assert_not_run(self, *nodes: str) -> Self:
        """None of the nodes started, for whatever reason."""
        __tracebackhide__ = True
        for node in nodes:
            self.assert_ran(node, times=0)
        return self

    def assert_skipped(self, node: str, *, reason: str | None = None) -> Self:
        """Every instance was skipped, for this reason (`branch_not_taken`, `upstream_failure`…) if one is given."""
        __tracebackhide__ = True
        return _settled(self, node, "skipped", reason)

    def assert_waiting(self, *nodes: str) -> Self:
        """Each of the nodes waits, for an answer or for a time."""
        __tracebackhide__ = True
        for node in nodes:
            _settled(self, node, "waiting", None)
        return self

    def assert_attempts(self, node: str, attempts: int) -> Self:
        """The node's only instance took this many attempts."""
        __tracebackhide__ = True
        taken = self.node(node).attempts
        if taken != attempts:
            _fail(self, f"{node} took {taken} attempts, not {attempts}")
        return self

    def assert_output(self, node: str, output: JSON) -> Self:
        """The node's only instance had this output."""
        __tracebackhide__ = True
        actual = self.node(node).output
        if actual != output:
            _fail(self, f"the output of {node} is {actual!r}, not {output!r}")
        return self

    def assert_unread(self, *names: str) -> Self:
        """Exactly these messages are unread, by name in the order of arrival."""
        __tracebackhide__ = True
        unread = tuple(mail.name for mail in self.unread)
        if unread != names:
            _fail(self, f"unread are {', '.join(unread) or 'no messages'}, not {', '.join(names) or 'no messages'}")
        return self

    def node(self, node: str) -> NodeRecord:
        """The record of the node's only instance: inputs, output, error, times. Raises AssertionError if there is none, or more
        than one."""
        __tracebackhide__ = True
        records = _records(self, node)
        if len(records) != 1:
            mend = f"; name one of {', '.join(record.instance for record in records[:5])}" if records else ""
            _fail(self, f"{node} has {len(records)} records, not one{mend}")
        return records[0]

    def path(self) -> tuple[str, ...]:
        """The instances that ran, in the order of their starts."""
        ran = [record for record in self.nodes.values() if record.index is not None]
        return tuple(record.instance for record in sorted(ran, key=lambda record: record.index or 0))

    def timeline(self) -> str:
        """One line per instance: its start, its name, its status."""
        return "\n".join(_line(record) for record in self.nodes.values()) or "nothing happened"


S = TypeVar("S", bound=Assertions)


def _settled(outcome: S, node: str, status: str, why: str | None) -> S:
    __tracebackhide__ = True
    records = _records(outcome, node)
    if not records:
        _fail(outcome, f"{node} is not {status}: the run did not reach it")
    for record in records:
        found = record.reason or record.code
        if record.status != status or (why is not None and found != why):
            wanted = f"{status} ({why})" if why is not None else status
            _fail(outcome, f"{record.instance} is {record.status}{f' ({found})' if found else ''}, not {wanted}")
    return outcome


def _records(outcome: Assertions, node: str) -> Sequence[NodeRecord]:
    __tracebackhide__ = True
    known = node_ids(outcome.graph.root)
    name = node.partition("@")[0]
    if name not in known:
        raise AssertionError(f"the workflow has no node {name!r}. {did_you_mean(name, known, what='nodes')}")
    return [record for record in outcome.nodes.values() if node in (record.instance, record.node)]


def node_ids(body: Body) -> dict[str, None]:
    """The ids of every level, in document order."""
    found: dict[str, None] = {}
    for node in body.nodes:
        found[node.id] = None
        if node.container is not None:
            found |= node_ids(node.container.body)
    return found


def _fail(outcome: Assertions, message: str) -> NoReturn:
    __tracebackhide__ = True
    lines = outcome.timeline().splitlines()
    more = [f"… and {len(lines) - MAX_REPORTED_LINES} more"] if len(lines) > MAX_REPORTED_LINES else []
    raise AssertionError("\n".join([message, "what happened:", *(f"  {line}" for line in [*lines[:MAX_REPORTED_LINES], *more])]))


def _line(record: NodeRecord) -> str:
    began = clock(record.started_ms) if record.started_ms is not None else "-"
    ended = clock(record.ended_ms) if record.ended_ms is not None else ""
    why = record.reason or record.code or (record.waiting or {}).get("reason")
    more = (f" ({why})" if why else "") + (f" at {ended}" if ended not in ("", began) else "")
    return f"{began:>12}  {record.instance}  {record.status}{more}"


def clock(at_ms: int) -> str:
    """An instant of the virtual clock: `2 d 3:00:00`, `0:00:01.500`."""
    days, rest = divmod(at_ms, 86_400_000)
    text = str(timedelta(milliseconds=rest))
    return f"{days} d {text[:-3] if '.' in text else text}" if days else text[:-3] if "." in text else text
