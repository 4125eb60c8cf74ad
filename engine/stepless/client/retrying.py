"""Decides whether a call is tried again, and when.

A call that the server cannot have received is always tried again, and so is one that it refused with 429: neither has had an
effect. After a lost connection, or an answer by which the server may have begun (502, 503, 504, and 500 of a gateway), a call
is tried again only if it is repeatable: it reads, it has an idempotency key, or its repetition has no further effect.

The delay is what `Retry-After` asks for, and a back-off that doubles, of which a random half is left out: clients that failed
together do not come back together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, NamedTuple

from stepless.client.errors import ClientError, OutcomeUnknown, Unreachable, is_problem, refusal
from stepless.client.exchange import Lost, Reply
from stepless.limits import CLIENT_BACKOFF_FIRST_MS, CLIENT_BACKOFF_LAST_MS

_REFUSED: Final = 429
_UNCERTAIN: Final = (502, 503, 504)


class Terms(NamedTuple):
    """What a client was given. `now` is a monotonic clock in seconds; `chance` returns a number from 0 to 1."""

    retry_for_s: float
    now: Callable[[], float]
    chance: Callable[[], float]


class Effect(Enum):
    """What a call changes, and so what its repetition does."""

    NONE = "it reads"
    ONE = "however often it is received, it has one effect"
    EACH = "it has an effect each time it is received"


class Tries:
    """The tries of one call. `key` is its idempotency key. `maybe_received`: whether the server may have received one of those
    that had no answer."""

    def __init__(self, terms: Terms, effect: Effect = Effect.NONE, *, key: str = "", within_s: float | None = None) -> None:
        self.maybe_received = False
        self._terms = terms
        self._effect = effect
        self._key = key
        self._within_s = terms.retry_for_s if within_s is None else min(within_s, terms.retry_for_s)
        self.renew()

    def renew(self) -> None:
        """Counts anew, after a success."""
        self._end = self._terms.now() + self._within_s
        self._backoff_s = CLIENT_BACKOFF_FIRST_MS / 1000

    def delay_after(self, outcome: Reply | Lost) -> float:
        """Returns the seconds until the next try. Raises the error of this one if there is none."""
        uncertain = outcome.received if isinstance(outcome, Lost) else _is_uncertain(outcome)
        self.maybe_received = self.maybe_received or uncertain
        again = self._effect is not Effect.EACH if uncertain else isinstance(outcome, Lost) or outcome.status == _REFUSED
        delay_s = self._backoff_s * (1 - self._terms.chance() / 2)
        if isinstance(outcome, Reply):
            delay_s += retry_after_s(outcome.headers)
        if not again or self._terms.now() + delay_s > self._end:
            raise self._error(outcome)
        self._backoff_s = min(2 * self._backoff_s, CLIENT_BACKOFF_LAST_MS / 1000)
        return delay_s

    def _error(self, outcome: Reply | Lost) -> ClientError:
        if isinstance(outcome, Reply):
            return refusal(*outcome)
        if not self.maybe_received or self._effect is Effect.NONE:
            mend = "check the address, and that the server is running"
            return Unreachable(f"the server cannot be reached: {outcome.why}", mend=mend)
        mend = "read the state of the run before you repeat the call"
        if self._effect is Effect.ONE:
            mend = f"repeat the call{f' with key={self._key!r}' if self._key else ''}: it has one effect, received or not"
        return OutcomeUnknown(f"the connection was lost, and the call may have been received: {outcome.why}", mend=mend)


def _is_uncertain(reply: Reply) -> bool:
    """Whether the server may have begun what it did not confirm. A 500 of the API itself names a bug, which a repetition meets
    again; a gateway says 500 of a process that ended."""
    return reply.status in _UNCERTAIN or (reply.status == 500 and not is_problem(reply.headers))


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Returns the seconds of `Retry-After`; 0 if there is none. A date counts from the `Date` of the response, so that the clocks
    of both sides need not agree."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    if not text:
        return 0
    from email.utils import parsedate_to_datetime  # only for proxies: the API sends seconds

    try:
        return max(0.0, (parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("date", ""))).total_seconds())
    except (ValueError, TypeError):  # not a date, or one without a zone compared with one that has a zone
        return 0
