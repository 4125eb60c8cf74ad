"""Planted bugs in the code that shares a transaction of one SQLite file."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from embedded import OnFile
from episode import Parts
from faults import Weather

from stepless.errors import SteplessError
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


def cramped(random: Random) -> Weather:
    """The disk is full or failing, repeatedly."""
    return Weather(until_ms=120_000, rate=0.1, faults=["refused", "answer lost"])


FILE_MUTANTS: Mapping[str, Parts] = {
    "a shared transaction is answered too soon": Parts(OnFile, commits=AnswersTooSoon, weather=cramped),
    "a full disk refuses only one write": Parts(OnFile, commits=EachForItself, weather=cramped),
}
