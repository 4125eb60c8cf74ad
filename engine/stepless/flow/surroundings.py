"""Holds what happens around a workflow that runs as a plain coroutine: the time, and the messages that arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from stepless.core.mailbox import Mail


class Wakes(Protocol):
    """Ends a wait."""

    def wake(self, wait: Wait, value: Any = None, *, error: BaseException | None = None) -> None: ...


class Wait:
    """Something that a branch, or the workflow itself, waits for."""

    __slots__ = ("future", "woken")

    def __init__(self) -> None:
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.woken = False


@dataclass(frozen=True, slots=True)
class Receiver:
    name: str
    wants: Callable[[Mail], bool]
    wait: Wait
    schedule: Wakes


class World:
    """Simulates the surroundings of a workflow: the time, and the messages, which are sent at instants in the order of `sent`."""

    def __init__(self, sent: Iterable[Mail] = ()) -> None:
        self.now_ms = 0
        self.unread: list[Mail] = []
        self.receivers: list[Receiver] = []
        self.cancel_on: frozenset[str] | None = None  # of the workflow that was called first
        self._known: set[str] = set()
        self._sent = sorted(sent, key=lambda mail: mail.at_ms)[::-1]  # the next one last

    def next_ms(self) -> int | None:
        """Returns when the next message arrives."""
        return max(self.now_ms, self._sent[-1].at_ms) if self._sent else None

    def take(self, name: str, wants: Callable[[Mail], bool]) -> Mail | None:
        """Returns the oldest unread message of this name that a receiver wants."""
        found = next((mail for mail in self.unread if mail.name == name and wants(mail)), None)
        if found is not None:
            self.unread.remove(found)
        return found

    def arrive(self) -> bool:
        """Gives the next message to the receiver that has waited longest, of those that want it. False for one that cancels."""
        mail = self._sent.pop()
        if mail.id in self._known:
            return True
        self._known.add(mail.id)
        if self.cancel_on is not None and mail.name in self.cancel_on:
            return False
        for receiver in self.receivers:
            if receiver.name != mail.name or receiver.wait.woken:
                continue
            try:
                wanted = receiver.wants(mail)
            except Exception as error:
                receiver.schedule.wake(receiver.wait, error=error)
                continue
            if wanted:
                receiver.schedule.wake(receiver.wait, mail)
                return True
        self.unread.append(mail)
        return True

    def settle(self) -> None:
        """Takes the messages of this instant, which come before the end of a step. Raises `CancelledError` for one that
        cancels."""
        while self._sent and self._sent[-1].at_ms <= self.now_ms:
            if not self.arrive():
                raise asyncio.CancelledError
