from typing import Any

import pytest
from pydantic import ValidationError

from stepless.nodes import KINDS

WEBHOOK = KINDS["webhook"].params


@pytest.mark.parametrize("kind", ["manual", "webhook", "schedule", "event"])
def test_an_entry_puts_out_what_the_run_was_given(kind: str, work: Any) -> None:
    evaluate = KINDS[kind].evaluate
    assert evaluate is not None
    assert evaluate(work(run_inputs={"body": {"a": 1}})).value == {"body": {"a": 1}}


@pytest.mark.parametrize("path", ["", "/", "refunds", "/a b", "/a//b", "/a/", "/ä", "/a?b", "/" + "a" * 200, "/a\n"])
def test_a_webhook_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="path"):
        WEBHOOK.model_validate({"path": path})


@pytest.mark.parametrize("params", [
    {"method": "FETCH"}, {"method": []}, {"auth": "basic"}, {"auth": {"hmac": ""}}, {"auth": {"hmac": "k", "bearer": "t"}},
    {"auth": {"hmac": "k", "tolerance_s": -1}}, {"auth": {"hmac": "k", "header": "a: b"}}, {"response": "later"},
])
def test_a_webhook_setting_that_is_none_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        WEBHOOK.model_validate({"path": "/a", **params})


def test_a_webhook_takes_post_with_a_signature_five_minutes_old_at_most_unless_told_otherwise() -> None:
    params: Any = WEBHOOK.model_validate({"path": "/a/B_c-1", "auth": {"hmac": "${KEY}"}})
    assert (params.method, params.response, params.auth.header, params.auth.tolerance_s) == ("POST", "async", "X-Signature", 300)
    several: Any = WEBHOOK.model_validate({"path": "/a", "method": ["get", "PUT"]})
    assert several.method == ["GET", "PUT"]


@pytest.mark.parametrize(("params", "found"), [
    ({}, [("open_webhook", ".auth", "warning")]),
    ({"auth": "none"}, []),
    ({"auth": {"hmac": "${KEY}"}}, []),
    ({"auth": {"hmac": "s3cret"}}, [("secret_in_document", ".auth", "warning")]),
    ({"auth": {"bearer": "s3cret"}}, [("secret_in_document", ".auth", "warning")]),
])
def test_an_open_door_and_a_written_secret_are_pointed_out(params: dict[str, Any], found: list[Any], findings: Any) -> None:
    assert findings("webhook", path="/a", **params) == found


@pytest.mark.parametrize(("params", "found"), [
    ({"rate": "15m"}, []),
    ({"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}, []),
    ({"cron": "0 9 ? * MON-FRI *"}, []),
    ({}, [("exactly_one", "", "error")]),
    ({"rate": "15m", "cron": "0 9 * * *"}, [("exactly_one", "", "error")]),
    ({"rate": "1h", "timezone": "Europe/Atlantis"}, [("unknown_timezone", ".timezone", "error")]),
])
def test_a_schedule_has_one_rhythm_in_a_zone_that_exists(params: dict[str, Any], found: list[Any], findings: Any) -> None:
    assert findings("schedule", **params) == found


@pytest.mark.parametrize("params", [
    {"rate": "30s"}, {"rate": "0m"}, {"rate": "90s"}, {"rate": "soon"}, {"cron": "0 9 * *"}, {"cron": "0 9 * * ; rm"},
    {"rate": "1h", "timezone": "../etc/passwd"},
])
def test_a_rhythm_that_no_clock_can_keep_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KINDS["schedule"].params.model_validate(params)


def test_an_event_without_a_pattern_would_match_all_and_is_refused() -> None:
    with pytest.raises(ValidationError):
        KINDS["event"].params.model_validate({"pattern": {}})
