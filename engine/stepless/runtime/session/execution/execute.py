"""Executes one attempt of an effectful node: calls its kind's code and turns every outcome into a fact."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import random
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

from stepless.core.decision import Dispatch
from stepless.core.facts import AttemptFact, Completed, Failed, Failure, Logged, Streamed, Suspended
from stepless.core.values.masking import Mask
from stepless.core.values.reference_values import with_nulls
from stepless.limits import MAX_EXCEPTION_BYTES, MAX_LOG_CHARACTERS, STREAM_COALESCE_MS
from stepless.model.effects.call import token_of
from stepless.model.effects.media import Media, checked
from stepless.model.json import JSON
from stepless.model.kind import Outcome, Pause
from stepless.model.work import NodeFailure, Result, added
from stepless.nodes import KindCode
from stepless.ports import Call, RunHead
from stepless.raised import described, message_of, origin_of
from stepless.runtime.session.execution.result_size import SMALL, check_size
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.model.effects.call import Tooled
    from stepless.runtime.session.execution.moderation import Gate

REPEATS: Final = "repeats"  # of what kinds may know: the child run that a call repeats, as `State.calls` names it
_FAMILIES = {"timeout": "timeout", "config": "processing", "moderation": "policy"}
Report = Callable[[AttemptFact], None]
_NOTHING: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Listener:
    """The receiver of what the nodes of a session report. `report` is called in the thread of the loop."""

    report: Report
    mask: Mask
    loop: asyncio.AbstractEventLoop
    thread: int


class Reporter:
    """Reports what a node produces while it runs: log lines at once, streamed text every STREAM_COALESCE_MS, media one by one.
    Thread-safe. If `withheld`, streamed output is kept until `release`, which reports the text first. A line is masked before it
    is cut, and a piece never ends inside a possible secret, since half a secret cannot be masked. `over` is true once the attempt
    is cancelled; `keeps` whether output is kept back."""

    __slots__ = ("_instance", "_attempt", "_listener", "_withheld", "_pieces", "_media", "_flush", "over", "keeps")

    def __init__(self, instance: str, attempt: int, listener: Listener, *, withheld: bool) -> None:
        self._instance = instance
        self._attempt = attempt
        self._listener = listener
        self._withheld = withheld
        self._pieces: list[str] = []
        self._media: list[Media] = []
        self._flush: asyncio.TimerHandle | None = None
        self.over = self.keeps = False

    def log(self, text: str) -> None:
        line = self._listener.mask.message(text)[:MAX_LOG_CHARACTERS]
        self._in_loop(self._listener.report, Logged(self._instance, self._attempt, line))

    def heartbeat(self) -> None:
        """Raises `NodeFailure` once the attempt is cancelled."""
        if self.over:
            raise NodeFailure("execution", "attempt_over", "this attempt has been cancelled", retryable=False)

    def delta(self, piece: str | Media) -> None:
        if isinstance(piece, str):
            self._in_loop(self._keep, piece)
        else:
            self._in_loop(self._keep_media, checked(piece))

    def _in_loop(self, call: Callable[[Any], None], argument: Any) -> None:
        """Calls directly in the loop's own thread, so that output before the end of an attempt is also reported before it."""
        if get_ident() == self._listener.thread:
            call(argument)
        else:
            self._listener.loop.call_soon_threadsafe(call, argument)

    def _keep(self, text: str) -> None:
        self._pieces.append(text)
        self.keeps = True
        if self._flush is None and not self._withheld:
            self._flush = self._listener.loop.call_later(STREAM_COALESCE_MS / 1000, self._release_safely)

    def _keep_media(self, media: Media) -> None:
        self._media.append(media)
        self.keeps = True
        if not self._withheld:
            self._release_safely()
            self._release_media()

    def release(self) -> None:
        """Reports all output that was kept back. The node must be finished."""
        if self._pieces:
            self._release("".join(self._pieces), 0)
        self._release_media()

    def _release_media(self) -> None:
        ready, self._media = self._media, []
        for media in ready:
            self._listener.report(Streamed(self._instance, self._attempt, "", media))

    def _release_safely(self) -> None:
        text = "".join(self._pieces)
        self._release(text, self._listener.mask.held(text))

    def _release(self, text: str, held: int) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        ready, rest = text[: len(text) - held], text[len(text) - held :]
        self._pieces = [rest] if rest else []
        if ready:
            self._listener.report(Streamed(self._instance, self._attempt, ready))


