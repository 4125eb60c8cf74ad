"""API keys: who may do what. The secret is told once and kept as its SHA-256; a key has roles, and may be rotated.

All keys together are one value, kept under a number: a change puts the value of the next number, which is put once, so of two
changes at once one is told to begin again. Processes look for the next number every few seconds; until then a key that was
removed elsewhere still opens.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from hashlib import sha256
from secrets import token_hex, token_urlsafe
from typing import Final

from stepless.errors import Conflict, LimitExceeded, NotFound
from stepless.limits import KEY_GRACE_MS, KEY_USE_NOTED_MS, KEYS_FRESH_MS, MAX_API_KEYS
from stepless.ports import Clock, Store

_TRIES: Final = 5


class Role(StrEnum):
    READ = "read"  # lists, runs, events: every key may
    RUN = "run"  # start, cancel, rerun
    APPROVE = "approve"  # is shown the links that answer questions
    ADMIN = "admin"  # everything: publish, keys


ALL_ROLES: Final = frozenset(Role)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`former` is the hash that a rotation replaced; it opens until `former_until_ms`."""

    id: str
    name: str
    roles: tuple[str, ...]
    hash: str
    created_ms: int
    former: str = ""
    former_until_ms: int = 0

    @property
    def may(self) -> frozenset[str]:
        """The roles that the key's own imply."""
        return ALL_ROLES if Role.ADMIN in self.roles else frozenset({Role.READ, *self.roles})


def hashed(secret: str) -> str:
    """A secret as it is kept at rest: `sha256:<hex>`."""
    return f"sha256:{sha256(secret.encode()).hexdigest()}"


class ApiKeys:
    """The keys that a store keeps. Safe to call from several threads."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: tuple[int, tuple[ApiKey, ...]] = (0, ())
        self._looked_ms = -KEYS_FRESH_MS
        self._noted: dict[str, int] = {}

    def find(self, secret: str) -> ApiKey | None:
        """The key whose secret this is, or was a moment ago. Notes that it was used, roughly."""
        now_ms, offered = self._clock.now_ms(), hashed(secret)
        if abs(now_ms - self._looked_ms) >= KEYS_FRESH_MS:
            self._refresh()
        found = None
        for key in self._known[1]:  # all of them, whichever fits
            now, before = hmac.compare_digest(key.hash, offered), hmac.compare_digest(key.former, offered)
            if now or (before and now_ms < key.former_until_ms):
                found = key
        if found is not None:
            self._note_use(found, now_ms)
        return found

    def list(self) -> Sequence[tuple[ApiKey, int | None]]:
        """Every key, oldest first, with the instant of its last use, true to KEY_USE_NOTED_MS."""
        self._refresh()
        return [(key, self._last_use(key)) for key in self._known[1]]

    def add(self, name: str, roles: Collection[str]) -> tuple[ApiKey, str]:
        """A new key and its secret, which nobody can be told again. Raises `LimitExceeded` (too_many_keys)."""
        secret, now_ms = f"slk_{token_urlsafe(32)}", self._clock.now_ms()
        key = ApiKey(f"key_{token_hex(6)}", name, tuple(sorted(set(roles))), hashed(secret), now_ms)

        def added(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
            if len(keys) >= MAX_API_KEYS:
                raise LimitExceeded(f"there are {MAX_API_KEYS} keys already", code="too_many_keys", mend="remove one")
            return (*keys, key)

        self._change(added)
        return key, secret

    def rotate(self, key_id: str) -> tuple[ApiKey, str]:
        """The key with a new secret; the old one opens for KEY_GRACE_MS more. Raises `NotFound` (unknown_key)."""
        secret, until_ms = f"slk_{token_urlsafe(32)}", self._clock.now_ms() + KEY_GRACE_MS

        def rotated(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
            old = _one(keys, key_id)
            new = replace(old, hash=hashed(secret), former=old.hash, former_until_ms=until_ms)
            return tuple(new if key is old else key for key in keys)

        return _one(self._change(rotated), key_id), secret

    def remove(self, key_id: str) -> None:
        """Opens nothing any more, at once here and within KEYS_FRESH_MS elsewhere. Raises `NotFound` (unknown_key)."""

        def without(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
            gone = _one(keys, key_id)
            return tuple(key for key in keys if key is not gone)

        self._change(without)

    # -- the numbered values ----------------------------------------------------------------------------------------

    def _change(self, change: Callable[[tuple[ApiKey, ...]], tuple[ApiKey, ...]]) -> tuple[ApiKey, ...]:
        for _ in range(_TRIES):
            number, keys = self._refresh()
            changed = change(keys)
            value = json.dumps({"by": token_hex(8), "keys": [asdict(key) for key in changed]}).encode()
            if self._store.claim(_name(number + 1), value, self._clock.now_ms()) == value:
                self._known = (number + 1, changed)
                return changed
        raise Conflict("the keys are being changed by others", code="keys_busy", mend="try again")

    def _refresh(self) -> tuple[int, tuple[ApiKey, ...]]:
        """The newest value: gallops ahead from the one that is known, then halves."""
        now_ms = self._clock.now_ms()
        low, step = self._known[0], 1
        while self._store.get_claim(_name(low + step), now_ms) is not None:
            low, step = low + step, 2 * step
        high = low + step  # not there
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._store.get_claim(_name(middle), now_ms) is not None else (low, middle)
        if low > self._known[0] and (value := self._store.get_claim(_name(low), now_ms)) is not None:
            self._known = (low, tuple(ApiKey(**{**key, "roles": tuple(key["roles"])}) for key in json.loads(value)["keys"]))
        self._looked_ms = now_ms
        return self._known

    # -- the last use -----------------------------------------------------------------------------------------------

    def _last_use(self, key: ApiKey) -> int | None:
        kept = self._store.get_claim(f"api-key-used:{key.id}", self._clock.now_ms())
        return None if kept is None else int(kept)

    def _note_use(self, key: ApiKey, now_ms: int) -> None:
        if abs(now_ms - self._noted.get(key.id, -KEY_USE_NOTED_MS)) < KEY_USE_NOTED_MS:
            return
        self._noted[key.id] = now_ms
        name = f"api-key-used:{key.id}"
        standing = self._store.get_claim(name, now_ms)
        if standing is not None:
            self._store.release_claim(name, standing)
        self._store.claim(name, str(now_ms).encode(), now_ms)


def _name(number: int) -> str:
    return f"api-keys:{number}"


def _one(keys: Sequence[ApiKey], key_id: str) -> ApiKey:
    found = next((key for key in keys if key.id == key_id), None)
    if found is None:
        raise NotFound(f"there is no key {key_id}", code="unknown_key", mend="look at the list of keys")
    return found
