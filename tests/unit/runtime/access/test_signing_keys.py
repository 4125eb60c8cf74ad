"""Signing keys that are stored with the runs: created once, rotated without losing any, bounded."""

from __future__ import annotations

from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.system import SystemClock
from stepless.limits import MAX_SIGNING_KEYS
from stepless.runtime.access.signing_keys import kept_keys, rotate_kept, written
from stepless.runtime.access.tokens import parse_keys

CLOCK = SystemClock()


class Busy(MemoryStore):
    """In the instant in which the keys are exchanged, another process makes one."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = True

    def release_claim(self, key: str, value: bytes) -> bool:
        released = super().release_claim(key, value)
        if self.busy:
            self.busy = False
            self.claim(key, b"other:" + b"a" * 64, CLOCK.now_ms())
        return released


def test_a_store_has_one_key_from_the_first_look_on() -> None:
    store = MemoryStore()
    assert kept_keys(store, CLOCK) == kept_keys(store, CLOCK)
    assert len(kept_keys(store, CLOCK)) == 1


def test_a_rotation_puts_a_new_key_in_front_and_keeps_the_others() -> None:
    store = MemoryStore()
    first = kept_keys(store, CLOCK)
    second = rotate_kept(store, CLOCK)
    assert second[1:] == first and second[0].secret != first[0].secret and second[0].id != first[0].id
    assert kept_keys(store, CLOCK) == second


def test_the_oldest_beyond_the_bound_is_dropped() -> None:
    store = MemoryStore()
    oldest = kept_keys(store, CLOCK)[0]
    for _ in range(MAX_SIGNING_KEYS - 1):
        assert oldest in rotate_kept(store, CLOCK)
    keys = rotate_kept(store, CLOCK)
    assert len(keys) == MAX_SIGNING_KEYS and oldest not in keys


def test_a_key_that_somebody_makes_meanwhile_is_kept_too() -> None:
    store = Busy()
    first = kept_keys(store, CLOCK)
    keys = rotate_kept(store, CLOCK)
    assert [key.id for key in keys[1:]] == ["other", first[0].id] and kept_keys(store, CLOCK) == keys


def test_keys_are_read_as_they_are_written() -> None:
    keys = rotate_kept(MemoryStore(), CLOCK)
    assert parse_keys(written(keys)) == keys
