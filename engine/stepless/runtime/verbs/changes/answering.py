"""Puts the signals of callers, each of which takes effect once (docs/understand/semantics.md#pauses,
docs/understand/semantics.md#cancel, docs/run/security.md#what-is-signed)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from stepless.core.deciding.pauses import TIMEOUT, refusal
from stepless.core.events import NODE_ENDS, NODE_FAILURES, RUN_ENDS, Event, EventType
from stepless.core.history.trace import locate
from stepless.core.state import Instance, State, Status
from stepless.errors import Conflict, EngineBug, Gone, InvalidRequest, NotFound
from stepless.limits import LEASE_MS, MAX_VIOLATIONS, PREVIEW_CHARACTERS, START_GRACE_MS
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.model.texts.details import Detail, details_of
from stepless.ports import RunHead, Signal
from stepless.runtime import inbox
from stepless.runtime.access.deciders import Decider, approvers_of, check_may_decide, may_decide, named
from stepless.runtime.access.tokens import Claims, Signer
from stepless.runtime.billing import spending
from stepless.runtime.runlog import RunLog
from stepless.runtime.signalling import keep_due, put_signal
from stepless.runtime.verbs.reads.inspecting import OpenPause, graph_of, head_of, whole_or_gone
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class PauseView:
    """What the holder of a link may see: the question, never the run. `decided` is the first answer, if there is one.
    `expired_ms` is when the link expired, if it has. `over` means that the pause ended at `over_ms` without an answer: the run
    has ended, or has continued without it."""

    run_id: str
    workflow: str
    pause: str
    label: str
    message: str
    fields: Mapping[str, JSON]
    exits: tuple[str, ...]
    deadline_ms: int | None
    decided: Mapping[str, JSON] | None
    over: bool
    approver: str | None = None  # the person the link was created for: recorded as the decider, even if another name is given
    expired_ms: int | None = None
    over_ms: int | None = None
    via: str | None = None  # the caller of the API for whom the link was made
    details: Sequence[Detail] = ()
    asked_by: str = ""


def show_pause(world: World, signer: Signer, token: str) -> PauseView:
    """Returns the facts that a link shows, even if it has expired. Has no side effects. Raises `Forbidden` (invalid_token) and
    `NotFound`."""
    claims = signer.read(token)
    state = _load(world, head_of(world, claims.run_id))
    instance = _instance(state, claims)
    existing = world.store.get_signal(claims.run_id, inbox.RESUME, claims.pause)
    wait = instance.wait if instance is not None else None
    details = wait.details if wait is not None else _asked(world, claims)
    node = locate(state.graph, claims.pause)
    exits = tuple(exit for exit in (wait.exits if wait is not None else node.exits) if exit != TIMEOUT)
    over = existing is None and (state.ended or (instance is not None and instance.settled))
    return PauseView(
        run_id=claims.run_id,
        workflow=state.graph.name,
        pause=claims.pause,
        label=node.label,
        message=str(details.get("message") or ""),
        fields=node.config.literals.get("fields") or {},
        exits=(claims.exit,) if claims.exit else exits,
        deadline_ms=wait.deadline_ms if wait is not None else None,
        decided=_public(existing) if existing is not None else None,
        over=over,
        approver=claims.approver,
        expired_ms=claims.expires_ms if claims.expires_ms <= world.clock.now_ms() else None,
        over_ms=_closed_ms(world, claims) if over else None,
        via=claims.via,
        details=details_of(details),
        asked_by=str(details.get("asked_by") or ""),
    )


def _closed_ms(world: World, claims: Claims) -> int | None:
    """When a pause without an answer ended: at its own end, otherwise at the end of the run."""
    ends = (
        event.at_ms
        for event in RunLog(world.store, world.blobs, claims.run_id).read(whole=False)
        if event.type in RUN_ENDS or (event.type in NODE_ENDS and event.instance == claims.pause)
    )
    with whole_or_gone(world, claims.run_id):
        return next(ends, None)


def _asked(world: World, claims: Claims) -> Mapping[str, JSON]:
    """The details of a pause that has ended, from the log: the state no longer holds them."""
    with whole_or_gone(world, claims.run_id):
        for event in RunLog(world.store, world.blobs, claims.run_id).read():
            if event.type is EventType.NODE_WAITING and event.instance == claims.pause:
                details: Mapping[str, JSON] = event.data.get("details", {})
                return details
    return {}


def answer(
    world: World, signer: Signer, token: str, handle: str | None, value: JSON, by: str | None = None
) -> Mapping[str, JSON]:
    """Decides a pause, once, and returns the decision.

    Raises `Forbidden` (invalid_token), `Gone` (token_expired, run_ended), `NotFound`, `Conflict` (already_decided, with the
    first decision), `InvalidRequest` 422 (answer_invalid: the pause stays open).
    """
    now_ms = world.clock.now_ms()
    claims = signer.verify(token, now_ms)
    if claims.exit is not None and handle not in (None, claims.exit):
        raise InvalidRequest(f"this link only allows the answer {claims.exit}", code="answer_invalid", status=422)
    who = claims.approver or (named(by, claims.via) if claims.via else by)
    return answer_pause(world, claims.run_id, claims.pause, claims.exit or handle, value, who)


def answer_pause(
    world: World, run_id: str, pause: str, handle: str | None, value: JSON, by: str | None = None
) -> Mapping[str, JSON]:
    """Answers like `answer`, for callers who are authorized without a link."""
    head = head_of(world, run_id)
    existing = world.store.get_signal(run_id, inbox.RESUME, pause)
    if existing is not None:
        _hint(world, run_id)
        raise _over(run_id) if _lost(world, _load(world, head), pause) else _decided(existing)
    if head.status in ENDED:
        raise _over(run_id)
    state = _load(world, head)
    handle = _checked(state, run_id, pause, handle, value)
    now_ms = world.clock.now_ms()
    signal = inbox.answer_signal(pause, handle, value, by, now_ms)
    with world.commits.at_once():  # elsewhere, the sweep finds the run if this process dies before the signal is put
        if head.owner is not None or not world.store.grant_lease(run_id, now_ms + LEASE_MS):
            world.store.touch_run(run_id, now_ms + START_GRACE_MS)
        existing = world.store.put_signal(run_id, signal)
    keep_due(world, run_id, now_ms)
    _hint(world, run_id)
    if existing.body != signal.body:
        raise _decided(existing)
    if _lost(world, state, pause):
        raise _over(run_id)
    return _public(signal)


def check_decider(world: World, run_id: str, pause: str, decider: Decider) -> None:
    """Raises `Forbidden` (not_an_approver) if the approval names approvers and the caller is none of them, `NotFound` if the run
    has no such pause. An approval that has ended may be answered by none: `answer_pause` says so."""
    state = _load(world, head_of(world, run_id))
    instance = _instance(state, Claims(run_id, pause, 0))
    asked = instance.wait.details if instance is not None and instance.wait is not None else {}
    check_may_decide(decider, asked or _asked(world, Claims(run_id, pause, 0)))


def linked(signer: Signer, pause: OpenPause, decider: Decider, *, bound: bool) -> OpenPause:
    """Returns the pause with a link for this caller; without one if they may not answer it. With `bound`, the link records this
    person as the one who answers, whatever name the request gives."""
    if pause.token is None:
        return pause
    approvers = approvers_of(pause.details)
    if not may_decide(decider, approvers):
        return replace(pause, token=None)
    claims = signer.read(pause.token)
    is_bound = decider.person is not None and (bound or bool(approvers))
    own = replace(claims, approver=decider.person) if is_bound else replace(claims, via=decider.label)
    return replace(pause, token=signer.sign(own))


def _checked(state: State, run_id: str, pause: str, handle: str | None, value: JSON) -> str:
    """The exit that the answer chooses. Raises if the answer is invalid. An answer that arrives before its pause is recorded is
    checked against the document."""
    instance = _instance(state, Claims(run_id, pause, 0))
    if state.ended or state.is_over(pause):
        raise _over(run_id)
    node = locate(state.graph, pause)
    exits = instance.wait.exits if instance is not None and instance.wait is not None else node.exits
    answers = [exit for exit in exits if exit != TIMEOUT]
    chosen = handle or (answers[0] if len(answers) == 1 else "")
    if unknown := _unknown_fields(node, value):
        faults = unknown
    elif instance is not None and instance.status is Status.WAITING:
        faults = refusal(instance, chosen, value)
    elif chosen not in answers:
        faults = (f"{chosen!r} is not an answer; expected {', '.join(answers)}",)
    else:
        faults = node.answer_contract.violations(value if value is not None else {}) if node.answer_contract else ()
    if faults:
        message, mend = f"the answer does not fit: {faults[0]}", "the question is still open"
        raise InvalidRequest(message, code="answer_invalid", status=422, mend=mend, violations=list(faults))
    return chosen


def _unknown_fields(node: Node, value: JSON) -> tuple[str, ...]:
    """One message for each unknown field of an answer. Checked only when the answer arrives: an answer that a former release has
    accepted is valid. A callback without declared fields accepts any."""
    fields = node.config.literals.get("fields")
    if not isinstance(value, dict) or (fields is None and node.kind.name != "approval"):
        return ()
    known = fields if isinstance(fields, dict) else {}
    unknown = [name for name in value if name not in known][:MAX_VIOLATIONS]
    return tuple(unknown_field(name, known) for name in unknown)


def unknown_field(name: str, known: Collection[str]) -> str:
    """Returns the message for an unknown field, with the most similar known one."""
    from stepless.compile.suggest import did_you_mean  # imported late: few answers need it

    shown = name if len(name) <= PREVIEW_CHARACTERS else f"{name[:PREVIEW_CHARACTERS]}…"
    hint = did_you_mean(name, known, what="fields")
    return f"there is no field `{shown}`" + (f". {hint}" if hint else "; the question has no fields")


def _load(world: World, head: RunHead) -> State:
    with whole_or_gone(world, head.run_id):
        return RunLog(world.store, world.blobs, head.run_id).load(graph_of(world, head))


def _instance(state: State, claims: Claims) -> Instance | None:
    try:
        locate(state.graph, claims.pause)
    except EngineBug as error:
        raise NotFound(f"the run has no pause {claims.pause}", code="unknown_pause") from error
    return state.find(claims.pause)


def _lost(world: World, state: State, pause: str) -> bool:
    """Whether the pause has ended without the answer that is in the inbox. Reads the log, since the header may lag behind, and
    folds its new events into `state`."""
    log = RunLog(world.store, world.blobs, state.run_id)
    with whole_or_gone(world, state.run_id):
        log.catch_up(state)
        if not (state.ended or state.is_over(pause)):
            return False
        answers = (event for event in log.read(whole=False) if event.instance == pause)
        return not any(event.type is EventType.NODE_RESUMED or _expired(event) for event in answers)


def _expired(event: Event) -> bool:
    """Whether an event is the failure of a pause whose deadline passed, if no `timeout` exit is connected."""
    return event.type in NODE_FAILURES and event.data["error"]["code"] == "wait_timeout"


def _public(signal: Signal) -> Mapping[str, JSON]:
    body = inbox.body_of(signal)
    return {"decision": body["handle"], "by": body.get("by"), "at": body["at"], "answer": body.get("answer")}


def _decided(existing: Signal) -> Conflict:
    first = _public(existing)
    who = f" by {first['by']}" if first["by"] else ""
    return Conflict(f"this was already decided: {first['decision']}{who}", code="already_decided", first=first)


def _over(run_id: str) -> Gone:
    return Gone(f"the run {run_id} has ended; this answer has no effect", code="run_ended")


def cancel(world: World, run_id: str, *, by: str | None = None, reason: str | None = None) -> None:
    """Requests that a run be cancelled. Idempotent. Raises `Conflict` (run_ended) for a finished run."""
    head = head_of(world, run_id)
    if head.status in ENDED:
        raise Conflict(f"the run {run_id} has ended: {head.status}", code="run_ended", run_status=head.status)
    now_ms = world.clock.now_ms()
    put_signal(world, run_id, inbox.cancel_signal(by, reason, now_ms), now_ms)
    _hint(world, run_id)


def _hint(world: World, run_id: str) -> None:
    world.queue.send(spending.hint(world, run_id, "signal"))
