"""One attempt of an effectful node: its kind's code under the engine's own deadline. Whatever happens becomes a fact."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from random import random
from threading import get_ident
from typing import Any

from stepless.core.decision import Dispatch
from stepless.core.facts import AttemptFact, Completed, Failed, Failure, Logged, Streamed, Suspended
from stepless.core.masking import Mask
from stepless.limits import MAX_LOG_CHARACTERS, MAX_RESULT_BYTES, STREAM_COALESCE_MS
from stepless.model.json import JSON
from stepless.model.kind import Outcome, Pause
from stepless.model.work import NodeFailure, Result
from stepless.nodes import Run
from stepless.ports import Call
from stepless.runtime.moderation import Gate
from stepless.runtime.runlog import may_be_large

_FAMILIES = {"timeout": "timeout", "config": "processing", "moderation": "policy"}
Tell = Callable[[AttemptFact], None]


class Voice:
    """What a node says while it works: log lines at once, streamed text in pieces of STREAM_COALESCE_MS. May be used from any
    thread. While `withheld` the text is kept back; `release` lets it go and `drop` forgets it. A line is masked before it is
    cut, and a piece ends where no secret can have begun: half of one would slip through."""

    def __init__(self, instance: str, attempt: int, tell: Tell, mask: Mask, *, withheld: bool) -> None:
        self._instance = instance
        self._attempt = attempt
        self._tell = tell
        self._mask = mask
        self._withheld = withheld
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._pieces: list[str] = []
        self._flush: asyncio.TimerHandle | None = None

    def log(self, text: str) -> None:
        self._in_loop(self._tell, Logged(self._instance, self._attempt, self._mask.message(text)[:MAX_LOG_CHARACTERS]))

    def delta(self, text: str) -> None:
        self._in_loop(self._keep, text)

    def _in_loop(self, call: Callable[[Any], None], argument: Any) -> None:
        """At once in the loop's own thread, so that nothing said before an attempt's end comes after it."""
        if get_ident() == self._thread:
            call(argument)
        else:
            self._loop.call_soon_threadsafe(call, argument)

    def _keep(self, text: str) -> None:
        self._pieces.append(text)
        if self._flush is None and not self._withheld:
            self._flush = self._loop.call_later(STREAM_COALESCE_MS / 1000, self._release_safely)

    def release(self) -> None:
        """Tells what has been kept back, all of it: nothing more will come."""
        self._release("".join(self._pieces), 0)

    def _release_safely(self) -> None:
        text = "".join(self._pieces)
        self._release(text, self._mask.held(text))

    def _release(self, text: str, held: int) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        told, rest = text[: len(text) - held], text[len(text) - held :]
        self._pieces = [rest] if rest else []
        if told:
            self._tell(Streamed(self._instance, self._attempt, told))

    def drop(self) -> None:
        self._pieces = []


async def attempt(
    dispatch: Dispatch,
    run_id: str,
    workflow_id: str,
    run: Run,
    gate: Gate,
    now_ms: int,
    tell: Tell,
    facts: Mapping[str, JSON],
    mask: Mask,
) -> Completed | Failed | Suspended:
    """Runs an attempt to its end, which comes at the latest when its node's `timeout_ms` is over. `tell` is given what the
    node logs and streams meanwhile, in order, in the loop's own thread. The node's own code is given secrets as they are, and
    nobody else. Raises only when it is cancelled."""
    node, instance, number = dispatch.instance.node, dispatch.id, dispatch.attempt
    voice = Voice(instance, number, tell, mask, withheld=node.moderation in ("output", "both"))
    call = Call(
        run_id=run_id,
        workflow_id=workflow_id,
        instance=instance,
        node=node.id,
        kind=node.kind.name,
        attempt=number,
        params=dispatch.params,
        literals=node.config.literals,
        inputs=dispatch.inputs,
        token=f"{run_id}:{instance}",
        deadline_ms=now_ms + node.timeout_ms,
        started_ms=now_ms,
        log=voice.log,
        delta=voice.delta,
        facts=facts,
    )
    try:
        async with asyncio.timeout(node.timeout_ms / 1000):
            if node.moderation in ("input", "both"):
                shown = {"inputs": dict(call.inputs), "params": mask.value(call.params)}
                await gate.pass_through(node, "input", shown)
            result = await run(call)
            if isinstance(result, Pause):
                return Suspended(instance, number, result)
            check_size(result)
            if node.moderation in ("output", "both"):
                await gate.pass_through(node, "output", mask.value(result.value))
            voice.release()
    except NodeFailure as error:
        return Failed(instance, number, _failure(error, mask), random())
    except TimeoutError:
        message = f"no answer within {node.timeout_ms} ms"
        return Failed(instance, number, Failure("timeout", "timeout", message, "timeout"), random())
    except Exception as error:  # a kind that breaks its promise to raise NodeFailure only: the node fails, the run goes on
        failure = Failure("provider_error", "kind_raised", mask.message(f"{type(error).__name__}: {error}")[:MAX_LOG_CHARACTERS])
        return Failed(instance, number, failure, random())
    usage = {name: count for name, count in result.usage.items() if isinstance(count, int)}
    return Completed(instance, number, Outcome(result.value, result.handle, result.variables), usage)


def check_size(result: Result) -> None:
    """Raises `NodeFailure` for a result that is larger than a run may keep."""
    if may_be_large(result.value, MAX_RESULT_BYTES // 6):
        size = len(json.dumps(result.value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
        if size > MAX_RESULT_BYTES:
            message = f"the result takes {size:,} bytes; {MAX_RESULT_BYTES:,} is the limit"
            mend = "put it into a file or a bucket and return where it is"
            raise NodeFailure("execution", "result_too_large", message, retryable=False, mend=mend)


def _failure(error: NodeFailure, mask: Mask) -> Failure:
    cause = error.cause if error.retryable else f"{error.cause}, not retryable"
    return Failure(cause, error.code, mask.message(str(error)), _FAMILIES.get(error.cause, "execution"), error.retry_after_ms)
