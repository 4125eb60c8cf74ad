"""Manages API keys and their roles. A secret is shown once and stored as its SHA-256. Keys can be rotated and removed.

All keys are stored as one value under a number. A change claims the next number; of two concurrent changes, one wins and the
other is retried. Processes check for the next number every few seconds. Until then, a key removed by another process is accepted.
"""

from __future__ import annotations

import hmac
import json
import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from secrets import token_hex, token_urlsafe
from typing import Any, Final

from stepless.errors import Conflict, LimitExceeded, NotFound
from stepless.limits import KEY_GRACE_MS, KEY_USE_NOTED_MS, KEYS_FRESH_MS, MAX_API_KEYS
from stepless.model.stored.damage import FAULTS, Damage, told_by, why_of
from stepless.ports import Clock, Store
from stepless.runtime.access.roles import Role, implied

_log = logging.getLogger(__name__)
_TRIES: Final = 5
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`former` is the hash that a rotation replaced; it is accepted until `former_until_ms`."""

    id: str
    name: str
    roles: tuple[str, ...]
    hash: str
    created_ms: int
    former: str = ""
    former_until_ms: int = 0

    @property
    def may(self) -> frozenset[Role]:
        """The key's roles and the roles that they imply."""
        return implied(self.roles)


def hashed(secret: str) -> str:
    """Returns a secret in the form in which it is stored: `sha256:<hex>`."""
    return f"sha256:{sha256(secret.encode()).hexdigest()}"