class Executor:
    """Executes the attempts of one session. `report` is called with what nodes log and stream, in order, in the thread of the
    loop. `facts` is what kinds may know about the run. `code` is that of the kinds that the run has needed so far. Only node code
    receives secrets unmasked."""

    def __init__(
        self, head: RunHead, world: World, report: Report, facts: Mapping[str, object], mask: Mask
    ) -> None:
        self._run_id = head.run_id
        self._workflow_id = head.workflow_id
        self._kind_code = world.kind_code
        self._http = world.http
        self.code: dict[str, KindCode] = {}
        self._moderator = world.moderator
        self._opened_gate: Gate | None = None
        self._listener = Listener(report, mask, asyncio.get_running_loop(), get_ident())
        self._facts = facts
        self._mask = mask

    def load(self, kind: str) -> None:
        """Loads a kind's code before the clock of an attempt starts, since an import may take longer than a short `timeout_ms`.
        Never raises."""
        if kind not in self.code:
            self.code[kind] = _loaded(self._kind_code, kind)

    @property
    def _gate(self) -> Gate:
        """The gate of moderated nodes, opened by the first of them."""
        if self._opened_gate is None:
            from stepless.runtime.session.execution.moderation import Gate  # imported late: few nodes are moderated

            self._opened_gate = Gate(self._moderator)
        return self._opened_gate

    def _tools(self, call: Call, dispatch: Dispatch) -> Mapping[str, Tooled]:
        from stepless.runtime.session.execution.tool_nodes import tools_of  # imported late: few nodes have tools

        return tools_of(call, dispatch, self._kind_code, self._gate, self._mask)

    async def attempt(self, dispatch: Dispatch, now_ms: int) -> Completed | Failed | Suspended:
        """Executes an attempt and returns its outcome. Raises only if it is cancelled. `Attempts` enforces the deadline."""
        node, instance, number = dispatch.instance.node, dispatch.id, dispatch.attempt
        watched = node.moderation in ("output", "both")
        reporter = Reporter(instance, number, self._listener, withheld=watched)
        call = Call(  # positional arguments: by keyword, this takes twice as long
            self._run_id,
            self._workflow_id,
            instance,
            node.id,
            node.kind.name,
            number,
            dispatch.params,
            node.config.literals,
            dispatch.inputs,
            dispatch.token or token_of(self._run_id, instance, dispatch.instance.used),
            now_ms + node.timeout_ms,
            now_ms,
            reporter.log,
            reporter.delta,
            reporter.heartbeat,
            self._facts if not dispatch.repeats else {**self._facts, REPEATS: dispatch.repeats},
            self._http,
        )
        if dispatch.render is not None:
            call.tools = self._tools(call, dispatch)
        result: Result | Pause | None = None
        try:
            if node.moderation in ("input", "both"):
                shown = {"inputs": dict(call.inputs), "params": self._mask.value(call.params)}
                await self._gate.pass_through(node, "input", shown)
            if call.kind not in self.code:
                self.load(call.kind)
            result = await self.code[call.kind](call)
            if type(result) is not Result and isinstance(result, Pause):
                return Suspended(instance, number, result)
            if type(result.value) is not str or len(result.value) > SMALL:
                check_size(result)
            if watched:
                await self._gate.pass_through(node, "output", self._mask.value(result.value))
            if reporter.keeps:
                reporter.release()
        except NodeFailure as error:
            return Failed(instance, number, _failure(error, self._mask, dispatch.nulls), random(), _spent(result, error))
        except TimeoutError as error:
            return timed_out(dispatch, _exception_facts(error, self._mask))
        except asyncio.CancelledError:
            reporter.over = True
            raise
        except Exception as error:  # the kind may only raise NodeFailure: the node fails, and the run continues
            message = self._mask.message(f"{type(error).__name__}: {message_of(error)}")[:MAX_LOG_CHARACTERS]
            failure = Failure("provider_error", "kind_raised", message, exception=_exception_facts(error, self._mask))
            return Failed(instance, number, failure, random())
        outcome, usage = Outcome(result.value, result.handle, result.variables), result.usage
        return Completed(instance, number, outcome, _counts(usage) if usage else _NOTHING)


def _loaded(kind_code: Mapping[str, KindCode], kind: str) -> KindCode:
    """The kind's code. If it cannot be loaded: code that tries again when it is called, and raises the error of that try."""
    try:
        return kind_code[kind]
    except Exception:

        async def later(call: Call) -> Result | Pause:
            return await kind_code[kind](call)

        return later


def _counts(usage: Mapping[str, JSON]) -> dict[str, int]:
    return {name: count for name, count in usage.items() if isinstance(count, int)} if usage else {}


def _spent(result: Result | Pause | None, failure: NodeFailure) -> Mapping[str, int]:
    """The usage of a failed attempt. Its work may have succeeded, and its result may have been refused."""
    done = _counts(result.usage) if isinstance(result, Result) else {}
    return added(done, _counts(failure.usage)) if failure.usage else done


def timed_out(dispatch: Dispatch, exception: Mapping[str, JSON] | None = None) -> Failed:
    """Returns the failure of an attempt whose deadline has passed, or whose kind raised `TimeoutError`."""
    message = f"no answer within {dispatch.instance.node.timeout_ms} ms"
    failure = Failure("timeout", "timeout", message, "timeout", exception=exception)
    return Failed(dispatch.id, dispatch.attempt, failure, random())


def _failure(error: NodeFailure, mask: Mask, nulls: Sequence[str]) -> Failure:
    cause = error.cause if error.retryable else f"{error.cause}, not retryable"
    origin = origin_of(error)
    message = with_nulls(str(error), nulls) if error.cause == "config" else str(error)
    return Failure(
        cause, error.code, mask.message(message), _FAMILIES.get(error.cause, "execution"), error.retry_after_ms,
        exception=None if origin is None else _exception_facts(origin, mask), phase=error.phase,
    )  # fmt: skip


def _exception_facts(error: BaseException | Mapping[str, JSON], mask: Mask) -> Mapping[str, JSON]:
    """What the log records of an exception in author code."""
    facts = described(error, MAX_EXCEPTION_BYTES) if isinstance(error, BaseException) else error
    return {name: mask.message(value) if isinstance(value, str) else value for name, value in facts.items()}
