"""Reads and writes the messages of a draft session: the same for the server on one machine and for the functions on AWS.
docs/understand/drafts.md#draft-sessions has the table. Pure; loads no web framework."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from stepless.compile.reading.strict_json import strict_json
from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.sessions.closing import MALFORMED, TOO_LARGE, Closing
from stepless.limits import MAX_COUNT, MAX_KEY_CHARACTERS, MAX_PRESENCE_BYTES, MAX_SOCKET_MESSAGE_BYTES
from stepless.model.json import JSON
from stepless.model.stored.encoding import encode
from stepless.runtime.draft_runs import StartedRun

_PRESENCE: Final = ("cursor", "selection", "field", "view", "drag")
_ITEMS_AROUND: Final = 100  # bytes of a message around its entries
_PEOPLE_BYTES: Final = MAX_SOCKET_MESSAGE_BYTES - 2_000  # of a `welcome`, in addition to what it says of the draft


class Hello(NamedTuple):
    """`after` is the last entry that the client has."""

    client: str
    after: int
    epoch: int


class Person(NamedTuple):
    """One client in a session. `at` is where the person was seen last."""

    client: str
    person: str
    at: JSON = None


# -- what a client says ------------------------------------------------------------------------------------------------


def read(text: str | None) -> Mapping[str, Any]:
    """Returns a message; None stands for one in bytes. Raises `Closing` for one that is too large or no object of this version,
    and `InvalidRequest` for one that is no JSON."""
    if text is None:
        raise Closing(MALFORMED, "a message is a text, not bytes")
    if len(text) > MAX_SOCKET_MESSAGE_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_SOCKET_MESSAGE_BYTES:
        raise Closing(TOO_LARGE, f"a message has at most {MAX_SOCKET_MESSAGE_BYTES:,} bytes: send it over HTTP")
    message = strict_json(text, "the message")
    if not isinstance(message, dict) or message.get("v") != 1:
        raise Closing(MALFORMED, "a message is a JSON object with `v` 1")
    return message


def read_hello(message: Mapping[str, Any]) -> Hello:
    """Returns the first message of a client. Raises `Closing` for any other."""
    client, after, epoch = message.get("client"), count(message.get("after")), count(message.get("epoch"))
    named = isinstance(client, str) and 0 < len(client) <= MAX_KEY_CHARACTERS and client.isascii() and client.isprintable()
    if message.get("t") != "hello" or after is None or epoch is None or not named:
        raise Closing(MALFORMED, "the first message is `hello`: the client, the epoch, and `after`, the last item it has")
    assert isinstance(client, str)
    return Hello(client, after, epoch)


def read_presence(message: Mapping[str, Any]) -> Mapping[str, JSON] | None:
    """Returns the message `at` about a person; None if it is larger than everyone should receive."""
    at = {name: message[name] for name in _PRESENCE if name in message}
    return at if len(encode(at)) <= MAX_PRESENCE_BYTES else None


def unknown(message: Mapping[str, Any]) -> Closing:
    return Closing(MALFORMED, f"there is no message {str(message.get('t'))[:40]!r}")


def count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_COUNT else None


# -- what a server says ------------------------------------------------------------------------------------------------


def said(type_: str, **fields: JSON) -> bytes:
    return encode({"v": 1, "t": type_, **fields})


def welcome(
    hello: Hello, head: int, person: str, may_edit: bool, others: Iterable[Person], rates: Mapping[str, float]
) -> bytes:
    """`head` is the end of the log. Where the others are is said only as far as it fits into one message."""
    people: list[JSON] = []
    size = 0
    for other in others:
        named: dict[str, JSON] = {"client": other.client, "person": other.person}
        seen = {**named, "at": other.at}
        size += len(encode(seen))
        people.append(seen if size < _PEOPLE_BYTES else named)
    return said(
        "welcome", client=hello.client, epoch=hello.epoch, head=head, people=people, person=person, edit=may_edit,
        rates=dict(rates),
    )  # fmt: skip


def who(client: str, person: str, joined: bool, rates: Mapping[str, float] | None = None) -> bytes:
    """Reports that someone has come or left; `rates` are those of the others from now on, where they change with that."""
    changed: dict[str, JSON] = {} if rates is None else {"rates": dict(rates)}
    return said("who", client=client, person=person, joined=joined, **changed)


def at(client: str, seen: Mapping[str, JSON]) -> bytes:
    return said("at", client=client, at=dict(seen))


def entry(committed: LogEntry) -> bytes:
    """Returns the message with an entry; a hint to read it over HTTP if it is larger than a message may be."""
    message = said("item", item=item_out(committed))
    return message if len(message) <= MAX_SOCKET_MESSAGE_BYTES else said("pull", head=committed.seq)


def started(run: StartedRun) -> bytes:
    """Reports that someone has started a test run."""
    return said("run", **started_out(run))


def entries(committed: Sequence[LogEntry], head: int) -> Sequence[bytes]:
    """Entries in one message; where not all of them fit, then a hint to read the rest over HTTP."""
    page: list[JSON] = []
    size = _ITEMS_AROUND
    for one in committed:
        written = item_out(one)
        size += len(encode(written)) + 1
        if size > MAX_SOCKET_MESSAGE_BYTES:
            break
        page.append(written)
    messages = [said("items", items=page, head=head)] if page or not committed else []
    return [*messages, said("pull", head=head)] if len(page) < len(committed) else messages


def answer(message: Mapping[str, JSON], given: Answer) -> bytes:
    return said("answer", **answer_out(message, given))


def closing(closed: Closing) -> bytes:
    return said("closing", code=closed.code, why=closed.why)


def item_out(entry: LogEntry) -> dict[str, JSON]:
    made: dict[str, JSON] = {
        "seq": entry.seq, "client": entry.client, "n": entry.n, "tag": entry.tag, "by": entry.by, "at": entry.at_ms,
        "effects": list(entry.effects),
    }  # fmt: skip
    if entry.outcomes:
        made["outcomes"] = list(entry.outcomes)
    if entry.first:
        made["first"] = entry.first
    if entry.closes is not None:
        made["closes"] = {"epoch": entry.closes["epoch"]}
    return made


def started_out(run: StartedRun) -> dict[str, JSON]:
    return {"run": run.run_id, "epoch": run.epoch, "seq": run.seq, "by": run.by, "at": run.at_ms}


def answer_out(message: Mapping[str, JSON], answer: Answer) -> dict[str, JSON]:
    made: dict[str, JSON] = {"n": message.get("n"), "tag": message.get("tag"), "code": answer.code}
    if answer.retry_after_ms is not None:
        made["retry_after_ms"] = answer.retry_after_ms
    return made
