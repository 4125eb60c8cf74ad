"""Signs people in to the console under `stepless dev`: those who opened an address that it printed, or an invitation.

A token is `console.base64url(claims).base64url(HMAC-SHA256(secret, claims))`, with a secret derived from the signing keys: it is
still valid after a restart on the same file. It names a session, which the store keeps for CONSOLE_SESSION_LIFE_MS or until it is
ended. All sessions are one stored value: a change of it is retried if another process has changed it meanwhile.
"""

from __future__ import annotations

import hmac
import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from secrets import token_hex
from typing import Final

from stepless.errors import Conflict, LimitExceeded, NotFound
from stepless.limits import CONSOLE_SESSION_LIFE_MS, MAX_CONSOLE_SESSIONS, MAX_TOKEN_CHARACTERS, SEQUENCING_TRIES
from stepless.model.stored.damage import FAULTS
from stepless.ports import Clock, Store
from stepless.runtime.access.tokens import Signer, decode, encode, mac

_PREFIX: Final = "console."
_CLAIM: Final = "console-sessions"
_GUEST: Final = "guest"


@dataclass(frozen=True, slots=True)
class Session:
    """Whose it is, and from when to when. `guest` says that its person named themselves, after an invitation."""

    id: str
    person: str
    began_ms: int
    until_ms: int
    guest: bool = False


_Sessions = tuple[Session, ...]


class Sessions:
    """Thread-safe, and without state of its own. `owner` is the user of this process, whose name no guest may take. Each method
    may raise `StoreUnavailable`."""

    def __init__(self, signer: Signer, store: Store, clock: Clock, owner: str = "") -> None:
        self._signer = signer
        self._store = store
        self._clock = clock
        self._owner = owner

    def issue(self, person: str, *, guest: bool = False) -> str:
        """Returns the token of a session of `person`, which begins now. A guest without a name gets one. Raises `Conflict`
        (name_taken) for a guest with the name of another session, `LimitExceeded` (too_many_sessions)."""
        now_ms = self._clock.now_ms()
        id = f"session_{token_hex(6)}"

        def added(sessions: _Sessions) -> _Sessions:
            if len(sessions) >= MAX_CONSOLE_SESSIONS:
                message = f"there are {MAX_CONSOLE_SESSIONS} sessions already"
                raise LimitExceeded(message, code="too_many_sessions", mend="end one: DELETE /console/sessions/ID")
            name = self._guest_name(person, sessions) if guest else person
            return (*sessions, Session(id, name, now_ms, now_ms + CONSOLE_SESSION_LIFE_MS, guest))

        self._change(added)
        body = json.dumps({"i": id, "x": now_ms + CONSOLE_SESSION_LIFE_MS}, separators=(",", ":")).encode()
        return f"{_PREFIX}{encode(body)}.{encode(self._mac(body))}"

    def find(self, token: str) -> Session | None:
        """Returns the session of a token; None for a token that is not genuine, and for one that is over or was ended."""
        if not token.startswith(_PREFIX) or len(token) > MAX_TOKEN_CHARACTERS:
            return None
        try:
            body, given = (decode(part) for part in token[len(_PREFIX):].split("."))
        except ValueError:
            return None
        if not hmac.compare_digest(self._mac(body), given):
            return None
        id = json.loads(body).get("i")  # a token of a former release names no session, and is no longer valid
        return self.get(id) if isinstance(id, str) else None

    def get(self, id: str) -> Session | None:
        return next((session for session in self.list() if session.id == id), None)

    def list(self) -> Sequence[Session]:
        """Returns the sessions that are neither over nor ended, oldest first."""
        return self._read()[1]

    def end(self, id: str) -> None:
        """Ends a session. Raises `NotFound` (unknown_session)."""

        def without(sessions: _Sessions) -> _Sessions:
            left = tuple(session for session in sessions if session.id != id)
            if len(left) == len(sessions):
                raise NotFound(f"there is no session {id}", code="unknown_session", mend="look at the list of sessions")
            return left

        self._change(without)

    def _guest_name(self, given: str, sessions: _Sessions) -> str:
        in_use = {_alike(session.person) for session in sessions} | {_alike(self._owner)}
        if not given:
            names = (_GUEST, *(f"{_GUEST} {number}" for number in range(2, MAX_CONSOLE_SESSIONS + 2)))
            return next(name for name in names if _alike(name) not in in_use)
        if _alike(given) in in_use:
            mend = "choose another name, or ask the owner to end the session that has it"
            raise Conflict(f"the name {given} is in use", code="name_taken", place="name", mend=mend)
        return given

    def _change(self, change: Callable[[_Sessions], _Sessions]) -> None:
        for _ in range(SEQUENCING_TRIES):
            former, sessions = self._read()
            value = json.dumps([asdict(session) for session in change(sessions)], separators=(",", ":")).encode()
            if self._store.replace_claim(_CLAIM, former, value, self._clock.now_ms()):
                return
        raise Conflict("other processes are changing the sessions", code="sessions_busy", mend="try again")

    def _read(self) -> tuple[bytes | None, _Sessions]:
        now_ms = self._clock.now_ms()
        value = self._store.get_claim(_CLAIM, now_ms)
        try:
            kept = read_sessions(value) if value is not None else ()
            return value, tuple(session for session in kept if session.until_ms > now_ms)
        except FAULTS:  # damaged: all sessions are over, and the next one replaces the value
            return value, ()

    def _mac(self, body: bytes) -> bytes:
        return mac(self._signer.derive("console-session").encode(), body)


def read_sessions(value: bytes) -> _Sessions:
    """Decodes the stored value. Raises an error of `FAULTS` for a damaged one."""
    return tuple(Session(**each) for each in json.loads(value))


def _alike(name: str) -> str:
    """The same text for names that look the same to a person: by form, case, spaces and characters that are not shown."""
    seen = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return " ".join(seen.casefold().split())
