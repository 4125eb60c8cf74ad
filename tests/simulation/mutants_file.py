"""Planted bugs in the code that shares a transaction of one SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from embedded import OnFile
from episode import Parts
from faults import Weather

from stepless.errors import SteplessError, StoreUnavailable
from stepless.ports import Together
from stepless.runtime.commits import Commits


class AnswersTooSoon(Commits):
    """Writes are acknowledged inside the transaction that they share."""

    def _flush(self, together: Together) -> None:
        waiting, self._waiting = [entry for entry in self._waiting if not entry[1].done()], []
        try:
            with together():
                for write, future in waiting:
                    try:
                        future.set_result(write())
                    except SteplessError as error:
                        future.set_exception(error)
        except SteplessError as error:
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)


class EachForItself(Commits):
    """A write that meets a full disk is refused, but the other writes of its transaction are acknowledged."""

    def _flush(self, together: Together) -> None:
        waiting, self._waiting = [entry for entry in self._waiting if not entry[1].done()], []
        ends: list[tuple[object, SteplessError | None]] = []
        try:
            with together():
                for write, _ in waiting:
                    try:
                        ends.append((write(), None))
                    except SteplessError as error:
                        ends.append((None, error))
        except SteplessError as error:
            ends += [(None, error)] * (len(waiting) - len(ends))
        for (_, future), (answer, refusal) in zip(waiting, ends, strict=True):
            if refusal is None:
                future.set_result(answer)
            else:
                future.set_exception(refusal)


class EndsTooSoon(Commits):
    """The last commit of a run and its release are believed, although the end of their transaction failed."""

    def join(self, *writes: Callable[[], Any]) -> Any:
        try:
            return super().join(*writes)
        except StoreUnavailable:
            if self.shared:  # the transaction is another's to end
                raise
            return None


def cramped(random: Random) -> Weather:
    """The disk is full or failing, repeatedly."""
    return Weather(until_ms=120_000, rate=0.1, faults=["refused", "answer lost"])


FILE_MUTANTS: Mapping[str, Parts] = {
    "a shared transaction is answered too soon": Parts(OnFile, commits=AnswersTooSoon, weather=cramped),
    "a full disk refuses only one write": Parts(OnFile, commits=EachForItself, weather=cramped),
    "the end of a run is believed too soon": Parts(OnFile, commits=EndsTooSoon, weather=cramped),
}
