"""What travels between clients and the log of a draft: intents, items, and answers that are no items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepless.model.json import JSON


class Intent(NamedTuple):
    """What a client asks for at once. `n` counts the intents of a client in one epoch, from 1; `tag` is random for each. `base`
    is the last item that the client had seen. `first`: the id under which the client sent it first, where it was
    renamed since: an intent is recognized by that id and its tag."""

    client: str
    n: int
    tag: str
    base: int
    gestures: Sequence[JSON]
    first: str = ""


class Item(NamedTuple):
    """One entry of the log. `at_ms` rises with `seq`. `by` is the person, as the key or token names them. `closes` is set in the
    last item of an epoch only: the next head."""

    seq: int
    client: str
    n: int
    tag: str
    by: str
    at_ms: int
    effects: Sequence[JSON]
    outcomes: Sequence[JSON] = ()
    closes: JSON = None
    first: str = ""  # as in the intent


class Last(NamedTuple):
    """The last committed intent of a client, and the person who sent it; empty where that was not kept."""

    n: int
    seq: int
    tag: str
    by: str = ""


class Answer(NamedTuple):
    """Why an intent is not in the log: `stale`, `forked`, `too_large`, `replaced` or `busy`, and before it reaches the log
    `rate` or `forbidden`. Its `n` stays free, so the client may send it again, after `retry_after_ms` if that is given."""

    code: str
    retry_after_ms: int | None = None