class ApiKeys:
    """The keys of a store. Thread-safe."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: tuple[int, tuple[ApiKey, ...]] = (0, ())
        self._looked_ms = -KEYS_FRESH_MS
        self._noted: dict[str, int] = {}
        self.damage: Sequence[Damage] = ()  # what cannot be used of the newest value

    def find(self, secret: str) -> ApiKey | None:
        """Returns the key with this secret, current or recently rotated; None if there is none. Records the approximate time of
        use."""
        now_ms, offered = self._clock.now_ms(), hashed(secret)
        if abs(now_ms - self._looked_ms) >= KEYS_FRESH_MS:
            self._refresh()
        found = None
        for key in self._known[1]:  # always all keys, so that the time does not depend on which one matches
            now, before = hmac.compare_digest(key.hash, offered), hmac.compare_digest(key.former, offered)
            if now or (before and now_ms < key.former_until_ms):
                found = key
        if found is not None:
            self._note_use(found, now_ms)
        return found

    def roles_of(self, key_id: str) -> frozenset[Role]:
        """Returns the roles that the key with this id has now; nothing if it was removed."""
        self._refresh()
        return next((key.may for key in self._known[1] if key.id == key_id), frozenset())

    def list(self) -> Sequence[tuple[ApiKey, int | None]]:
        """Returns every key, oldest first, with the instant of its last use, accurate to KEY_USE_NOTED_MS."""
        self._refresh()
        return [(key, self._last_use(key)) for key in self._known[1]]

    def add(self, name: str, roles: Collection[str]) -> tuple[ApiKey, str]:
        """Returns a new key and its secret, which cannot be shown again. Raises `LimitExceeded` (too_many_keys)."""
        secret, now_ms = f"slk_{token_urlsafe(32)}", self._clock.now_ms()
        key = ApiKey(f"key_{token_hex(6)}", name, tuple(sorted(set(roles))), hashed(secret), now_ms)

        def added(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
            if len(keys) >= MAX_API_KEYS:
                raise LimitExceeded(f"there are {MAX_API_KEYS} keys already", code="too_many_keys", mend="remove one")
            return (*keys, key)

        self._change(added)
        return key, secret

    def rotate(self, key_id: str) -> tuple[ApiKey, str]:
        """Returns the key with a new secret; the old secret is accepted for KEY_GRACE_MS more. Raises `NotFound`
        (unknown_key)."""
        secret, until_ms = f"slk_{token_urlsafe(32)}", self._clock.now_ms() + KEY_GRACE_MS

        def rotated(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
            old = _one(keys, key_id)
            new = replace(old, hash=hashed(secret), former=old.hash, former_until_ms=until_ms)
            return tuple(new if key is old else key for key in keys)

        return _one(self._change(rotated), key_id), secret

    def remove(self, key_id: str) -> None:
        """Removes the key: immediately in this process, within KEYS_FRESH_MS in others. Raises `NotFound` (unknown_key)."""

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
        raise Conflict("other processes are changing the API keys", code="keys_busy", mend="try again")

    def _refresh(self) -> tuple[int, tuple[ApiKey, ...]]:
        """Loads the newest value: exponential search from the known number, then binary search."""
        now_ms = self._clock.now_ms()
        low, step = self._known[0], 1
        while self._store.get_claim(_name(low + step), now_ms) is not None:
            low, step = low + step, 2 * step
        high = low + step  # does not exist
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._store.get_claim(_name(middle), now_ms) is not None else (low, middle)
        if low > self._known[0] and (value := self._store.get_claim(_name(low), now_ms)) is not None:
            self._known = (low, self._read(low, value, now_ms))
        self._looked_ms = now_ms
        return self._known

    def _read(self, number: int, value: bytes, now_ms: int) -> tuple[ApiKey, ...]:
        """The keys of a numbered value. If it cannot be read as a whole, no key in it is accepted, since it may be the one that
        removed a key; single damaged keys are left out."""
        keys, damage = read_keys(value, _name(number))
        self.damage = damage
        for one in damage:
            _log.error("an API key cannot be used: %s: %s", one.place, one.why)
        return keys

    # -- the last use -----------------------------------------------------------------------------------------------

    def _last_use(self, key: ApiKey) -> int | None:
        kept = self._store.get_claim(f"api-key-used:{key.id}", self._clock.now_ms())
        return int(kept) if kept is not None and kept.isdigit() else None

    def _note_use(self, key: ApiKey, now_ms: int) -> None:
        if abs(now_ms - self._noted.get(key.id, -KEY_USE_NOTED_MS)) < KEY_USE_NOTED_MS:
            return
        self._noted[key.id] = now_ms
        name = f"api-key-used:{key.id}"
        existing = self._store.get_claim(name, now_ms)
        if existing is not None:
            self._store.release_claim(name, existing)
        self._store.claim(name, str(now_ms).encode(), now_ms)


def read_keys(value: bytes, claim: str) -> tuple[tuple[ApiKey, ...], list[Damage]]:
    """Returns the keys in a stored value, and what of it is damaged."""
    place = f"claim.value of {claim}"
    try:
        rows = json.loads(value)["keys"]
        if not isinstance(rows, list):
            raise ValueError("there is no list of keys")
    except FAULTS as error:
        told = told_by(value) or Damage(place, why_of(error))
        return (), [told._replace(mend="restore the store from a backup, or make new keys")]
    keys, damage = list[ApiKey](), list[Damage]()
    for number, row in enumerate(rows):
        try:
            keys.append(_key(row))
        except FAULTS as error:
            damage.append(Damage(f"{place}, key {number}", why_of(error), "make a new key in its place"))
    return tuple(keys), damage


def _key(row: Mapping[str, Any]) -> ApiKey:
    key = ApiKey(**{**row, "roles": tuple(row["roles"])})
    texts = (key.id, key.name, key.hash, key.former, *key.roles)
    if not all(isinstance(text, str) for text in texts) or not _HASH.fullmatch(key.hash):
        raise ValueError("a field has another type")
    if type(key.created_ms) is not int or type(key.former_until_ms) is not int:
        raise ValueError("an instant is no integer")
    implied(key.roles)
    return key


def _name(number: int) -> str:
    return f"api-keys:{number}"


def _one(keys: Sequence[ApiKey], key_id: str) -> ApiKey:
    found = next((key for key in keys if key.id == key_id), None)
    if found is None:
        raise NotFound(f"there is no key {key_id}", code="unknown_key", mend="look at the list of keys")
    return found
