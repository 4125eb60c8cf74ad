"""Reads the status, the nodes and the events of a run from its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from stepless.core.deciding.ending import outputs, variables
from stepless.core.events import RUN_ENDS, Event
from stepless.core.history.node_pages import Window
from stepless.core.history.tags import Tag, tag_of_run
from stepless.core.history.trace import NodeRecord, Trace, envelope
from stepless.core.history.waits import summary, until_of, waits_of
from stepless.core.mailbox import Mail, mail_in
from stepless.core.state import State
from stepless.errors import EngineBug, Gone, LogUnreadable, NewerVersion, NotFound
from stepless.limits import DEFAULT_PAGE_ITEMS, LINK_LIFE_MS, MAX_SCANNED_EVENTS, PAGE_EVENTS, PAGE_READ_BYTES, READ_BYTES
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.model.work import added
from stepless.ports import ERASED, SHARD, RunHead
from stepless.runtime.access.tokens import Claims, Signer
from stepless.runtime.header_notes import inputs_of, meta_of
from stepless.runtime.inbox import MESSAGE, body_of
from stepless.runtime.run_backoff import reported
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.reads import searching
from stepless.runtime.verbs.reads.source_lines import SourceLines
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.runtime.verbs.reads.limit_waits import LimitWait


@dataclass(frozen=True, slots=True)
class OpenPause:
    """A pause. `token` is None for those that no answer ends: timers, messages and child runs."""

    pause: str
    node: str
    reason: str
    exits: tuple[str, ...]
    details: Mapping[str, JSON]
    since_ms: int
    deadline_ms: int | None
    resume_at_ms: int | None
    token: str | None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as recorded in its log. `head` is the store's header, which may lag behind. `held` is {by, reason, at} while the run
    is held. In an `overview`, `nodes` is empty and `tags` holds only the run's own."""

    head: RunHead
    status: str
    inputs: JSON
    outputs: JSON
    response: Mapping[str, JSON] | None
    variables: Mapping[str, JSON]
    error: Mapping[str, JSON] | None
    failures: int
    steps: int
    sequence: int
    started_ms: int | None
    ended_ms: int | None
    tags: Sequence[Tag]
    usage: Mapping[str, int]
    pauses: tuple[OpenPause, ...]
    nodes: Mapping[str, NodeRecord]
    held: Mapping[str, JSON] | None = None
    exception: Mapping[str, JSON] | None = None  # in author code, the cause of the error
    waits: tuple[str, ...] = ()  # what the run waits for, in the terms of `core/history/waits.py`
    summary: str = ""  # the current activity, for display
    limits: tuple[LimitWait, ...] = ()  # that its attempts wait for
    unread: tuple[Mail, ...] = ()  # messages that no node has taken
    messages: tuple[str, ...] = ()  # the names of those that it may receive


@dataclass(frozen=True, slots=True)
class EventPage:
    """Envelopes in order. `ended` is true if the run's terminal event is at or before the end of this page."""

    events: tuple[Mapping[str, JSON], ...]
    cursor: int
    ended: bool


def head_of(world: World, run_id: str) -> RunHead:
    """Returns the header of a run. Raises `NotFound` (unknown_run), and `Gone` (run_erased) if the run was erased or its time is
    over, `DamagedHeader` if it cannot be used."""
    head = world.store.get_run(run_id) if not run_id.startswith(SHARD) else None
    if head is None:
        raise unknown_run(run_id)
    if head.status == ERASED or (head.expires_ms is not None and head.expires_ms <= world.clock.now_ms()):
        raise Gone(f"the run {run_id} was erased", code="run_erased")
    meta_of(head)
    return head


@contextmanager
def whole_or_gone(world: World, run_id: str) -> Iterator[None]:
    """Opens a block in which the log of a run is read. Raises as `head_of` does, instead of `LogUnreadable`, if the run was
    erased meanwhile."""
    try:
        yield
    except LogUnreadable:
        head_of(world, run_id)
        raise


@contextmanager
def read_or_reported(world: World, head: RunHead) -> Iterator[None]:
    """Reads like `whole_or_gone`, for a reader who reports: a run whose log cannot be read, and that no runner has found yet,
    rests from then on."""
    try:
        with whole_or_gone(world, head.run_id):
            yield
    except LogUnreadable as error:
        raise reported(world, head, error) from error


def unknown_run(run_id: str) -> NotFound:
    return NotFound(f"there is no run {run_id}", code="unknown_run", mend="look at the list of runs")


def graph_of(world: World, head: RunHead) -> Graph:
    """Returns the graph of a run. Raises `NewerVersion`."""
    entry = meta_of(head).get("entry")
    try:
        return world.versions.graph(head.workflow_id, head.version, entry)
    except NewerVersion as error:
        raise error.of(head.run_id) from error


