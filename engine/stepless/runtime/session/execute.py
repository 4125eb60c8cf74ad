"""One attempt of an effectful node: its kind's code. Whatever happens becomes a fact."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import random
from threading import get_ident
from typing import Any

from stepless.core.decision import Dispatch
from stepless.core.facts import AttemptFact, Completed, Failed, Failure, Logged, Streamed, Suspended
from stepless.core.masking import Mask
from stepless.core.reading import with_nulls
from stepless.limits import MAX_EXCEPTION_BYTES, MAX_LOG_CHARACTERS, STREAM_COALESCE_MS
from stepless.model.json import JSON
from stepless.model.kind import Outcome, Pause
from stepless.model.media import Media, checked
from stepless.model.work import NodeFailure, Result, added
from stepless.nodes import KindCode
from stepless.ports import Call, RunHead
from stepless.raised import described, message_of, origin_of
from stepless.runtime.session.moderation import Gate
from stepless.runtime.session.tooling import check_size, tools_of

_FAMILIES = {"timeout": "timeout", "config": "processing", "moderation": "policy"}
Tell = Callable[[AttemptFact], None]


@dataclass(frozen=True, slots=True)
class Ear:
    """Who hears the nodes of a session: `tell` is called in the thread of the loop."""

    tell: Tell
    mask: Mask
    loop: asyncio.AbstractEventLoop
    thread: int


class Voice:
    """What a node says while it works: log lines at once, streamed text in pieces of STREAM_COALESCE_MS, media each as a piece.
    May be used from any thread. While `withheld` all pieces are kept back; `release` lets them go, the text first. A line is
    masked before it is cut, and a piece ends where no secret can have begun: half of one would slip through. `over` once nobody
    listens any more."""

    over = False

    def __init__(self, instance: str, attempt: int, ear: Ear, *, withheld: bool) -> None:
        self._instance = instance
        self._attempt = attempt
        self._ear = ear
        self._withheld = withheld
        self._pieces: list[str] = []
        self._media: list[Media] = []
        self._flush: asyncio.TimerHandle | None = None

    def log(self, text: str) -> None:
        line = self._ear.mask.message(text)[:MAX_LOG_CHARACTERS]
        self._in_loop(self._ear.tell, Logged(self._instance, self._attempt, line))

    def heartbeat(self) -> None:
        """Raises once the attempt has been given up."""
        if self.over:
            raise NodeFailure("execution", "attempt_over", "nobody waits for this attempt any more", retryable=False)

    def delta(self, piece: str | Media) -> None:
        if isinstance(piece, str):
            self._in_loop(self._keep, piece)
        else:
            self._in_loop(self._keep_media, checked(piece))

    def _in_loop(self, call: Callable[[Any], None], argument: Any) -> None:
        """At once in the loop's own thread, so that nothing said before an attempt's end comes after it."""
        if get_ident() == self._ear.thread:
            call(argument)
        else:
            self._ear.loop.call_soon_threadsafe(call, argument)

    def _keep(self, text: str) -> None:
        self._pieces.append(text)
        if self._flush is None and not self._withheld:
            self._flush = self._ear.loop.call_later(STREAM_COALESCE_MS / 1000, self._release_safely)

    def _keep_media(self, media: Media) -> None:
        self._media.append(media)
        if not self._withheld:
            self._release_safely()
            self._release_media()

    def release(self) -> None:
        """Tells what has been kept back, all of it: nothing more will come."""
        if self._pieces:
            self._release("".join(self._pieces), 0)
        self._release_media()

    def _release_media(self) -> None:
        told, self._media = self._media, []
        for media in told:
            self._ear.tell(Streamed(self._instance, self._attempt, "", media))

    def _release_safely(self) -> None:
        text = "".join(self._pieces)
        self._release(text, self._ear.mask.held(text))

    def _release(self, text: str, held: int) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        told, rest = text[: len(text) - held], text[len(text) - held :]
        self._pieces = [rest] if rest else []
        if told:
            self._ear.tell(Streamed(self._instance, self._attempt, told))


class Executor:
    """What all attempts of one session have in common. `tell` is given what nodes log and stream while they work, in order, in
    the loop's own thread; `facts` is what kinds may know about the run. Node code is given secrets as they are, and nobody
    else."""

    def __init__(
        self, head: RunHead, kind_code: Mapping[str, KindCode], gate: Gate, tell: Tell, facts: Mapping[str, JSON], mask: Mask
    ) -> None:
        self._run_id = head.run_id
        self._workflow_id = head.workflow_id
        self._kind_code = kind_code
        self._code: dict[str, KindCode] = {}  # of the kinds that the run has needed so far
        self._gate = gate
        self._ear = Ear(tell, mask, asyncio.get_running_loop(), get_ident())
        self._facts = facts
        self._mask = mask

    def load(self, kind: str) -> None:
        """Loads a kind's code before the clock of an attempt runs: a library may take longer than a short `timeout_ms`. Raises
        nothing."""
        if kind not in self._code:
            self._code[kind] = _loaded(self._kind_code, kind)

    async def attempt(self, dispatch: Dispatch, now_ms: int) -> Completed | Failed | Suspended:
        """Does an attempt's work and answers what became of it. Raises only when it is cancelled: its deadline is kept by
        `Attempts`."""
        node, instance, number = dispatch.instance.node, dispatch.id, dispatch.attempt
        watched = node.moderation in ("output", "both")
        voice = Voice(instance, number, self._ear, withheld=watched)
        call = Call(  # in the order of its fields: by their names it would take twice as long
            self._run_id,
            self._workflow_id,
            instance,
            node.id,
            node.kind.name,
            number,
            dispatch.params,
            node.config.literals,
            dispatch.inputs,
            f"{self._run_id}:{instance}",
            now_ms + node.timeout_ms,
            now_ms,
            voice.log,
            voice.delta,
            voice.heartbeat,
            self._facts,
        )
        if dispatch.render is not None:
            call.tools = tools_of(call, dispatch, self._kind_code, self._gate, self._mask)
        result: Result | Pause | None = None
        try:
            if node.moderation in ("input", "both"):
                shown = {"inputs": dict(call.inputs), "params": self._mask.value(call.params)}
                await self._gate.pass_through(node, "input", shown)
            self.load(call.kind)
            result = await self._code[call.kind](call)
            if isinstance(result, Pause):
                return Suspended(instance, number, result)
            check_size(result)
            if watched:
                await self._gate.pass_through(node, "output", self._mask.value(result.value))
            voice.release()
        except NodeFailure as error:
            return Failed(instance, number, _failure(error, self._mask, dispatch.nulls), random(), _spent(result, error))
        except TimeoutError as error:
            return timed_out(dispatch, _told(error, self._mask))
        except asyncio.CancelledError:
            voice.over = True
            raise
        except Exception as error:  # a kind that breaks its promise to raise NodeFailure only: the node fails, the run goes on
            said = self._mask.message(f"{type(error).__name__}: {message_of(error)}")[:MAX_LOG_CHARACTERS]
            failure = Failure("provider_error", "kind_raised", said, exception=_told(error, self._mask))
            return Failed(instance, number, failure, random())
        return Completed(instance, number, Outcome(result.value, result.handle, result.variables), _counts(result.usage))


def _loaded(kind_code: Mapping[str, KindCode], kind: str) -> KindCode:
    """The kind's code; where it cannot be loaded, code that tries again when it is called, and fails as that does."""
    try:
        return kind_code[kind]
    except Exception:

        async def later(call: Call) -> Result | Pause:
            return await kind_code[kind](call)

        return later


