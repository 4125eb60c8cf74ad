"""Stores and rotates the keys that sign resume links, where they are kept in the store of the runs.

Several keys are valid at a time, and the first one signs. A rotation puts a new key in front. The oldest keys beyond
MAX_SIGNING_KEYS are dropped, which invalidates the links that they signed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from secrets import token_hex
from typing import Final

from stepless.errors import Conflict, Damaged
from stepless.limits import MAX_SIGNING_KEYS
from stepless.ports import Clock, Store
from stepless.runtime.access.tokens import Key, parse_keys

_log = logging.getLogger(__name__)
_CLAIMS: Final = ("signing-key", "signing-key:2")  # the second one has the keys where the first one is damaged
_KEPT: Final = re.compile(rb"[A-Za-z0-9_-]{1,64}:[0-9a-f]{64}")
_TRIES: Final = 5


def kept_keys(store: Store, clock: Clock) -> tuple[Key, ...]:
    """Returns the keys of a store, the newest first. Creates one if there is none. Damaged keys are left out: links that they
    signed are refused."""
    return _kept(store, clock)[1]


def _kept(store: Store, clock: Clock) -> tuple[str, tuple[Key, ...]]:
    """The keys of a store, and the claim that has them. Raises `Damaged` if no claim has a key that can be used."""
    for claim in _CLAIMS:
        kept = store.claim(claim, f"local:{token_hex(32)}".encode(), clock.now_ms())
        if keys := readable_keys(kept):
            return claim, keys
        _log.error("the signing keys in the claim %s are damaged: links that they signed are refused", claim)
    mend = "restore the store from a backup, or set STEPLESS_SIGNING_KEYS"
    raise Damaged("no signing key can be read", place=f"claim.value of {_CLAIMS[-1]}", mend=mend)


def readable_keys(kept: bytes) -> tuple[Key, ...]:
    """Returns the keys that are not damaged in the value of a claim."""
    parts = [part.strip() for part in kept.split(b",")]
    return tuple(key for part in parts if _KEPT.fullmatch(part) for key in parse_keys(part.decode()))


def rotated(keys: Sequence[Key]) -> tuple[Key, ...]:
    """Returns the keys with a new one in front, which signs from now on."""
    return (Key(f"k{token_hex(4)}", token_hex(32).encode()), *keys)[:MAX_SIGNING_KEYS]


def rotate_kept(store: Store, clock: Clock) -> tuple[Key, ...]:
    """Rotates the keys of a store and returns them. Running processes continue to sign with the key that they have loaded, which
    stays valid. Raises `Conflict` (keys_busy)."""
    for _ in range(_TRIES):
        claim, kept = _kept(store, clock)
        former = written(kept).encode()
        keys = rotated(kept)
        value = written(keys).encode()
        store.release_claim(claim, former)
        existing = store.claim(claim, value, clock.now_ms())
        if existing == value:
            return keys
        merged = written((*readable_keys(existing), *kept)[:MAX_SIGNING_KEYS]).encode()
        if store.release_claim(claim, existing):  # another process added a key: keep it and the former keys
            store.claim(claim, merged, clock.now_ms())
    raise Conflict("other processes are changing the signing keys", code="keys_busy", mend="try again")


def written(keys: Sequence[Key]) -> str:
    """Returns the keys in the form in which they are stored and configured: `id:secret,id:secret`."""
    return ",".join(f"{key.id}:{key.secret.decode()}" for key in keys)
