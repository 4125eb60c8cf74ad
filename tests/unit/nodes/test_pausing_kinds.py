from typing import Any

import pytest

from stepless.errors import ConfigError
from stepless.model.kind import Outcome, Pause
from stepless.nodes import KINDS

NOW_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z


def suspended(kind: str, work: Any) -> Pause | Outcome:
    suspend = KINDS[kind].suspend
    assert suspend is not None
    return suspend(work)


@pytest.mark.parametrize(("params", "resume_at_ms"), [
    ({"for": "90s"}, NOW_MS + 90_000),
    ({"for": "PT2H"}, NOW_MS + 7_200_000),
    ({"until": "2026-01-01T01:00:00+00:30"}, NOW_MS + 1_800_000),
    ({"until": "2026-01-02T00:00:00.0005Z"}, NOW_MS + 86_400_001),
    ({"until": NOW_MS + 1}, NOW_MS + 1),
])
def test_a_wait_resumes_at_its_instant(params: Any, resume_at_ms: int, work: Any) -> None:
    assert suspended("wait", work(params=params, now_ms=NOW_MS)) == Pause("timer", resume_at_ms=resume_at_ms, exits=())


@pytest.mark.parametrize("params", [{"until": "2025-12-31T23:59:59Z"}, {"until": NOW_MS}, {"until": -5}, {"for": "0s"}])
def test_a_wait_whose_instant_has_passed_completes_at_once_with_its_input(params: Any, work: Any) -> None:
    assert suspended("wait", work(params=params, inputs={"input": {"a": 1}}, now_ms=NOW_MS)) == Outcome({"a": 1})


@pytest.mark.parametrize(("params", "told"), [
    ({"for": "soon"}, "500ms, 90s"),
    ({"for": None}, "exactly one"),
    ({"for": "1s", "until": 5}, "exactly one"),
    ({"for": 5}, "for"),
    ({"for": "367d"}, "longer"),
    ({"until": "tomorrow"}, "2030-01-31T09:00:00Z"),
    ({"until": "2026-01-01T00:00:00"}, "offset"),
    ({"until": NOW_MS * 1_000}, "milliseconds"),
    ({"until": True}, "until"),
    ({"until": {}}, "until"),
])
def test_a_wait_rendered_to_rubbish_fails_with_place_and_mend(params: Any, told: str, work: Any) -> None:
    with pytest.raises(ConfigError, match=told) as refused:
        suspended("wait", work(params=params, now_ms=NOW_MS))
    assert refused.value.place.startswith("with")
    assert refused.value.mend


def test_an_approval_asks_with_its_message_fields_and_approvers(work: Any) -> None:
    fields = {"comment": {"type": "string"}}
    pause = suspended("approval", work(
        params={"message": "Refund 7?", "approvers": "ann@example.com", "timeout": "2d"},
        literals={"fields": fields}, now_ms=NOW_MS,
    ))
    assert pause == Pause(
        "human_input", deadline_ms=NOW_MS + 2 * 86_400_000, exits=("approved", "rejected"), fields=fields,
        details={"message": "Refund 7?", "fields": fields, "approvers": ["ann@example.com"]},
    )


def test_an_approval_without_a_timeout_waits_for_ever_and_keeps_what_is_to_be_sent(work: Any) -> None:
    pause = suspended("approval", work(params={"message": "Go on?", "notify": "https://a.example/x", "reminders": ["1h", "1d"]}))
    assert isinstance(pause, Pause)
    assert pause.deadline_ms is None
    assert pause.details["notify"] == "https://a.example/x"
    assert pause.details["reminders_ms"] == [3_600_000, 86_400_000]


@pytest.mark.parametrize("params", [{}, {"message": 7}, {"message": "m", "timeout": "1 day"}, {"message": "m", "approvers": 3}])
def test_an_approval_rendered_to_rubbish_fails(params: Any, work: Any) -> None:
    with pytest.raises(ConfigError, match="with"):
        suspended("approval", work(params=params))


def test_an_approval_field_cannot_hide_the_decision(findings: Any) -> None:
    found = findings("approval", message="m", fields={"decision": {}, "x": {}})
    assert found == [("reserved_field", ".fields.decision", "error")]


def test_a_field_named_approved_is_a_warning(findings: Any) -> None:
    assert findings("approval", message="m", fields={"approved": {}}) == [("reserved_field", ".fields.approved", "warning")]


def test_a_callback_waits_for_an_answer_by_its_source_exit(work: Any) -> None:
    pause = suspended("callback", work(params={"timeout": "1h"}, literals={"fields": {"n": {"type": "integer"}}}, now_ms=NOW_MS))
    assert pause == Pause("callback", deadline_ms=NOW_MS + 3_600_000, exits=("source",), fields={"n": {"type": "integer"}})


@pytest.mark.parametrize(("params", "told"), [
    ({"message": "m", "approvers": 3}, "with.approvers: `approvers` should be text or a list, not a number"),
    ({"message": "m", "approvers": ["a", 3]}, "with.approvers.1: `approvers.1` should be text, not a number"),
    ({"message": None}, "with.message: `message` should be text, not null"),
])  # fmt: skip
def test_a_misfit_at_run_time_is_told_once_and_without_its_value(params: Any, told: str, work: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        suspended("approval", work(params=params))
    assert str(refused.value).startswith(f"{told} (") and "3" not in str(refused.value)
