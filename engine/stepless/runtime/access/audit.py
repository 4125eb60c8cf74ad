"""Writes the audit log: who asked for what, when and from where. An entry is stored before its request is carried out: a request
whose entry cannot be stored is refused, so none succeeds without an entry. A refusal is added to the entry afterwards. An entry
without one means that the request was carried out, or that the process died before. """

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from secrets import token_hex
from threading import Lock

from stepless.limits import AUDIT_KEPT_MS, MAX_AUDIT_FACT_CHARACTERS, MAX_SEARCHED_AUDIT
from stepless.model.json import JSON
from stepless.model.stored.damage import FAULTS, Damage, told_by, why_of
from stepless.ports import AuditEntry, Clock, Page, Store


def kept_until_ms(entry: AuditEntry) -> int:
    """Returns when a stored entry expires."""
    return entry.at_ms + AUDIT_KEPT_MS


@dataclass(frozen=True, slots=True)
class Audited:
    """One entry. `who` names a key, a principal or a local user; `verb` is the name of the operation in /openapi.json; `target`
    is what it concerns: a run, a workflow, a key; `source` is the address and the program of the caller. `refused` is the code of
    the error; empty if the request was not refused. Contains no secrets, inputs or answers. Of an entry with `damage`, only the
    id and the time are known."""

    id: str
    at_ms: int
    who: str
    verb: str
    target: str = ""
    source: str = ""
    refused: str = ""
    details: Mapping[str, JSON] | None = None
    damage: Damage | None = None


_FACTS = frozenset({"who", "verb", "target", "source", "refused", "details"})


class AuditLog:
    """The audit log of a store. Each entry costs one write, one that is refused or gets details two. The entries of one log
    object are listed in the order in which they began, also those of one millisecond."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = Lock()
        self._instant_ms, self._numbers = -1, count()

    def begin(
        self, who: str, verb: str, target: str = "", source: str = "", details: Mapping[str, JSON] | None = None,
        *, refused: str = "",
    ) -> Audited:
        """Stores an entry before the request is carried out. Raises `StoreUnavailable`: then the request must not be."""
        who, verb, target, source = (text[:MAX_AUDIT_FACT_CHARACTERS] for text in (who, verb, target, source))
        now_ms, number = self._place()
        entry = Audited(f"audit_{number:04x}{token_hex(6)}", now_ms, who, verb, target, source, refused, _bounded(details))
        self.store(entry)
        return entry

    def refuse(self, who: str, verb: str, target: str, source: str, code: str) -> None:
        """Stores the entry of a request that is refused before it has one. Raises `StoreUnavailable`."""
        self.begin(who, verb, target, source, refused=code)

    def _place(self) -> tuple[int, int]:
        """The time of an entry, and its number among those of the same millisecond: stores list by the time, then by the id."""
        with self._lock:
            now_ms = self._clock.now_ms()
            if now_ms != self._instant_ms:
                self._instant_ms, self._numbers = now_ms, count()
            return now_ms, next(self._numbers)

    def store(self, entry: Audited) -> None:
        """Stores an entry, in place of its former state."""
        facts = {"who": entry.who, "verb": entry.verb, "target": entry.target, "source": entry.source, "refused": entry.refused}
        body = {name: value for name, value in facts.items() if value} | ({"details": entry.details} if entry.details else {})
        data = json.dumps(body, separators=(",", ":")).encode()
        self._store.put_audit(AuditEntry(entry.at_ms, entry.id, data), entry.at_ms + AUDIT_KEPT_MS)

    def search(
        self, *, who: str | None = None, verb: str | None = None, target: str | None = None, since_ms: int | None = None,
        until_ms: int | None = None, limit: int = 100, cursor: str | None = None,
    ) -> Page[Audited]:
        """Returns the entries that match every given field, newest first. A page may have fewer than `limit` and still have a
        cursor: one request reads at most MAX_SEARCHED_AUDIT entries."""
        now_ms = self._clock.now_ms()
        oldest_ms = now_ms - AUDIT_KEPT_MS
        since_ms, until_ms = max(since_ms or 0, oldest_ms, 0), min(until_ms or now_ms + 60_000, now_ms + 60_000)
        found, read = list[Audited](), 0
        while True:
            size = limit - len(found)  # so a page never has more than are wanted, and its cursor continues after the last one
            page = self._store.list_audit(now_ms, since_ms, until_ms, limit=size, cursor=cursor)
            for each in map(read_entry, page.items):
                if (who or each.who, verb or each.verb, target or each.target) == (each.who, each.verb, each.target):
                    found.append(each)
            cursor, read = page.cursor, read + len(page.items)
            if cursor is None or len(found) >= limit or read >= MAX_SEARCHED_AUDIT:
                return Page(tuple(found), cursor)


def read_entry(entry: AuditEntry) -> Audited:
    """Returns the entry; one that cannot be read is listed as such, without its facts."""
    place = f"audit.body of {entry.at_ms}/{entry.id}"
    try:
        facts = json.loads(entry.body)
        read = Audited(entry.id, entry.at_ms, **{"who": "", "verb": "", **{name: facts[name] for name in facts.keys() & _FACTS}})
        texts = (read.who, read.verb, read.target, read.source, read.refused)
        if not all(isinstance(text, str) for text in texts) or not isinstance(read.details, dict | None):
            raise ValueError("a fact has another type")
    except FAULTS as error:
        told = told_by(entry.body) or Damage(place, why_of(error))
        return Audited(entry.id, entry.at_ms, "", "", damage=told._replace(mend="restore the store from a backup"))
    return read


def _bounded(details: Mapping[str, JSON] | None) -> Mapping[str, JSON] | None:
    """The details, with long values cut."""
    return None if details is None else {name: _cut(value) for name, value in details.items()}


def _cut(value: JSON) -> JSON:
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= MAX_AUDIT_FACT_CHARACTERS else text[:MAX_AUDIT_FACT_CHARACTERS]
