"""Looks up what the people in draft sessions may do now. Their keys are looked up again, at most every ROLE_FRESH_MS in each
process."""

from __future__ import annotations

from collections.abc import Collection
from threading import Lock
from typing import Final

from stepless.limits import ROLE_FRESH_MS
from stepless.ports import Clock
from stepless.runtime.access.api_keys import ApiKeys, hashed
from stepless.runtime.access.roles import Role
from stepless.runtime.access.sessions import Sessions
from stepless.runtime.access.tickets import Visitor

_CONFIGURED: Final = "sha256:"
SESSION: Final = "session_"  # how the ids of sessions begin
_SHOWN: Final = 15  # characters of a configured key's hash by which it is named


def key_id_of(caller: str) -> str:
    """Returns the id of the key that a caller, as the API names them, has; empty for a caller without one."""
    kind, _, rest = caller.partition(" ")
    if kind == "key":
        return rest.partition(" ")[0]
    return rest.removeprefix("key ") if kind == "configured" else ""


class Standing:
    """Thread-safe. `configured` are the keys of the deployment, in plain text or as hashes; None accepts everyone. `sessions` are
    those of the console of this process."""

    def __init__(
        self, kept: ApiKeys, configured: Collection[str] | None, clock: Clock, fresh_ms: float = ROLE_FRESH_MS,
        sessions: Sessions | None = None,
    ) -> None:
        hashes = (key.strip() if key.strip().startswith(_CONFIGURED) else hashed(key.strip()) for key in configured or ())
        self._configured = frozenset(key[:_SHOWN] for key in hashes)
        self._kept = kept
        self._clock = clock
        self._fresh_ms = fresh_ms
        self._sessions = sessions
        self._known: dict[str, frozenset[Role]] = {}
        self._until_ms = 0
        self._lock = Lock()

    def roles(self, visitor: Visitor) -> frozenset[Role]:
        """Returns the current roles; empty where the key is gone or the session was ended. May raise `StoreUnavailable`."""
        if not visitor.key_id:
            return visitor.roles
        if visitor.key_id.startswith(SESSION):
            lives = self._sessions is not None and self._sessions.get(visitor.key_id) is not None
            return visitor.roles if lives else frozenset()
        if visitor.key_id.startswith(_CONFIGURED):
            return visitor.roles if visitor.key_id in self._configured else frozenset()
        now_ms = self._clock.now_ms()
        with self._lock:
            if now_ms >= self._until_ms:
                self._known, self._until_ms = {}, now_ms + round(self._fresh_ms)
            if visitor.key_id not in self._known:
                self._known[visitor.key_id] = self._kept.roles_of(visitor.key_id)
            return self._known[visitor.key_id]
