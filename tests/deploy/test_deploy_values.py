"""What `make deploy` says for each parameter: decided without AWS."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from local_cloud import ROOT

VALUES = runpy.run_path(str(ROOT / "infrastructure/deploy/values.py"))
FINGERPRINT = runpy.run_path(str(ROOT / "infrastructure/deploy/fingerprint.py"))["fingerprint"]
RECORDED = """
[default.deploy.parameters]
stack_name = "a"
[default.deploy.parameters.parameter_overrides]
LogLevel = "INFO"
"""
DECLARED: dict[str, dict[str, Any]] = {
    "Auth": {"Default": "api-key"},
    "ApiKeyHashes": {"Default": "", "NoEcho": True},
    "JwtIssuer": {"Default": ""},
    "JwtAudience": {"Default": ""},
    "JwtRolesClaim": {"Default": "", "AllowedPattern": "[^ ]*"},
    "IamRoles": {"Default": "", "AllowedPattern": "(arn:[^=]+=(run|admin))?"},
    "RunnerTimeout": {"Default": 120},
    "QueueVisibility": {"Default": ""},
    "Release": {"Default": ""},
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


def test_the_issuer_is_not_asked_for_where_the_stack_makes_a_user_pool() -> None:
    known = {"Auth": "jwt", "Console": "yes", "WithCognito": "yes"}
    assert VALUES["next_question"](known) == "FunctionModules"
    assert VALUES["next_question"](known | {"WithCognito": "no"}) == "JwtIssuer"


def test_a_user_pool_stands_for_an_issuer(template: dict[str, Any]) -> None:
    given = {"Auth": "jwt", "Console": "yes", "WithCognito": "yes"}
    decided = VALUES["decide"](template["Parameters"], given, {}, None)
    assert given.items() <= decided.recorded.items() and not {"JwtIssuer", "JwtAudience"} & set(decided.recorded)


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


def released(given: dict[str, str], stack: dict[str, str] | None, template: str = "t", mark: str = "m1") -> str:
    decided = decide(given, {}, stack)
    return str(VALUES["release"](template, DECLARED, given, decided.sent, stack, mark))


def test_a_release_changes_with_the_template_and_with_every_parameter_and_else_not() -> None:
    """What is published is a version of each function: without another one, changed parameters would have no effect."""
    first = released({"ApiKeyHashes": HASH}, None)
    stack = {**DATA, "RunnerTimeout": "120", "ApiKeyHashes": "****", "Release": first}
    assert released({}, stack, mark="m2") == released({"RunnerTimeout": "120"}, stack, mark="m2") == first
    assert first.endswith("-m1") and re.fullmatch("[a-z0-9-]{0,64}", first)
    others = [
        released({"RunnerTimeout": "300"}, stack),
        released({"RestoredTable": "restored"}, stack),
        released({}, stack, template="another"),
        released({"ApiKeyHashes": HASH}, stack, mark="m2"),
    ]
    assert len({first, *others}) == len(others) + 1


def test_a_stack_of_a_release_before_versions_gets_one() -> None:
    assert released({}, {**DATA, "ApiKeyHashes": "****"}) != released({}, {**DATA, "ApiKeyHashes": "****"}, mark="m2")


def test_a_release_is_not_given() -> None:
    with pytest.raises(VALUES["Refused"], match="Release is not given"):
        decide({"Release": "mine"}, {}, DATA)


JWT = {"Auth": "jwt", "JwtIssuer": "https://issuer.example", "JwtAudience": "a"}


@pytest.mark.parametrize(
    ("given", "part"),
    [
        (JWT, "without JwtRolesClaim gives no caller a role"),
        ({"Auth": "iam"}, "without IamRoles gives no caller a role"),
        ({"Auth": "iam", "IamRoles": "ops=admin"}, "IamRoles=ops=admin is malformed"),
        ({**JWT, "JwtRolesClaim": "a b"}, "JwtRolesClaim=a b is malformed"),
    ],
)
@pytest.mark.parametrize(
    "stack",
    [None, {**DATA, "Auth": "api-key", "JwtRolesClaim": "", "IamRoles": ""}, {**DATA, **JWT}, {**DATA, "Auth": "iam"}],
)
def test_a_deployment_that_would_lock_everyone_out_is_refused(
    given: dict[str, str], part: str, stack: dict[str, str] | None
) -> None:
    """The last two stacks were made by a release without roles, where every caller was an admin."""
    with pytest.raises(VALUES["Refused"], match=part):
        decide(given, {}, stack)


@pytest.mark.parametrize(
    ("given", "recorded", "stack", "tags"),
    [
        ({}, {}, {}, {}),
        ({"team": "flows"}, {}, {}, {"team": "flows"}),
        ({}, {"team": "a"}, {"team": "b", "env": "prod"}, {"env": "prod", "team": "a"}),
        ({"team": "c"}, {"team": "a"}, {"team": "b"}, {"team": "c"}),
        ({"team": ""}, {"team": "a", "env": "prod"}, {"team": "b"}, {"env": "prod"}),
        ({"gone": ""}, {}, {}, {}),
        ({"n" * 128: "v" * 256}, {}, {}, {"n" * 128: "v" * 256}),
    ],
)
def test_tags_are_kept_until_they_are_given_as_empty(
    given: dict[str, str], recorded: dict[str, str], stack: dict[str, str], tags: dict[str, str]
) -> None:
    assert VALUES["decide_tags"](given, recorded, stack) == tags


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"aws:team": "a"}, "not beginning with aws:"),
        ({"AWS:team": ""}, "not beginning with aws:"),
        ({"": "a"}, "is malformed"),
        ({"n" * 129: "a"}, "1 to 128"),
        ({"team": "a b"}, "value of the tag team"),
        ({"team": "v" * 257}, "1 to 256"),
        ({"te am": "a"}, "is malformed"),
        ({f"t{number}": "a" for number in range(41)}, "41 tags are too many"),
    ],
)
def test_tags_that_aws_would_refuse_are_refused(given: dict[str, str], part: str) -> None:
    with pytest.raises(VALUES["Refused"], match=part):
        VALUES["decide_tags"](given, {}, {})


def test_roles_are_kept_once_they_are_given_and_none_can_be_meant() -> None:
    assert decide({}, {}, {**DATA, **JWT, "JwtRolesClaim": "groups"}).sent["JwtRolesClaim"] == "groups"
    assert decide({}, {"JwtRolesClaim": "groups"}, {**DATA, **JWT, "JwtRolesClaim": "old"}).sent["JwtRolesClaim"] == "groups"
    assert decide({**JWT, "JwtRolesClaim": ""}, {}, DATA).sent["JwtRolesClaim"] == ""
    assert decide({}, {}, {**DATA, **JWT, "JwtRolesClaim": ""}).sent["JwtRolesClaim"] == ""
    assert decide({"Auth": "iam", "IamRoles": "arn:x=admin"}, {}, DATA).recorded["IamRoles"] == "arn:x=admin"


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"RunnerTimeout": "300", "QueueVisibility": "299"}, "shorter than RunnerTimeout"),
        ({"RunnerTimeout": "60", "QueueVisibility": "40"}, "shorter than RunnerTimeout"),
        ({"Auth": "jwt"}, "needs JwtIssuer and JwtAudience"),
        ({"Auth": "jwt", "WithCognito": "yes", "PublicUrl": "http://flows.example"}, "it begins with https://"),
        ({"Auth": "iam"}, "without IamRoles gives no caller a role"),
        ({"Auth": "iam", "IamRoles": "*=admin"}, r"IamRoles=\*=admin is malformed"),
        ({"JwtIssuer": "http://issuer.example"}, "JwtIssuer=http://issuer.example is malformed"),
        ({"ApiKeyHashes": "not-a-hash"}, "64 hex digits"),
        ({"RunnerMemoy": "512"}, "RunnerMemoy is not a parameter"),
    ],
)
def test_what_cannot_go_well_with_the_template_is_refused(template: dict[str, Any], given: dict[str, str], part: str) -> None:
    stack = {"Auth": "api-key", "ApiKeyHashes": "****", "RunnerTimeout": "120", **DATA}
    with pytest.raises(VALUES["Refused"], match=part):
        VALUES["decide"](template["Parameters"], given, {}, stack)



@pytest.mark.parametrize(
    ("former", "later", "differ"),
    [
        ("INFO", "DEBUG", True),
        ('LogLevel = "INFO"', 'LogLevel = "INFO"\nRetention = "90d"', True),
        ('stack_name = "a"', 'stack_name = "a"\nregion = "eu-central-1"', False),
        ("\n[default", "\n# a comment\n[default", False),
    ],
)
def test_what_is_built_changes_with_the_parameters_and_with_nothing_else(
    tmp_path: Path, former: str, later: str, differ: bool
) -> None:
    files = (tmp_path / "one.toml", tmp_path / "other.toml")
    files[0].write_text(RECORDED)
    files[1].write_text(RECORDED.replace(former, later))
    assert files[0].read_text() != files[1].read_text()
    assert (FINGERPRINT(files[0]) != FINGERPRINT(files[1])) is differ


def test_a_file_that_is_not_there_has_no_parameters(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("version = 0.1\n")
    assert FINGERPRINT(tmp_path / "none.toml") == FINGERPRINT(empty)