def view(world: World, signer: Signer, run_id: str) -> RunView:
    """Returns the whole run, with its nodes. Linear in its log. Raises `NotFound`, and `LogUnreadable`."""
    head = head_of(world, run_id)
    ends: list[Event] = []

    def take(event: Event) -> None:
        trace.add(event)
        if event.type in RUN_ENDS:
            ends.append(event)

    with read_or_reported(world, head):
        trace = Trace(graph_of(world, head), run_id)
        log = RunLog(world.store, world.blobs, run_id)
        log.replay(take)
        log.check_end(trace.state.sequence, head.sequence)
    usage: Mapping[str, int] = {}
    for record in trace.nodes.values():
        usage = added(usage, record.usage)
    records = {record.instance: record for record in SourceLines(world, head).records(trace.nodes.values())}
    return _of_state(world, head, trace.state, ends[0] if ends else None, signer, usage, trace.tags, records)


def overview(world: World, signer: Signer, run_id: str) -> RunView:
    """Returns the run without its `nodes`. For an ended run, reads only the first and the last events of the log; for any other
    run, the newest snapshot and the events after it. Raises as `view` does."""
    head = head_of(world, run_id)
    log = RunLog(world.store, world.blobs, run_id)
    with read_or_reported(world, head):
        end = _end_of(log, head)
        if end is not None and "steps" in end.data:
            return _of_summary(world, head, log.event(1), end)
        state = log.load(graph_of(world, head))
        log.check_end(state.sequence, head.sequence)
        if state.usage is None:  # a snapshot of a former release
            whole = view(world, signer, run_id)
            return replace(whole, nodes={}, tags=tuple(tag for tag in whole.tags if tag.instance is None))
        end = log.event(state.sequence) if state.ended else None
    return _of_state(world, head, state, end, signer, state.usage, _own_tags(end), {})


def nodes(
    world: World, run_id: str, *, after: int = 0, limit: int = DEFAULT_PAGE_ITEMS, instance: str | None = None
) -> tuple[Sequence[NodeRecord], bool]:
    """Returns the records of at most `limit` instances after the first `after`, in the order of first mention, and whether more
    follow; or that of one `instance`, or none. Reads the log until no later event can change them. Raises as `view` does."""
    head = head_of(world, run_id)
    log = RunLog(world.store, world.blobs, run_id)

    def take(event: Event) -> bool:
        window.add(event)
        return window.settled

    with read_or_reported(world, head):
        window = Window(graph_of(world, head), run_id, after, limit, instance)
        log.replay(take)
        if not window.settled:
            log.check_end(window.state.sequence, head.sequence)
    return SourceLines(world, head).records(window.nodes.values()), window.more


def _end_of(log: RunLog, head: RunHead) -> Event | None:
    """The event that ended a run, if its header reports an end."""
    if head.status not in ENDED:
        return None
    end = next(log.read(head.sequence - 1, stride_bytes=1), None)
    return end if end is not None and end.type in RUN_ENDS else None


def _of_state(
    world: World, head: RunHead, state: State, end: Event | None, signer: Signer, usage: Mapping[str, int],
    tags: Sequence[Tag], nodes: Mapping[str, NodeRecord],
) -> RunView:  # fmt: skip
    waits = waits_of(state) if state.sequence else tuple(searching.waits_of(head))
    return RunView(
        head=head,
        status=state.status.value,
        inputs=state.inputs if state.sequence else inputs_of(head),
        outputs=outputs(state),
        response=state.response,
        variables=variables(state),
        error=SourceLines(world, head).error(end.data.get("error")) if end is not None else None,
        failures=state.failures,
        steps=state.steps,
        sequence=state.sequence,
        started_ms=state.started_ms or None,
        ended_ms=state.ended_ms or None,
        tags=tags,
        usage=usage,
        pauses=() if state.ended else tuple(_pauses(state, signer)),
        nodes=nodes,
        held=state.held,
        exception=exception_behind(world, head.run_id, end.data.get("error") if end is not None else None),
        waits=waits,
        summary=summary(
            state.status.value, waits, busy=bool(state.running), until_ms=until_of(state) if state.sequence else head.due_ms,
            failures=state.failures,
        ),
        limits=_limits(world, state),
        unread=_unread(world, head.run_id, state.graph, [*state.mailbox], ended=state.ended),
        messages=tuple(state.graph.messages),
    )


def _unread(world: World, run_id: str, graph: Graph, mailbox: Sequence[Mail], *, ended: bool) -> tuple[Mail, ...]:
    """The messages in the mailbox, and those that reached the inbox of an ended run too late for its log. Sorted by time."""
    if not graph.messages:
        return ()
    late: list[Mail] = []
    for signal in world.store.read_inbox(run_id) if ended else ():
        if signal.kind == MESSAGE:
            said = body_of(signal)
            late.append(Mail(signal.identity, str(said["name"]), said.get("key"), None, said.get("by"), int(said["at"])))
    known = {mail.id for mail in mailbox}
    return tuple(sorted([*mailbox, *(mail for mail in late if mail.id not in known)], key=lambda mail: (mail.at_ms, mail.id)))


