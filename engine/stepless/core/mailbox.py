"""Keeps the messages of one run that no node has consumed yet, and recognises a message that arrives again.

A message enters the log once, as `message.received`, whether or not a node waits for it. From then on everything that happens to
it follows from the log: it is unread until a `node.resumed` names it, and the run's end leaves the rest unread.

The ids are kept as one text of short digests. Each session of a run reads its snapshot, and a run that has received thousands of
messages would spend most of its time there on reading ids. Two ids with one digest would lose a message. Callers choose the ids,
so a digest has 96 bits: an id that hides another one cannot be found.

Why the ids have a bound. The inbox of a run holds each message under its id, put once and for ever, so a message that is sent
again is refused there. Only one case is left: a process commits `message.received` and dies before it marks the signal in the
inbox as taken. The next session of the run then reads the signal again. A session takes at most MAX_KNOWN_MESSAGES messages in
one decision, and marks all that the run has received before it takes others (`split_by_timing` in `runtime/inbox.py`). So the
signals that are received and not marked are among the last MAX_KNOWN_MESSAGES, and the mailbox may forget older ids. Without
this bound, a run that receives messages for a year would grow with each of them.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from stepless.limits import MAX_KNOWN_MESSAGES
from stepless.model.json import JSON

_DIGEST_BYTES: Final = 12
_DIGEST: Final = 4 * _DIGEST_BYTES // 3 + 1  # characters
UNREAD: Final = "unread"  # in the summary that ends a long log: the facts of the unread messages


class Mail(NamedTuple):
    """One message. `key` is the key by which the sender addressed the run, None if the run itself was named. `by` names the
    sender, `at_ms` is when it was sent."""

    id: str
    name: str
    key: str | None
    data: JSON
    by: str | None
    at_ms: int

    @property
    def facts(self) -> Mapping[str, JSON]:
        """What the node that consumes it puts out about it, as `<node.message>`; `at` in milliseconds since 1970 UTC."""
        return {"id": self.id, "name": self.name, "key": self.key, "at": self.at_ms, "by": self.by}


def mail_in(summary: Mapping[str, Any]) -> list[Mail]:
    """Returns the unread messages of an ended run, without their data, from the summary that ends a long log."""
    return [Mail(row["id"], row["name"], row["key"], None, row["by"], row["at"]) for row in summary.get(UNREAD, ())]


def digests_of(ids: Iterable[str]) -> str:
    """Ids as `Mailbox.known` has them: a digest of _DIGEST characters each, the last of which is in no other place."""
    digests = (blake2b(id.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest() for id in ids)
    return "".join(f"{b64encode(digest).decode()}." for digest in digests)


class Mailbox:
    """The unread messages by name, each name in the order of arrival. `known` has the ids that were received last, the oldest
    first, as `digests_of` writes them. Only `fold` changes a mailbox."""

    __slots__ = ("known", "unread")

    def __init__(self) -> None:
        self.unread: dict[str, dict[str, Mail]] = {}
        self.known = ""

    def __len__(self) -> int:
        return sum(map(len, self.unread.values()))

    def __iter__(self) -> Iterator[Mail]:
        """The unread messages, by name in the order of the first arrival."""
        return (mail for by_id in self.unread.values() for mail in by_id.values())

    def of(self, name: str) -> list[Mail]:
        """Returns the unread messages with this name, the oldest first."""
        return list(self.unread.get(name, {}).values())

    def add(self, mail: Mail) -> None:
        self.unread.setdefault(mail.name, {})[mail.id] = mail
        self.known = (self.known + digests_of([mail.id]))[-MAX_KNOWN_MESSAGES * _DIGEST :]

    def knows(self, id: str) -> bool:
        """Whether a message with this id was received, among the last MAX_KNOWN_MESSAGES."""
        return digests_of([id]) in self.known

    def take(self, name: str, id: str) -> Mail:
        """Removes and returns an unread message. Raises `KeyError` if there is none with this id."""
        by_id = self.unread[name]
        mail = by_id.pop(id)
        if not by_id:
            del self.unread[name]
        return mail
