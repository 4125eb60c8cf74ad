"""What `make deploy` says for each parameter: decided without AWS."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from local_cloud import ROOT

VALUES = runpy.run_path(str(ROOT / "layers/deploy/values.py"))
DECLARED: dict[str, dict[str, Any]] = {
    "Auth": {"Default": "api-key"},
    "ApiKeyHashes": {"Default": "", "NoEcho": True},
    "JwtIssuer": {"Default": ""},
    "JwtAudience": {"Default": ""},
    "RunnerTimeout": {"Default": 120},
    "QueueVisibility": {"Default": ""},
    "SecretsSource": {},
    "RestoredTable": {},
}
HASH = f"sha256:{'a' * 64}"
DATA = {"SecretsSource": "ssm", "RestoredTable": ""}


def decide(given: dict[str, str], recorded: dict[str, str], stack: dict[str, str] | None) -> Any:
    return VALUES["decide"](DECLARED, given, recorded, stack)


@pytest.mark.parametrize("auth", ["api-key", "iam", "jwt"])
def test_there_are_six_questions_at_most(auth: str) -> None:
    known: dict[str, str] = {}
    while (name := VALUES["next_question"](known)) is not None:
        known[name] = auth if name == "Auth" else ""
    assert len([*known, "deploy?"]) <= 6


def test_a_first_deployment_says_what_has_no_default_and_records_no_hash() -> None:
    decided = decide({"ApiKeyHashes": HASH}, {}, None)
    assert decided.sent == {"ApiKeyHashes": HASH, **DATA}
    assert decided.recorded == DATA


@pytest.mark.parametrize(
    ("given", "recorded", "value"),
    [
        ({}, {}, "300"),  # of the stack
        ({}, {"RunnerTimeout": "200"}, "200"),
        ({"RunnerTimeout": "100"}, {"RunnerTimeout": "200"}, "100"),
        ({"RunnerTimeout": ""}, {"RunnerTimeout": "200"}, "120"),
    ],
)
def test_what_is_given_goes_before_the_file_and_the_file_before_the_stack(
    given: dict[str, str], recorded: dict[str, str], value: str
) -> None:
    decided = decide(given, recorded, {"RunnerTimeout": "300", "ApiKeyHashes": "****", **DATA})
    assert decided.sent["RunnerTimeout"] == value
    assert decided.recorded.get("RunnerTimeout", "120") == value
    assert "ApiKeyHashes" not in decided.sent  # CloudFormation keeps it


def test_where_data_is_kept_is_the_stacks_until_another_is_given() -> None:
    stack = {**DATA, "RestoredTable": "restored"}
    assert decide({}, {}, stack).sent["RestoredTable"] == "restored"
    assert decide({"RestoredTable": ""}, {"RestoredTable": "restored"}, stack).sent["RestoredTable"] == ""
    with pytest.raises(VALUES["Refused"], match="RestoredTable='', the stack has 'restored'"):
        decide({}, {"RestoredTable": ""}, stack)


def test_a_hash_that_the_file_holds_is_kept_in_step() -> None:
    other = HASH.replace("a" * 64, "b" * 64)
    assert decide({"ApiKeyHashes": other}, {"ApiKeyHashes": HASH}, DATA).recorded["ApiKeyHashes"] == other
