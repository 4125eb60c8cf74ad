"""Delivers messages to runs (docs/understand/durability.md#keys-and-messages).

A message is put into the inbox of each run that it is for, under its id. What the caller is told then holds: the message is in
the log of that run, or the run ended without reading it and lists it as unread.

A message that asks for a start has to reach exactly one run of its key, however it races with the end of the live run. The rule:

* The message has a claim, put once, with the number of the key at which it was first tried.
* Every party tries the numbers from there upwards: the sender, its repetition, and the run that ends with the message unread.
* A party goes past a run only after it saw that run ended without the message in its log. That log does not change any more.

So at most one run logs the message: whoever tries a higher number has seen that all lower ones do not have it and never will. And
one run does: a run that ends looks into its inbox once more after its header says that it has ended, while a sender looks at the
header after it put the message, so one of the two finds it and goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count, groupby
from operator import attrgetter
from secrets import token_hex

from stepless.compile.canonical import json_findings
from stepless.core.events import EventType
from stepless.core.lease_ends import is_over
from stepless.core.mailbox import UNREAD
from stepless.core.state import RunStatus
from stepless.errors import Conflict, Gone, InvalidRequest, LimitExceeded, LogUnreadable, NotFound, Refused
from stepless.limits import (
    IDEMPOTENCY_KEY_LIFE_MS,
    LEASE_MS,
    MAX_IDEMPOTENCY_KEY_CHARACTERS,
    MAX_KEPT_MESSAGES,
    MAX_MAILBOX,
    MAX_MESSAGE_BYTES,
    MAX_MESSAGE_RUNS,
    MAX_RECEIVERS,
    MAX_SHOWN_KEY_RUNS,
    START_GRACE_MS,
)
from stepless.model.graph import Graph, Incoming
from stepless.model.json import JSON, equal
from stepless.ports import ERASED, RECEIVER, RunHead, Signal
from stepless.runtime import inbox
from stepless.runtime.billing import spending
from stepless.runtime.header_notes import notes_in
from stepless.runtime.messages import kept, routes
from stepless.runtime.messages.bodies import encoded, in_inbox
from stepless.runtime.messages.keys import RunKey, checked_key, is_live, last_run, live_run, number_in
from stepless.runtime.messages.routes import Route
from stepless.runtime.messages.starts import NewRun, create
from stepless.runtime.runlog import RunLog
from stepless.runtime.signalling import keep_due
from stepless.runtime.verbs.reads.inspecting import graph_of, head_of
from stepless.runtime.verbs.starts.admission import admit
from stepless.runtime.verbs.starts.starting import encoded_inputs, latest
from stepless.runtime.world import World

_sent = count()  # orders the messages that this process sends in one millisecond


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was done with a message. `delivered` are the runs that have it, `started` the one that was started for it,
    `kept_until_ms` until when it waits for further runs."""

    id: str
    delivered: tuple[str, ...]
    kept_until_ms: int | None = None
    started: str | None = None


def send(
    world: World, workflow_id: str, name: str, data: JSON, *, key: JSON, id: str | None = None, by: str | None = None,
    keep_ms: int | None = None, start: bool = False, inputs: JSON = None,
) -> Delivered:
    """Delivers a message to the runs of a workflow that answer to a key. `id` is the id of the message: the same id is delivered
    once to each run; without it, one is made. `keep_ms` keeps the message for runs that begin to answer to the key within that
    time; None takes the time from the workflow. With `start`, exactly one run of the key gets the message: the live one, or a
    new one that starts with `inputs`, or with the data if these are None.

    Raises `NotFound` (unknown_workflow, unknown_message, no_receiver: nothing is stored), `InvalidRequest` (key_invalid,
    message_invalid), `LimitExceeded` (message_too_large), `Conflict` (message_conflict: the id was used with other data;
    message_too_late: see `deliver_to_one`) and `Refused` (mailbox_full, too_many_receivers)."""
    version = latest(world, workflow_id)
    graph = world.versions.graph(workflow_id, version.hash)
    run_key = RunKey(workflow_id, checked_key(key))
    declared = checked_message(graph, name, data)
    now_ms = world.clock.now_ms()
    identity = checked_id(id, now_ms)
    begin: JSON = {} if inputs is None else {"inputs": inputs}
    signal = inbox.message_signal(identity, name, data, now_ms, key=run_key.key, by=by, start=begin if start else None)
    if start:
        return deliver_to_one(world, run_key, signal)
    keeps_ms = declared.keep_ms if keep_ms is None else keep_ms
    until_ms: int | None = None
    if keeps_ms:
        if kept.count_kept(world, run_key) >= MAX_KEPT_MESSAGES:
            raise Refused(f"{MAX_KEPT_MESSAGES} messages are kept for this key", code="mailbox_full", mend="try again later")
        stored, until_ms = kept.keep(world, run_key, signal, keeps_ms)
        check_same(stored, signal)
    delivered = tuple(run_id for run_id in receivers(world, run_key) if put(world, run_id, signal))
    if not delivered and id is not None:
        _, last = last_run(world, run_key, run_key.number(world))
        delivered = (last.run_id,) if last is not None and _was_delivered(world, last, signal) else ()
    if not delivered and until_ms is None:
        mend = "start the run first, send with `keep`, or with `start: true`"
        raise NotFound(f"no run of {workflow_id} answers to this key", code="no_receiver", mend=mend)
    return Delivered(identity, delivered, until_ms)


