"""One attempt of an effectful node: its kind's code under the engine's own deadline. Whatever happens becomes a fact."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import random

from stepless.core.decision import Dispatch
from stepless.core.facts import AttemptFact, Completed, Failed, Failure, Logged, Streamed
from stepless.limits import MAX_LOG_CHARACTERS
from stepless.model.kind import Outcome
from stepless.model.work import NodeFailure
from stepless.nodes import Run
from stepless.ports import Call

_FAMILIES = {"timeout": "timeout", "config": "processing", "moderation": "policy"}


@dataclass(slots=True)
class Streamer:
    """Numbers the pieces of a node's text output: `index` over all attempts, `offset` within this one."""

    instance: str
    attempt: int
    tell: Callable[[AttemptFact], None]
    index: int = 0
    offset: int = 0

    def delta(self, text: str) -> None:
        self.tell(Streamed(self.instance, self.attempt, self.index, self.offset, text))
        self.index += 1
        self.offset += len(text)

    def log(self, text: str) -> None:
        self.tell(Logged(self.instance, self.attempt, text[:MAX_LOG_CHARACTERS]))


async def attempt(
    dispatch: Dispatch, run_id: str, workflow_id: str, run: Run, now_ms: int, tell: Callable[[AttemptFact], None]
) -> Completed | Failed:
    """Runs an attempt to its end, which comes at the latest when its node's `timeout_ms` is over. `tell` is given what the
    node logs and streams meanwhile, in order; it may be called from other threads. Raises only when it is cancelled."""
    node, instance, number = dispatch.instance.node, dispatch.id, dispatch.attempt
    streamer = Streamer(instance, number, tell)
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
        log=streamer.log,
        delta=streamer.delta,
    )
    try:
        async with asyncio.timeout(node.timeout_ms / 1000):
            result = await run(call)
    except NodeFailure as error:
        return Failed(instance, number, _failure(error), random())
    except TimeoutError:
        message = f"no answer within {node.timeout_ms} ms"
        return Failed(instance, number, Failure("timeout", "timeout", message, "timeout"), random())
    except Exception as error:  # a kind that breaks its promise to raise NodeFailure only; the node fails, the run goes on
        failure = Failure("provider_error", "kind_raised", f"{type(error).__name__}: {error}"[:MAX_LOG_CHARACTERS])
        return Failed(instance, number, failure, random())
    usage = {name: count for name, count in result.usage.items() if isinstance(count, int)}
    return Completed(instance, number, Outcome(result.value, result.handle, result.variables), usage)


def _failure(error: NodeFailure) -> Failure:
    cause = error.cause if error.retryable else f"{error.cause}, not retryable"
    return Failure(cause, error.code, str(error), _FAMILIES.get(error.cause, "execution"), error.retry_after_ms)
