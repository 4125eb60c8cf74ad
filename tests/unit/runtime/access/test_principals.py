"""Patterns of principals: what fits, what only looks like it, and what is refused as a pattern."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import ConfigError, Forbidden
from stepless.limits import MAX_GRANTS
from stepless.runtime.access.principals import PrincipalRoles
from stepless.runtime.access.roles import ALL_ROLES, Role

IAM = "arn:aws:iam::123456789012"
STS = "arn:aws:sts::123456789012"


def roles(setting: str, arn: Any) -> frozenset[Role]:
    return PrincipalRoles(setting)({"iam": {"userArn": arn}}, [], 0)


@pytest.mark.parametrize(
    ("pattern", "arn"),
    [
        (f"{IAM}:role/ops", f"{STS}:assumed-role/ops/ada"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/ops/i-0123456789abcdef0"),
        (f"{IAM}:role/team/blue/ops", f"{STS}:assumed-role/ops/ada"),
        (f"{IAM}:role/AWSReservedSSO_Admin_*", f"{STS}:assumed-role/AWSReservedSSO_Admin_0a1b2c3d4e5f6789/ada@example.com"),
        (f"{IAM}:role/*-ci-*", f"{STS}:assumed-role/shop-ci-deploy/github"),
        (f"{IAM}:role/*", f"{STS}:assumed-role/anything/ada"),
        (f"{STS}:assumed-role/ops/*", f"{STS}:assumed-role/ops/ada"),
        (f"{STS}:assumed-role/ops/ada", f"{STS}:assumed-role/ops/ada"),
        (f"{STS}:assumed-role/ops-*/*", f"{STS}:assumed-role/ops-blue/ada"),
        (f"{STS}:federated-user/ada", f"{STS}:federated-user/ada"),
        (f"{IAM}:user/ada", f"{IAM}:user/ada"),
        (f"{IAM}:user/ops/*", f"{IAM}:user/ops/ada"),
        (f"{IAM}:user/with=equals", f"{IAM}:user/with=equals"),
        (f"{IAM}:root", f"{IAM}:root"),
        ("arn:aws-us-gov:iam::123456789012:role/ops", "arn:aws-us-gov:sts::123456789012:assumed-role/ops/ada"),
    ],
)
def test_a_pattern_gives_its_role_to_the_principals_that_fit(pattern: str, arn: str) -> None:
    assert roles(f"{pattern}=run", arn) == {Role.RUN, Role.SEND, Role.READ}
    assert roles(f" {pattern} = admin ", arn) == ALL_ROLES


@pytest.mark.parametrize(
    ("pattern", "arn"),
    [
        (f"{IAM}:role/ops", f"{STS}:assumed-role/ops-evil/ada"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/evil-ops/ada"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/OPS/ada"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/evil/ops"),
        (f"{IAM}:role/ops", f"{IAM}:user/ops"),
        (f"{IAM}:role/ops", f"{STS}:federated-user/ops"),
        (f"{IAM}:role/ops", f"{IAM}:role/ops"),  # never a caller: who assumes a role arrives as a session
        (f"{IAM}:role/ops", "arn:aws:sts::210987654321:assumed-role/ops/ada"),
        (f"{IAM}:role/ops", "arn:aws-cn:sts::123456789012:assumed-role/ops/ada"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/ops"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/ops/"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/ops/ada/more"),
        (f"{IAM}:role/ops", f"x{STS}:assumed-role/ops/ada"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/ops/ada\n"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/ops/ada,{STS}:assumed-role/ops/ada"),
        (f"{IAM}:role/ops", f"{STS}:assumed-role/оps/ada"),  # a Cyrillic letter
        (f"{IAM}:role/*", f"{IAM}:user/ada"),
        (f"{IAM}:role/*", f"{IAM}:root"),
        (f"{STS}:assumed-role/ops/ada", f"{STS}:assumed-role/ops/ada2"),
        (f"{IAM}:user/ops/*", f"{IAM}:user/ops/blue/ada"),
        (f"{IAM}:user/ops/*", f"{IAM}:user/ops"),
        (f"{IAM}:user/a*a", f"{IAM}:user/a"),
        (f"{IAM}:user/*", "*"),
        (f"{IAM}:root", f"{IAM}:user/root"),
    ],
)
def test_what_only_looks_like_a_principal_has_no_role(pattern: str, arn: str) -> None:
    with pytest.raises(Forbidden) as refused:
        roles(f"{pattern}=admin", arn)
    assert (refused.value.http_status, refused.value.code, refused.value.place) == (403, "no_role", arn)
    assert "IamRoles" in refused.value.mend


def test_without_patterns_no_principal_has_a_role() -> None:
    with pytest.raises(Forbidden, match="no role is given"):
        roles("", f"{IAM}:root")


def test_several_patterns_add_up() -> None:
    setting = f"{IAM}:role/*=read, {IAM}:role/ops=run,{STS}:assumed-role/ops/ada=approve"
    assert roles(setting, f"{STS}:assumed-role/ops/ada") == {Role.READ, Role.RUN, Role.SEND, Role.APPROVE}
    assert roles(setting, f"{STS}:assumed-role/ops/eve") == {Role.READ, Role.RUN, Role.SEND}
    assert roles(setting, f"{STS}:assumed-role/dev/eve") == {Role.READ}


@pytest.mark.parametrize(
    "authorizer",
    [
        {},
        {"iam": None},
        {"iam": {}},
        {"iam": {"userArn": None}},
        {"iam": {"userArn": ""}},
        {"iam": {"userArn": [f"{IAM}:root"]}},
        {"iam": f"{IAM}:root"},
        {"jwt": {"claims": {"userArn": f"{IAM}:root"}}},
        {"lambda": {"userArn": f"{IAM}:root"}},
    ],
)
def test_whom_the_gateway_does_not_name_is_not_authenticated(authorizer: dict[str, Any]) -> None:
    with pytest.raises(Forbidden) as refused:
        PrincipalRoles(f"{IAM}:root=admin")(authorizer, [], 0)
    assert (refused.value.http_status, refused.value.code) == (401, "unauthorized")


MALFORMED = [
    "*=admin",
    "arn:aws:iam::*:role/ops=admin",
    "arn:aws:iam::12345678901:role/ops=admin",
    "arn:*:iam::123456789012:role/ops=admin",
    f"{IAM}:*=admin",
    f"{IAM}:role=admin",
    f"{IAM}:role/=admin",
    f"{IAM}:role/team/*=admin",  # would mean every role: requests do not show paths
    f"{IAM}:role/*/ops=admin",
    f"{IAM}:group/ops=admin",
    f"{STS}:assumed-role/*/ada=admin",  # any role of the account may have a session of that name
    f"{STS}:assumed-role/ops=admin",
    f"{STS}:assumed-role/ops/ada/more=admin",
    f"{STS}:role/ops=admin",
    f"{IAM}:assumed-role/ops/ada=admin",
    f"{IAM}:root/x=admin",
    f"{IAM}:role/ops=Admin",
    f"{IAM}:role/ops=administrator",
    f"{IAM}:role/ops=",
    f"{IAM}:role/ops",
    "=admin",
    "ops=admin",
    f"{IAM}:role/ops=admin,",
    f",{IAM}:role/ops=admin",
    f"{IAM}:role/ops=admin;{IAM}:role/dev=read",
    f"{IAM}:role/ops=admin {IAM}:role/dev=read",
    f"{IAM}:role/ops=admin\n",
]


@pytest.mark.parametrize("setting", MALFORMED)
def test_a_malformed_setting_is_refused_whole(setting: str) -> None:
    with pytest.raises(ConfigError) as refused:
        PrincipalRoles(setting)
    assert (refused.value.code, refused.value.place) == ("invalid_roles", "IamRoles")
    assert refused.value.mend


def test_the_number_of_entries_is_bounded() -> None:
    entries = [f"{IAM}:user/u{number}=read" for number in range(MAX_GRANTS)]
    assert roles(",".join(entries), f"{IAM}:user/u7") == {Role.READ}
    with pytest.raises(ConfigError, match=f"{MAX_GRANTS + 1} entries"):
        PrincipalRoles(",".join([*entries, f"{IAM}:root=read"]))


def test_a_pattern_of_many_wildcards_is_matched_in_linear_time() -> None:
    """With backtracking this would not end."""
    with pytest.raises(Forbidden):
        roles(f"{IAM}:user/{'a*' * 200}b=admin", f"{IAM}:user/{'a' * 5_000}")
