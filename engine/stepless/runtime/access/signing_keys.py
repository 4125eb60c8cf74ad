"""The keys that sign resume links, when they are kept in the store of the runs, and their rotation.

Several keys are valid at a time, and the first one signs. A rotation puts a new key in front. The oldest keys beyond
MAX_SIGNING_KEYS are dropped, which invalidates the links that they signed.
"""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex
from typing import Final

from stepless.errors import Conflict
from stepless.limits import MAX_SIGNING_KEYS
from stepless.ports import Clock, Store
from stepless.runtime.access.tokens import Key, parse_keys

_CLAIM: Final = "signing-key"
_TRIES: Final = 5


def kept_keys(store: Store, clock: Clock) -> tuple[Key, ...]:
    """The keys of a store, the newest first. Creates one if there is none."""
    kept = store.claim(_CLAIM, f"local:{token_hex(32)}".encode(), clock.now_ms())
    return parse_keys(kept.decode()) or (Key("local", token_hex(32).encode()),)


def rotated(keys: Sequence[Key]) -> tuple[Key, ...]:
    """The keys with a new one in front, which signs from now on."""
    return (Key(f"k{token_hex(4)}", token_hex(32).encode()), *keys)[:MAX_SIGNING_KEYS]


def rotate_kept(store: Store, clock: Clock) -> tuple[Key, ...]:
    """Rotates the keys of a store and returns them. Running processes continue to sign with the key that they have loaded, which
    stays valid. Raises `Conflict` (keys_busy)."""
    for _ in range(_TRIES):
        former = written(kept_keys(store, clock)).encode()
        keys = rotated(parse_keys(former.decode()))
        value = written(keys).encode()
        store.release_claim(_CLAIM, former)
        existing = store.claim(_CLAIM, value, clock.now_ms())
        if existing == value:
            return keys
        merged = written((*parse_keys(existing.decode()), *parse_keys(former.decode()))[:MAX_SIGNING_KEYS]).encode()
        if store.release_claim(_CLAIM, existing):  # another process added a key: keep it and the former keys
            store.claim(_CLAIM, merged, clock.now_ms())
    raise Conflict("other processes are changing the signing keys", code="keys_busy", mend="try again")


def written(keys: Sequence[Key]) -> str:
    """The keys in the form in which they are stored and configured: `id:secret,id:secret`."""
    return ",".join(f"{key.id}:{key.secret.decode()}" for key in keys)
