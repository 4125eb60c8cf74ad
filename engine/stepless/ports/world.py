"""Defines the other ports of the engine: time, secrets, counters, and services whose calls take seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from stepless.model.json import JSON

if TYPE_CHECKING:
    from stepless.model.conversation import ModelAnswer, Question
    from stepless.model.effects.program import Program, Ran
    from stepless.model.runs.span import Measure, Span
    from stepless.model.runs.tally import Tally


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC. May step back, so do not measure durations with it."""
        ...


class Secrets(Protocol):
    def get(self, name: str) -> str | None:
        """Returns the value of `${name}`; None when it is not set. An empty text counts as not set."""
        ...


class Meter(Protocol):
    """Receives metrics and log lines for operators. Its methods return nothing and never raise."""

    def count(self, name: str, number: int = 1) -> None: ...

    def took(self, name: str, duration_ms: float) -> None: ...

    def report(self, what: str, facts: Mapping[str, str | int]) -> None:
        """Writes one line of a structured log. `facts` name the run and, where there is one, the instance."""
        ...


class Telemetry(Protocol):
    """Receives finished spans and measurements of runs."""

    async def send_spans(self, spans: Sequence[Span]) -> None:
        """Sends spans; the same ones may be sent again. Raises `CollectorUnavailable` if they were not accepted and may be later.
        Spans that will never be accepted are reported and dropped."""
        ...

    async def send_measures(self, measures: Sequence[Measure]) -> None:
        """Adds measurements to the metrics of this process and sends these. Raises `CollectorUnavailable` if they were not
        accepted: they are counted, and sent with the next ones."""
        ...


class Tallies(Protocol):
    """Counts billed requests, separately for each task that opens a tally, including the threads and tasks that it starts."""

    def open(self, begun: Tally) -> AbstractContextManager[None]:
        """Counts requests and time inside the block, starting from `begun`."""
        ...

    def take(self) -> Tally | None:
        """Returns the count since the previous `take`; None outside a block."""
        ...


class Moderator(Protocol):
    def review(self, phase: str, value: JSON) -> str | None:
        """Returns why `value`, the `input` or `output` of a node, must not pass; None when it may. Any `SteplessError` means that
        the review was not possible: `value` then does not pass, unless the node allows it."""
        ...


class Models(Protocol):
    async def ask(self, question: Question, delta: Callable[[str], None] | None = None) -> ModelAnswer:
        """Returns one answer of a model. Never retries: the node does. With `delta`, also passes on the text piece by piece as it
        arrives.

        Raises `NodeFailure`: timeout; rate_limit, with `retry_after_ms` when the provider gives it; provider_error when the
        provider is unreachable or failed; http_error when it rejects the request; moderation when the model or a
        guardrail declines to answer; config for an unknown provider or model.
        """
        ...


class Misfit(NamedTuple):
    """A parameter that an operation would reject. `path` is dotted: `service`, `action`, or `params` and a path below it."""

    path: str
    message: str


class Aws(Protocol):
    """Calls every service of AWS, by the names of boto3."""

    def check(self, service: str, action: str, params: Mapping[str, JSON]) -> Sequence[Misfit]:
        """Validates parameters against the operation's model, without a call. Texts with references are valid everywhere."""
        ...

    async def call(self, service: str, action: str, params: Mapping[str, JSON], *, token: str, timeout_ms: int) -> JSON:
        """Makes one call and never retries it. Where the operation takes an idempotency token, sends one derived from `token`.

        Raises `NodeFailure`: rate_limit for throttling; timeout; provider_error when the service failed or is unreachable;
        http_error (`aws_<code>`) when it rejects the call; config for invalid parameters or credentials.
        """
        ...


class Sandbox(Protocol):
    async def run(self, program: Program) -> Ran:
        """Runs code in isolation: it can only compute. It has no network, files, environment or other processes, and sees nothing
        of an earlier run.

        Raises `NodeFailure`: code_raised, with the line of the author's code; code_timeout; code_memory;
        code_output_too_large; result_not_json; sandbox_unavailable when the code cannot be isolated.
        """
        ...