def _counts(usage: Mapping[str, JSON]) -> dict[str, int]:
    return {name: count for name, count in usage.items() if isinstance(count, int)}


def _spent(result: Result | Pause | None, failure: NodeFailure) -> Mapping[str, int]:
    """What a failed attempt used up: its work may have been done, and its result refused."""
    done = _counts(result.usage) if isinstance(result, Result) else {}
    return added(done, _counts(failure.usage)) if failure.usage else done


def timed_out(dispatch: Dispatch, exception: Mapping[str, JSON] | None = None) -> Failed:
    """The end of an attempt whose deadline has passed, or whose kind raised a `TimeoutError` of its own."""
    message = f"no answer within {dispatch.instance.node.timeout_ms} ms"
    failure = Failure("timeout", "timeout", message, "timeout", exception=exception)
    return Failed(dispatch.id, dispatch.attempt, failure, random())


def _failure(error: NodeFailure, mask: Mask, nulls: Sequence[str]) -> Failure:
    cause = error.cause if error.retryable else f"{error.cause}, not retryable"
    origin = origin_of(error)
    message = with_nulls(str(error), nulls) if error.cause == "config" else str(error)
    return Failure(
        cause, error.code, mask.message(message), _FAMILIES.get(error.cause, "execution"), error.retry_after_ms,
        exception=None if origin is None else _told(origin, mask), phase=error.phase,
    )  # fmt: skip


def _told(error: BaseException | Mapping[str, JSON], mask: Mask) -> Mapping[str, JSON]:
    """What the log keeps of an exception in author code."""
    facts = described(error, MAX_EXCEPTION_BYTES) if isinstance(error, BaseException) else error
    return {name: mask.message(value) if isinstance(value, str) else value for name, value in facts.items()}