def send_to_run(
    world: World, run_id: str, name: str, data: JSON, *, id: str | None = None, by: str | None = None
) -> Delivered:
    """Delivers a message to one run. Raises `NotFound` (unknown_run, unknown_message), `Gone` (run_ended, also for one that was
    erased), and as `send` does."""
    try:
        head = head_of(world, run_id)
    except Gone as error:
        raise ended(run_id) from error
    checked_message(graph_of(world, head), name, data)
    now_ms = world.clock.now_ms()
    identity = checked_id(id, now_ms)
    signal = inbox.message_signal(identity, name, data, now_ms, by=by)
    if not put(world, run_id, signal) and (id is None or not _was_delivered(world, head, signal)):
        raise ended(run_id)
    return Delivered(identity, (run_id,))


def _was_delivered(world: World, head: RunHead, signal: Signal) -> bool:
    """Whether a run that has ended was sent this message before its end: a sender that lost the answer repeats the request, and
    is to be told what happened. Raises `Conflict` (message_conflict)."""
    stored = world.store.get_signal(head.run_id, inbox.MESSAGE, signal.identity)
    if stored is not None:
        check_same(stored, in_inbox(world, head.run_id, signal))
    return stored is not None


@dataclass(frozen=True, slots=True)
class KeyRuns:
    """The live run of a key, and the last runs that had it, the newest first."""

    live: str | None
    runs: tuple[RunHead, ...]


def runs_of_key(world: World, workflow_id: str, key: JSON) -> KeyRuns:
    """Returns the runs of a key, the last MAX_SHOWN_KEY_RUNS of them. Raises `NotFound` (unknown_workflow) and `InvalidRequest`
    (key_invalid)."""
    latest(world, workflow_id)
    run_key = RunKey(workflow_id, checked_key(key))
    last = run_key.number(world)
    found = [world.store.get_run(run_key.run_id(number)) for number in range(last, max(0, last - MAX_SHOWN_KEY_RUNS), -1)]
    heads = tuple(head for head in found if head is not None and head.status != ERASED)
    return KeyRuns(next((head.run_id for head in heads if is_live(head)), None), heads)


def receivers(world: World, run_key: RunKey) -> list[str]:
    """Returns the runs that answer to a key: the live run of the key, and those that wait under it. Raises `Refused`
    (too_many_receivers)."""
    live = live_run(world, run_key)
    found = routes.routes_of(world, run_key)
    if len(found) > MAX_RECEIVERS:
        mend = "send the message to each run by its id"
        raise Refused(f"more than {MAX_RECEIVERS:,} nodes wait under this key", code="too_many_receivers", mend=mend)
    own = [live.run_id] if live is not None else []
    others = groupby((route for route in found if route.run_id not in own), attrgetter("run_id"))
    return [*own, *(run_id for run_id, of_run in others if _waits(world, run_key, run_id, of_run))]


def _waits(world: World, run_key: RunKey, run_id: str, found: Iterable[Route]) -> bool:
    """Whether a run waits under a key. Its log decides, and the routes that are left over are removed. A run whose log cannot be
    read gets the message: the routes are all that is known of it."""
    head = world.store.get_run(run_id)
    waits: set[int] = set()
    if head is not None and is_live(head):
        log = RunLog(world.store, world.blobs, run_id)
        try:
            state = log.load(graph_of(world, head))
            log.check_end(state.sequence, head.sequence)
        except LogUnreadable:
            return True
        waits = {wait for key, wait in routes.waits_in(state).values() if key == run_key.key}
    for route in found:
        if route.wait not in waits:
            routes.remove_route(world, run_key, route)
    return bool(waits)


