"""Rate and concurrency limits: refused with a time to retry; if the counter is out of reach, every start is allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.store import MemoryStore
from stepless.errors import EngineBug, Refused, StoreUnavailable, StoreUnusable
from stepless.runtime.service import Service
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.local import local

HOUR_MS = 3_600_000


class Uncounted(MemoryStore):
    def __init__(self, fault: Exception) -> None:
        super().__init__()
        self._fault = fault

    def count(self, key: str, now_ms: int, expires_ms: int) -> int:
        raise self._fault


def service(limits: dict[str, Any], store: MemoryStore | None = None) -> tuple[Service, SettableClock]:
    built, clock = local(None).service, SettableClock(10 * HOUR_MS)
    store = store or MemoryStore()
    world = replace(built.world, clock=clock, store=store, versions=Versions(store, built.world.kinds))
    made = Service(world, built.signer)
    made.publish({"id": "limited", **limits, "nodes": {"a": {"type": "transform", "with": {"value": 1}}}})
    return made, clock


def test_a_rate_limit_counts_within_its_window() -> None:
    made, clock = service({"rate_limit": {"max": 2, "per": "1h"}})
    made.start("limited", {})
    made.start("limited", {})
    clock.advance(60_000)
    with pytest.raises(Refused) as refused:
        made.start("limited", {})
    assert refused.value.code == "rate_limited"
    assert refused.value.facts["retry_after_ms"] == HOUR_MS - 60_000
    clock.advance(HOUR_MS)
    assert made.start("limited", {}).run_id


def test_a_rate_limit_counts_apart_by_a_value_of_the_inputs() -> None:
    made, _ = service({"rate_limit": {"max": 1, "per": "1h", "by": "customer.id"}})
    made.start("limited", {"customer": {"id": 1}})
    made.start("limited", {"customer": {"id": 2}})
    with pytest.raises(Refused):
        made.start("limited", {"customer": {"id": 1}})


def test_a_repeated_start_costs_nothing() -> None:
    made, _ = service({"rate_limit": {"max": 1, "per": "1h"}})
    first = made.start("limited", {}, key="once")
    assert made.start("limited", {}, key="once") == replace(first, replay=True)


@pytest.mark.parametrize(
    "fault", [StoreUnavailable("throttled"), StoreUnusable("no such table"), EngineBug("a bug"), ZeroDivisionError("a bug")]
)
def test_a_rate_limit_that_cannot_be_counted_lets_everybody_in(fault: Exception, caplog: pytest.LogCaptureFixture) -> None:
    made, _ = service({"rate_limit": {"max": 1, "per": "1h"}}, Uncounted(fault))
    assert len({made.start("limited", {}).run_id for _ in range(5)}) == 5
    assert str(fault) in caplog.text


class OfShortKeys(MemoryStore):
    def count(self, key: str, now_ms: int, expires_ms: int) -> int:
        if len(key) > 200 or not key.isascii():
            raise StoreUnusable("that is no key")
        return super().count(key, now_ms, expires_ms)


@pytest.mark.parametrize("value", ["x" * 100_000, "é\u0000", {"a": ["b"] * 1_000}])
def test_no_value_of_the_inputs_escapes_the_count(value: Any) -> None:
    made, _ = service({"rate_limit": {"max": 1, "per": "1h", "by": "who"}}, OfShortKeys())
    made.start("limited", {"who": value})
    with pytest.raises(Refused):
        made.start("limited", {"who": value})


def test_no_more_runs_are_under_way_than_the_workflow_allows() -> None:
    made, _ = service({"concurrency": 2})
    made.start("limited", {})
    made.start("limited", {})
    with pytest.raises(Refused) as refused:
        made.start("limited", {})
    assert refused.value.code == "too_many_runs"
