"""Collects one decision: its events, each folded at once, and the effects to run after their commit."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from stepless.core.doubt import may_begin
from stepless.core.events import Event, EventType
from stepless.core.fold import NODE_FOLDS, apply, ignore
from stepless.core.folding.consequences import LATE_ARRIVAL
from stepless.core.folding.container_folds import VARIABLE_CONFLICT
from stepless.core.state import Instance, State
from stepless.core.values.masking import NO_MASK, mask_for
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.steps import TOO_MUCH

if TYPE_CHECKING:
    from stepless.core.limits.permits import Permits

Render: TypeAlias = Callable[[Node, Mapping[str, JSON]], Mapping[str, JSON]]
"""Renders a tool's parameters for the arguments of a call. Raises `SteplessError`."""


@dataclass(slots=True)
class Dispatch:
    """An order to run one attempt after the decision is committed. Immutable. `params` are rendered and include secrets: never
    log them. `render` renders the parameters of one of the node's tools for the arguments of a call. `nulls` are the references
    in `params` that are null. `token` is the token that the instance keeps from a former run, and `repeats` names the child run
    that it repeats, as `State.calls` does; empty for others."""

    instance: Instance
    id: str
    attempt: int
    params: Mapping[str, JSON]
    inputs: Mapping[str, JSON]
    render: Render | None = None
    nulls: tuple[str, ...] = ()
    token: str = ""
    repeats: str = ""


class Decision:
    """The result of `decide`.

    `events` are in log order and already folded into `state`. After their commit, the runner

    * stops the attempts in `aborts` (instance ids) and runs the other `dispatches` in order,
    * claims the deadline of every pause in `expiries` (instance ids), and passes `Expired` to the core for each claim it wins,
    * sends a notice for every pause in `notices` (instance ids), and passes `Noticed` to the core.

    A decision that was cut is not `over`: after its events are committed, the runner decides again, with any new facts.
    """

    __slots__ = ("state", "now_ms", "env", "capacity", "spare_ms", "events", "dispatches", "aborts", "expiries",
                 "start_failures", "spent", "mask", "masks", "notices", "last_starts", "permits", "lingering",
                 "exclusive")  # fmt: skip

    def __init__(
        self, state: State, now_ms: int, env: Mapping[str, str], capacity: int | None, spare_ms: int | None,
        permits: Permits | None = None, lingering: Container[str] = (), exclusive: bool = True,
    ) -> None:
        self.state = state
        self.exclusive = exclusive
        self.permits = permits
        self.lingering = lingering
        self.now_ms = now_ms
        self.env = env
        self.capacity = capacity
        self.spare_ms = spare_ms
        self.mask = mask_for(frozenset(env.values())) if env else NO_MASK
        self.masks = bool(env) and bool(self.mask)
        self.events: list[Event] = []
        self.dispatches: list[Dispatch] = []
        self.aborts: list[str] = []
        self.expiries: list[str] = []
        self.notices: list[str] = []
        self.start_failures: dict[Instance, tuple[str, str]] = {}  # code and message
        self.spent = 0  # steps of evaluation
        # the instances that were ready at the instant of the halt; None before a halt
        self.last_starts: frozenset[Instance] | None = frozenset() if state.halting else None

    def admits(self, instance: Instance) -> bool:
        """Returns whether an attempt of this instance may begin now: a slot is free, its timeout is short enough, and the code of
        its former attempt has returned."""
        if self.capacity is not None and len(self.state.running) >= self.capacity:
            return False
        if self.state.recoveries and not may_begin(self.state, instance, exclusive=self.exclusive):
            return False
        if instance.id in self.lingering:
            return False
        return self.spare_ms is None or self.fits(instance)

    def fits(self, instance: Instance) -> bool:
        """Returns whether the timeout of an attempt is short enough for what is left of the invocation."""
        return self.spare_ms is None or instance.node.timeout_ms <= self.spare_ms

    @property
    def over(self) -> bool:
        return self.state.ended or not self.state.agenda

    def extend(self, later: Decision) -> None:
        """Adds a decision that follows from this one, to be committed with it. It is `over` when the later one is."""
        self.events += later.events
        self.dispatches += later.dispatches
        self.aborts += later.aborts
        self.expiries += later.expiries
        self.notices += later.notices

    def emit(self, type: EventType, instance: Instance, data: Mapping[str, Any]) -> None:
        """Decides one event about an instance."""
        state = self.state
        parent = instance.last_sequence
        if not parent and instance.last_taken >= 0:
            source = instance.scope.instances[instance.last_taken]
            parent = source.settled_sequence if source is not None else 0
        if self.masks:
            data = self._without_secrets(data)
        state.sequence = sequence = state.sequence + 1
        event = Event(sequence, type, self.now_ms, instance.id, parent, data)
        self.events.append(event)
        NODE_FOLDS.get(type, ignore)(state, instance, event)  # as `apply` does
        if state.notes:
            self._log_notes()

    def emit_run(self, type: EventType, data: Mapping[str, Any]) -> None:
        """Decides one event about the run."""
        if self.masks:
            data = self._without_secrets(data)
        event = Event(self.state.sequence + 1, type, self.now_ms, "", 0, data)
        self.events.append(event)
        apply(self.state, event, None)

    def _log_notes(self) -> None:
        """Logs the notes of folding as `node.log`. A failed start is kept in `start_failures`, which `start.work` reads."""
        notes, self.state.notes = self.state.notes, []
        for code, instance, detail in notes:
            if code == LATE_ARRIVAL:
                self.emit(EventType.NODE_LOG, instance, {"code": code, "from": detail})
            elif code == VARIABLE_CONFLICT:
                self.emit(EventType.NODE_LOG, instance, {"code": code, "level": "warning", "name": detail})
            else:
                message = detail if code == TOO_MUCH else f"branches disagree about the variable {detail}"
                self.start_failures[instance] = (code if code == TOO_MUCH else VARIABLE_CONFLICT, message)

    def _without_secrets(self, data: Mapping[str, Any], *, failure: bool = True, given: bool = False) -> Mapping[str, Any]:
        """A payload with every secret masked where a user or program could have put one. The engine's own words and numbers stay,
        even if a secret is equal to one of them. `failure` says that `message` is a failure's message, `given` that the numbers
        come from users or programs."""
        shown: dict[str, Any] = {}
        for key, value in data.items():
            if key in _OWN_WORDS:
                shown[key] = value
            elif key in _OWN_OBJECTS and isinstance(value, Mapping):
                shown[key] = self._without_secrets(value, failure=key == "error", given=key in _GIVEN)
            elif key == "message" and failure and isinstance(value, str):
                shown[key] = self.mask.message(value)
            elif key == "violations":
                shown[key] = [self.mask.message(violation) for violation in value]
            else:
                shown[key] = self.mask.value(value, numbers=given or key in _GIVEN)
        return shown


_OWN_WORDS = frozenset({"status", "reason", "handle", "mode", "exits", "class", "cause", "node", "at", "phase", "instances",
                        "run", "from", "level", "reused", "kept", "cell"})  # fmt: skip
_OWN_OBJECTS = frozenset({"error", "details", "response", "variables", "usage", "meta"})  # their keys are not the user's
_GIVEN = frozenset({"inputs", "output", "answer", "item", "variables", "response"})  # whose numbers are not the engine's


def iso(at_ms: int) -> str:
    """Returns an instant in ISO 8601, as JSON Schema's `date-time`: UTC, with milliseconds."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