def put(world: World, run_id: str, signal: Signal) -> bool:
    """Puts a message into the inbox of a run and wakes the run. False, and nothing is put, for a run that has ended. Raises
    `Conflict` (message_conflict) and `Refused` (mailbox_full)."""
    head = world.store.get_run(run_id)
    if head is None or not is_live(head):
        return False
    check_space(head)
    now_ms = world.clock.now_ms()
    granted = head.owner == RECEIVER and not is_over(head.lease_until_ms, now_ms)
    if not granted and not _make_due(world, head, now_ms):
        return False
    signal = in_inbox(world, run_id, signal)
    try:
        stored = world.store.put_signal(run_id, signal)
    except LimitExceeded as error:
        world.queue.send(spending.hint(world, run_id, "signal"))
        message = f"the inbox of {run_id} is full"
        raise Refused(message, code="mailbox_full", mend="try again later", retry_after_ms=1_000) from error
    keep_due(world, run_id, now_ms)
    world.queue.send(spending.hint(world, run_id, "signal"))  # also under a granted lease, which a running session keeps as it is
    check_same(stored, signal)
    return True


def _make_due(world: World, head: RunHead, now_ms: int) -> bool:
    """Makes a run due before a signal is put into its inbox, as `runtime/signalling.py` says; False if it was removed. The lease
    of a run that waits is granted to the receiver of the hint, which saves the write that takes it. A run whose lease another
    sender has granted is due at the end of that."""
    if head.owner is None and head.status == RunStatus.PAUSED and world.store.grant_lease(head.run_id, now_ms + LEASE_MS):
        return True
    return world.store.touch_run(head.run_id, now_ms + START_GRACE_MS)


def deliver_to_one(world: World, run_key: RunKey, signal: Signal, *, accepted: bool = False) -> Delivered:
    """Delivers a message that asks for a start to exactly one run of its key. May be repeated, by any party. `accepted`: its
    sender was told that a run has it, so that no limit on starts refuses the run any more. Raises `Conflict` (message_too_late)
    if MAX_MESSAGE_RUNS runs of the key have ended without it: no party has looked at a later run, so no run has it."""
    body = inbox.body_of(signal)
    inputs = body["start"].get("inputs", body["data"])
    version = latest(world, run_key.workflow_id)
    graph = world.versions.graph(run_key.workflow_id, version.hash)
    new = NewRun(version, graph, encoded_inputs(inputs), {"trigger": {"kind": "message", "id": signal.identity}})
    now_ms = world.clock.now_ms()
    claim = f"message:{run_key.digest}:{signal.identity}"
    number = number_in(claim, world.store.claim(claim, _first_number(world, run_key), now_ms, now_ms + IDEMPOTENCY_KEY_LIFE_MS))
    end = number + MAX_MESSAGE_RUNS
    while number < end:  # at most three passes for a number: the run is missing, it lives, it has ended
        run_id = run_key.run_id(number)
        head = world.store.get_run(run_id)
        if head is not None and not is_live(head):
            if logged(world, head, signal.identity):
                return Delivered(signal.identity, (run_id,))
            number += 1
            continue
        created = head is None and _create(world, run_key, number, new, inputs, accepted=accepted)
        existing = world.store.get_signal(run_id, inbox.MESSAGE, signal.identity)
        if existing is not None:
            check_same(existing, in_inbox(world, run_id, signal))
        if not put(world, run_id, signal):
            continue  # it has ended: look whether it has the message
        head = world.store.get_run(run_id)
        if head is not None and is_live(head):
            return Delivered(signal.identity, (run_id,), started=run_id if created else None)
    message = f"{MAX_MESSAGE_RUNS:,} runs of the key have ended since the message {signal.identity} was first sent"
    raise Conflict(message, code="message_too_late", mend="send the message under a new id")


def _first_number(world: World, run_key: RunKey) -> bytes:
    """The number at which a message is first tried: of the live run, or else the last of the key, whose run may be missing."""
    number = run_key.number(world)
    ran, head = last_run(world, run_key, number)
    return str(ran if head is not None and is_live(head) else max(1, number)).encode()