def _limits(world: World, state: State) -> tuple[LimitWait, ...]:
    if state.ended or not (state.limited or state.paced):
        return ()
    from stepless.runtime.verbs.reads.limit_waits import limit_waits  # imported late: few runs wait for a limit

    return limit_waits(world, state)


def _of_summary(world: World, head: RunHead, begin: Event, end: Event) -> RunView:
    """An ended run, from its first event and from its last, which holds the summary."""
    data = end.data
    response = data.get("response")
    return RunView(
        head=head,
        status=head.status,
        inputs=begin.data.get("inputs"),
        outputs=data.get("output") if response is None else response.get("body"),
        response=response,
        variables=data["variables"],
        error=SourceLines(world, head).error(data.get("error")),
        failures=data.get("failures", 0),
        steps=data["steps"],
        sequence=end.sequence,
        started_ms=begin.at_ms,
        ended_ms=end.at_ms,
        tags=_own_tags(end),
        usage=data["usage"],
        pauses=(),
        nodes={},
        exception=exception_behind(world, head.run_id, data.get("error")),
        summary=summary(head.status, (), busy=False, failures=data.get("failures", 0)),
        unread=_unread(world, head.run_id, graph_of(world, head), mail_in(end.data), ended=True),
        messages=tuple(graph_of(world, head).messages),
    )


def exception_behind(world: World, run_id: str, error: Mapping[str, JSON] | None) -> Mapping[str, JSON] | None:
    """Returns the record of the exception in author code that caused a run's error. The error names the event that holds it, in
    this run or in the child run that failed. None if that child run was erased."""
    number = error.get("event") if error is not None else None
    if error is None or not isinstance(number, int):
        return None
    failed = str(error.get("run", run_id))
    try:
        event = next(RunLog(world.store, world.blobs, failed).read(number - 1, whole=False, stride_bytes=1), None)
    except LogUnreadable:
        if failed != run_id:
            return None
        head_of(world, run_id)  # erased in the meantime
        raise
    exception: Mapping[str, JSON] | None = event.data.get("exception") if event and event.sequence == number else None
    return exception


def _own_tags(end: Event | None) -> tuple[Tag, ...]:
    """The run's own tag, if its last event has one."""
    tag = tag_of_run(end) if end is not None else None
    return (tag,) if tag is not None else ()


def _pauses(state: State, signer: Signer) -> Sequence[OpenPause]:
    found = []
    for pause, instance in state.waiting.items():
        wait = instance.wait
        if wait is None:
            continue
        token = None
        if wait.resume_at_ms is None and wait.exits:
            expires_ms = wait.deadline_ms if wait.deadline_ms is not None else wait.since_ms + LINK_LIFE_MS
            token = signer.sign(Claims(state.run_id, pause, expires_ms))
        found.append(
            OpenPause(
                pause=pause,
                node=instance.node.id,
                reason=wait.reason,
                exits=wait.exits,
                details=wait.details,
                since_ms=wait.since_ms,
                deadline_ms=wait.deadline_ms,
                resume_at_ms=wait.resume_at_ms,
                token=token,
            )
        )
    return found


Fits: TypeAlias = Callable[[Mapping[str, JSON]], bool]
"""Whether a reader wants an event, by its envelope."""


def events(
    world: World, run_id: str, *, after: int = 0, limit: int = PAGE_EVENTS, fits: Fits | None = None
) -> EventPage:
    """Events above `after`, at most `limit`, and of these only those that fit: at most MAX_SCANNED_EVENTS are read for them, and
    `cursor` is the last one read. The payload has `previews` in place of large values. Raises `NotFound` and `LogUnreadable`."""
    head = head_of(world, run_id)
    with read_or_reported(world, head):
        found = _page(RunLog(world.store, world.blobs, run_id), graph_of(world, head), after, limit, head.sequence, fits)
    if fits is not None:
        return found if found.ended else replace(found, ended=has_ended_by(world, run_id, found.cursor))
    if not found.events and after:
        return replace(found, ended=has_ended_by(world, run_id, after))
    return found


def _page(log: RunLog, graph: Graph, after: int, limit: int, known: int, fits: Fits | None) -> EventPage:
    page: list[Mapping[str, JSON]] = []
    cursor, ended = after, False
    for event in log.read(after, whole=False, stride_bytes=PAGE_READ_BYTES if fits is None else READ_BYTES):
        if len(page) == limit or (fits is not None and event.sequence > after + MAX_SCANNED_EVENTS):
            break
        try:
            made = envelope(graph, log.run_id, event)
        except EngineBug as error:
            raise log.misfit(event, error) from error
        if fits is None or fits(made):
            page.append(made)
        cursor, ended = event.sequence, event.type in RUN_ENDS
    if not page and cursor == after:
        log.check_end(cursor, known)
    return EventPage(tuple(page), cursor, ended)


def has_ended_by(world: World, run_id: str, cursor: int) -> bool:
    """Returns whether the run's terminal event is at or before `cursor`, according to the header."""
    head = head_of(world, run_id)
    if head.status not in ENDED:
        return False
    return cursor >= head.sequence
