"""Schedules of published workflows that a calendar fires: what the calendar receives, and how its failures are handled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from called_code import counted

from stepless.compile import compiler
from stepless.errors import ConfigError, DocumentRefused, InvalidRequest, SteplessError, StoreUnavailable, StoreUnusable
from stepless.limits import MAX_SCHEDULES, SCHEDULING_TRIES
from stepless.ports import Rhythm, RunFilter
from stepless.runtime.triggers.deliveries import arrive
from stepless.runtime.triggers.payloads import FIRING, firing_of, payload_of
from stepless.runtime.wiring.local import Local, local


@dataclass
class Plans:
    """A calendar that remembers what it was told."""

    kept: dict[str, Sequence[Rhythm]] = field(default_factory=dict)
    before: Callable[[], None] = lambda: None

    def keep(self, workflow_id: str, rhythms: Sequence[Rhythm]) -> None:
        self.before()
        self.kept[workflow_id] = rhythms


def failing(error: SteplessError) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def engine() -> tuple[Local, Plans]:
    built, plans = local(None), Plans()
    built.world = built.service.world = replace(built.world, calendar=plans)
    return built, plans


def publish(built: Local, nodes: dict[str, Any], workflow_id: str = "wf") -> int:
    return built.service.publish({"id": workflow_id, "nodes": nodes}).version.number


def schedule(enabled: bool = True, **given: Any) -> dict[str, Any]:
    return {"type": "schedule", "with": given, "enabled": enabled}


def test_the_calendar_is_told_every_enabled_schedule_of_the_newest_version() -> None:
    built, plans = engine()
    nodes = {"a": schedule(rate="90m"), "b": schedule(cron="0 9 * * *", timezone="Asia/Tokyo"), "c": schedule(False, rate="1h")}
    publish(built, {**nodes, "d": {"type": "manual"}})
    assert plans.kept["wf"] == (Rhythm("a", rate_ms=5_400_000), Rhythm("b", cron="0 9 * * *", timezone="Asia/Tokyo"))
    publish(built, {"d": {"type": "manual"}})
    assert plans.kept["wf"] == ()


def test_the_published_document_is_not_compiled_again_for_the_calendar() -> None:
    built, plans = engine()
    with counted({"checks": compiler._check}) as calls:
        publish(built, {"a": schedule(rate="90m")})
    assert calls["checks"] == 1 and plans.kept["wf"] == (Rhythm("a", rate_ms=5_400_000),)


def test_of_two_publications_at_once_the_newer_one_is_kept() -> None:
    built, plans = engine()

    def overtaken() -> None:
        plans.before = lambda: None
        publish(built, {"new": schedule(rate="2h")})

    plans.before = overtaken
    publish(built, {"old": schedule(rate="1h")})
    assert plans.kept["wf"] == (Rhythm("new", rate_ms=7_200_000),)


def test_who_is_overtaken_for_ever_gives_up_with_a_word() -> None:
    built, plans = engine()
    numbers = iter(range(1, 100))
    once = plans.before

    def overtaken() -> None:
        plans.before = once
        built.world.store.put_version("wf", f"h{(n := next(numbers))}", b'{"id":"wf","nodes":{"a":{"type":"manual"}}}', n)
        plans.before = overtaken

    plans.before = overtaken
    with pytest.raises(StoreUnavailable, match="publish it again") as raised:
        publish(built, {"old": schedule(rate="1h")})
    assert raised.value.code == "schedules_not_kept"
    assert next(numbers) == SCHEDULING_TRIES + 1


@pytest.mark.parametrize(("error", "family", "mend"), [
    (StoreUnavailable("throttled", mend="try again later"), StoreUnavailable, "publish it again"),
    (StoreUnusable("AccessDenied", mend="give the function's role this permission"), StoreUnusable,
     "give the function's role this permission, then publish it again"),
])  # fmt: skip
def test_a_calendar_that_fails_leaves_the_version_published_and_the_next_publication_mends_it(
    error: SteplessError, family: type[SteplessError], mend: str
) -> None:
    built, plans = engine()
    plans.before = failing(error)
    with pytest.raises(family) as raised:
        publish(built, {"a": schedule(rate="1h")})
    assert (raised.value.code, raised.value.mend) == ("schedules_not_kept", mend)
    assert "version 1 is published" in raised.value.message
    plans.before = lambda: None
    assert publish(built, {"a": schedule(rate="1h")}) == 1
    assert plans.kept["wf"] == (Rhythm("a", rate_ms=3_600_000),)


def test_a_rhythm_that_is_refused_is_the_authors_to_mend() -> None:
    built, plans = engine()
    plans.before = failing(ConfigError("AWS refuses it", code="schedule_refused", place="node a"))
    with pytest.raises(ConfigError, match="node a"):
        publish(built, {"a": schedule(rate="1h")})


def test_a_workflow_has_a_largest_number_of_schedules() -> None:
    built, _ = engine()
    nodes = {f"s{number}": schedule(rate="1h") for number in range(MAX_SCHEDULES)}
    publish(built, nodes)
    with pytest.raises(DocumentRefused, match=f"{MAX_SCHEDULES + 1} schedules"):
        publish(built, {**nodes, "more": schedule(rate="1h")})


# -- what the calendar sends ------------------------------------------------------------------------------------------


def firing(node: str = "a", workflow_id: str = "wf", at: str = "2026-11-21T02:30:00Z") -> dict[str, Any]:
    return {FIRING: {"workflow": workflow_id, "node": node, "at": at}}


def test_an_instant_starts_one_run_however_often_it_fires() -> None:
    built, _ = engine()
    publish(built, {"a": schedule(rate="1h"), "b": {"type": "manual"}})
    [first] = arrive(built.world, firing())
    [again] = arrive(built.world, firing())
    [later] = arrive(built.world, firing(at="2026-11-21T03:30:00+00:00"))
    assert (first.run_id, first.replay, again.run_id, again.replay) == (first.run_id, False, first.run_id, True)
    assert later.run_id != first.run_id
    assert built.service.run(first.run_id).inputs == {"scheduled_at": "2026-11-21T02:30:00.000Z", "node": "a"}


@pytest.mark.parametrize("late", [firing("b"), firing("none"), firing(workflow_id="none"), firing("off")])
def test_a_firing_of_a_schedule_that_is_no_more_starts_nothing(late: dict[str, Any]) -> None:
    built, _ = engine()
    publish(built, {"a": schedule(rate="1h"), "b": {"type": "manual"}, "off": schedule(False, rate="1h")})
    assert arrive(built.world, late) == []
    assert built.service.search(RunFilter()).items == ()


@pytest.mark.parametrize("broken", [
    {}, {"workflow": "wf", "node": "a"}, {"workflow": "wf", "node": 1, "at": "2026-11-21T02:30:00Z"}, "text",
    {"workflow": "wf", "node": "a", "at": "<aws.scheduler.scheduled-time>"},
    {"workflow": "wf", "node": "a", "at": "2026-11-21T02:30:00"},
])  # fmt: skip
def test_a_firing_that_cannot_be_read_is_refused(broken: Any) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        firing_of({FIRING: broken})


def test_only_the_own_queue_carries_payloads_in_its_bodies() -> None:
    record = {"eventSource": "aws:sqs", "eventSourceARN": "mine", "messageId": "m", "body": '{"id": "e"}'}
    assert payload_of(record, "mine") == {"id": "e"}
    assert payload_of(record, "another") == {"Records": [record]}
    for body in ("text", "[]", "[" * 100_000):
        with pytest.raises(InvalidRequest):
            payload_of({**record, "body": body}, "mine")