def _create(world: World, run_key: RunKey, number: int, new: NewRun, inputs: JSON, *, accepted: bool) -> bool:
    """Creates the run of a number. Whether this process did."""
    last = run_key.number(world)
    if last < number:
        if not accepted:
            admit(world, new.graph, inputs)
        run_key.raise_to(world, last, number)  # refused: another party has raised it
    placed = create(world, run_key, number, new)
    if placed.created:
        world.queue.send(spending.hint(world, placed.head.run_id, "start"))
    return placed.created


def logged(world: World, head: RunHead, identity: str) -> bool:
    """Returns whether an ended run has a message in its log. Reads the log: only a message that races with the end of a run needs
    it."""
    if head.status == ERASED:
        return True  # what it received is not known any more, and must not be given to another run
    log = RunLog(world.store, world.blobs, head.run_id)
    return any(event.type is EventType.MESSAGE_RECEIVED and event.data["id"] == identity for event in log.read(whole=False))


# -- what is refused ---------------------------------------------------------------------------------------------------


def checked_message(graph: Graph, name: str, data: JSON) -> Incoming:
    """Returns the declaration of a message that may be sent. Raises `NotFound` (unknown_message), `InvalidRequest`
    (message_invalid, invalid_json) and `LimitExceeded` (message_too_large)."""
    declared = graph.messages.get(name)
    if declared is None:
        from stepless.compile.suggest import did_you_mean  # imported late: few messages need it

        mend = did_you_mean(name, graph.messages, what="messages") or "declare it in `messages` of the workflow"
        raise NotFound(f"{graph.workflow_id} declares no message `{name:.100}`", code="unknown_message", mend=mend)
    for finding in json_findings(data):
        message = f"the data is not JSON: {finding.message}"
        raise InvalidRequest(message, code="invalid_json", status=422, place=finding.path, mend=finding.mend)
    size = len(encoded(data))
    if size > MAX_MESSAGE_BYTES:
        raise too_large(size)
    violations = declared.contract.violations(data) if declared.contract is not None else ()
    if violations:
        message = f"the data does not fit the message `{name}`: {violations[0]}"
        mend = f"send what `messages.{name}.data` declares"
        raise InvalidRequest(message, code="message_invalid", status=422, place="data", mend=mend, violations=list(violations))
    return declared


def too_large(size: int) -> LimitExceeded:
    """Returns the refusal of data that takes at least `size` bytes."""
    message = f"the data takes {size:,} bytes; {MAX_MESSAGE_BYTES:,} is the limit"
    return LimitExceeded(message, code="message_too_large", mend="send a reference to it, such as the key of an object in S3")


def checked_id(id: str | None, now_ms: int) -> str:
    """Returns the id of a message; a new one for None. Raises `InvalidRequest` (invalid_idempotency_key)."""
    if id is None:
        return f"msg_{now_ms:011x}{next(_sent) % 0x1000000:06x}{token_hex(5)}"  # in the order in which this process made them
    if not 0 < len(id) <= MAX_IDEMPOTENCY_KEY_CHARACTERS:
        message = f"the id of a message has 1 to {MAX_IDEMPOTENCY_KEY_CHARACTERS} characters"
        raise InvalidRequest(message, code="invalid_idempotency_key", place="id")
    return id


def check_same(stored: Signal, sent: Signal) -> None:
    """Raises `Conflict` (message_conflict) if another message has the id."""
    if stored.body == sent.body:
        return
    former, mine = inbox.body_of(stored), inbox.body_of(sent)
    if not all(equal(former.get(part), mine.get(part)) for part in ("name", "data", inbox.BLOB)):
        message = f"the id {sent.identity} was used for a message with other data"
        raise Conflict(message, code="message_conflict", mend="use another id, or another idempotency key")


def check_space(head: RunHead) -> None:
    """Raises `Refused` (mailbox_full) if the run has as many unread messages as it may have."""
    unread = notes_in(head).get(UNREAD)
    if type(unread) is int and unread >= MAX_MAILBOX:
        message = f"the run {head.run_id} has {unread:,} unread messages, which is the limit"
        raise Refused(message, code="mailbox_full", mend="try again after it has read some", retry_after_ms=1_000)


def ended(run_id: str) -> Gone:
    return Gone(f"the run {run_id} has ended; the message was not delivered", code="run_ended")
