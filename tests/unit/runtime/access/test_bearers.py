"""Claims as identity providers send them, and as API Gateway passes them on, mapped to roles."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from stepless.errors import ConfigError, Forbidden
from stepless.limits import BEARER_SKEW_MS, MAX_BEARER_CHARACTERS, MAX_CLAIM_DOTS, MAX_CLAIM_NAMES
from stepless.runtime.access.bearers import BearerRoles
from stepless.runtime.access.roles import ALL_ROLES, Role

ISSUER, AUDIENCE = "https://issuer.example/pool", "stepless"
NOW_S = 1_700_000_000
STANDARD = {"iss": ISSUER, "aud": AUDIENCE, "sub": "u-1", "exp": NOW_S + 300, "nbf": NOW_S - 300}
MAPPED = "ops=admin,support=run,support=approve,auditors=read"


def token(claims: Any) -> str:
    """A token of these claims. Its signature is the gateway's business."""
    parts = ({"alg": "RS256", "kid": "k1"}, claims)
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + ".c2lnbmF0dXJl"


def text(value: Any) -> str:
    """A claim as API Gateway passes it on."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{' '.join(map(text, value))}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{text(inner)}' for name, inner in value.items())}]"
    return json.dumps(value)


def roles(claims: dict[str, Any], claim: str = "groups", mapped: str = MAPPED, now_ms: int = NOW_S * 1000) -> frozenset[Role]:
    """The roles of a token with these claims beside the standard ones."""
    sent = {name: value for name, value in {**STANDARD, **claims}.items() if value is not ...}
    authorizer = {"jwt": {"claims": {name: text(value) for name, value in sent.items()}, "scopes": None}}
    return BearerRoles(ISSUER, AUDIENCE, claim, mapped)(authorizer, [f"Bearer {token(sent)}"], now_ms)


SUPPORT = frozenset({Role.READ, Role.RUN, Role.SEND, Role.APPROVE})


@pytest.mark.parametrize(
    ("claim", "claims", "found"),
    [
        ("cognito:groups", {"cognito:groups": ["ops", "dev"]}, ALL_ROLES),
        ("cognito:groups", {"cognito:groups": ["dev", "support"]}, SUPPORT),
        ("roles", {"roles": ["auditors"]}, {Role.READ}),
        ("roles", {"roles": "auditors"}, {Role.READ}),
        ("https://shop.example/roles", {"https://shop.example/roles": ["support"]}, SUPPORT),
        ("realm_access.roles", {"realm_access": {"roles": ["offline_access", "ops"]}}, ALL_ROLES),
        ("resource_access.my.client.roles", {"resource_access": {"my.client": {"roles": ["ops"]}}}, ALL_ROLES),
        ("a.b", {"a.b": ["auditors"], "a": {"b": ["ops"]}}, {Role.READ}),  # the claim of that name before the path
        ("scope", {"scope": "openid auditors"}, {Role.READ}),
        ("scp", {"scp": "profile support"}, SUPPORT),
        ("scp", {"scp": ["profile", "support"]}, SUPPORT),
        ("groups,scope", {"scope": "auditors"}, {Role.READ}),
        ("groups, scope", {"groups": ["auditors"], "scope": "support"}, SUPPORT),
        ("groups,scope", {"groups": 7, "scope": "auditors"}, {Role.READ}),
    ],
)
def test_groups_are_found_where_providers_put_them(claim: str, claims: dict[str, Any], found: frozenset[Role]) -> None:
    assert roles(claims, claim) == found


@pytest.mark.parametrize("name", ["Ops Team", "/admins", "read:runs", "a;b", "Zoë's", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"])
def test_names_of_groups_are_any_text_without_commas_and_equals_signs(name: str) -> None:
    for value in ([name, "other"], name):
        assert roles({"groups": value}, mapped=f"{name}=run") == {Role.READ, Role.RUN, Role.SEND}
    assert roles({"in": {"groups": [name]}}, "in.groups", mapped=f"{name}=run") == {Role.READ, Role.RUN, Role.SEND}


@pytest.mark.parametrize(
    "groups",
    [
        ["not ops"],
        ["ops x"],
        ["ops,support"],
        ["ops] [support"],
        "[ops support]",
        "[ops]",
        "ops support",
        "ops,support",
        '["ops"]',
        ["devops"],
        ["ops2"],
        ["OPS"],
        [" ops"],
        ["ops "],
        ["ops\n"],
        ["ops\u0000"],
        ["o\u200bps"],
        ["ops=admin"],
        ["admin"],
        [""],
        "",
        [],
        True,
        1,
        None,
        {"ops": True},
        ["ops", 1],
        ["ops", None],
        ["ops", ["support"]],
        [["ops"]],
        {"roles": ["ops"]},
        ...,
    ],
)
def test_what_is_not_exactly_a_group_of_the_mapping_gives_no_role(groups: Any) -> None:
    with pytest.raises(Forbidden) as refused:
        roles({"groups": groups})
    assert (refused.value.http_status, refused.value.code, refused.value.place) == (403, "no_role", "groups")
    assert "JwtRoles" in refused.value.mend


def test_the_refusal_says_what_is_wrong_with_the_claim() -> None:
    for groups, part in ((..., "claim groups is missing"), (7, "neither a text nor a list"), (["dev"], "no name in")):
        with pytest.raises(Forbidden, match=part):
            roles({"groups": groups})
    with pytest.raises(Forbidden, match="JwtRolesClaim is not set"):
        roles({"groups": ["ops"]}, claim="")
    with pytest.raises(Forbidden, match="no name in"):
        roles({"groups": ["ops"]}, mapped="")


@pytest.mark.parametrize(
    ("claims", "part"),
    [
        ({"iss": "https://evil.example"}, "issuer"),
        ({"iss": f"{ISSUER}2"}, "issuer"),
        ({"iss": ...}, "issuer"),
        ({"aud": "another"}, "audience"),
        ({"aud": ["another", "stepless2"]}, "audience"),
        ({"aud": "stepless another"}, "audience"),
        ({"aud": ...}, "audience"),
        ({"aud": "another", "client_id": AUDIENCE}, "audience"),
        ({"aud": 7}, "audience"),
        ({"exp": ...}, "until when"),
        ({"exp": "never"}, "until when"),
        ({"exp": True}, "until when"),
        ({"exp": [NOW_S + 300]}, "until when"),
        ({"exp": NOW_S - BEARER_SKEW_MS // 1000}, "expired"),
        ({"nbf": NOW_S + BEARER_SKEW_MS // 1000 + 1}, "not valid yet"),
        ({"nbf": "soon"}, "until when"),
    ],
)
def test_a_token_for_another_deployment_or_time_is_refused_here_too(claims: dict[str, Any], part: str) -> None:
    with pytest.raises(Forbidden, match=part) as refused:
        roles({"groups": ["ops"], **claims})
    assert (refused.value.http_status, refused.value.code) == (401, "unauthorized")


@pytest.mark.parametrize("claims", [{"aud": [AUDIENCE, "userinfo"]}, {"aud": ..., "client_id": AUDIENCE}, {"nbf": ...}])
def test_what_providers_vary_is_accepted(claims: dict[str, Any]) -> None:
    assert roles({"groups": ["ops"], **claims}) == ALL_ROLES


def asked(authorizer: Any, headers: list[str], claim: str = "groups") -> frozenset[Role]:
    return BearerRoles(ISSUER, AUDIENCE, claim, MAPPED)(authorizer, headers, NOW_S * 1000)


def verified(**claims: Any) -> dict[str, Any]:
    return {"jwt": {"claims": {name: text(value) for name, value in {**STANDARD, **claims}.items()}}}


GENUINE = token({**STANDARD, "groups": ["not ops"]})
FORGED = token({**STANDARD, "groups": ["not", "ops"]})


@pytest.mark.parametrize(
    "headers",
    [
        [f"Bearer {GENUINE}", f"Bearer {FORGED}"],
        [f"Bearer {FORGED}", f"Bearer {FORGED}"],
        [f"Bearer {GENUINE},Bearer {FORGED}"],
        [f"Bearer {GENUINE}, {FORGED}"],
        [f"Bearer {GENUINE} {FORGED}"],
        ["Bearer"],
        [""],
        ["Bearer a.b"],
        ["Bearer a.b.c.d"],
        ["Bearer a.b.c"],
        ["Bearer .e30."],
        ["Basic dTpw"],
        [f"Basic {FORGED}"],
        [f"Bearer {FORGED[:-15]}"],
        [f"Bearer {token([])}"],
        [f"Bearer {token('ops')}"],
        [f"Bearer a.{'W' * 9_000}.c"],
        [f"Bearer a.{urlsafe_b64encode(b'[' * 9_000).decode()}.c"],
        [f"Bearer a.{urlsafe_b64encode(bytes(range(256))).decode().rstrip('=')}.c"],
        [f"Bearer {token({**STANDARD, 'groups': ['ops'], 'x': 'y' * MAX_BEARER_CHARACTERS})}"],
    ],
)
def test_anything_but_one_token_is_refused(headers: list[str]) -> None:
    with pytest.raises(Forbidden) as refused:
        asked(verified(groups=["not ops"]), headers)
    assert (refused.value.http_status, refused.value.code) == (401, "unauthorized")


@pytest.mark.parametrize("changed", [{"iss": "https://evil.example"}, {"sub": "u-2"}, {"sub": ...}, {"jti": "2"}])
def test_a_token_that_the_gateway_has_not_verified_is_refused(changed: dict[str, Any]) -> None:
    other = {name: value for name, value in {**STANDARD, "groups": ["ops"], **changed}.items() if value is not ...}
    with pytest.raises(Forbidden, match="not the one that the gateway has verified"):
        asked(verified(groups=["ops"]), [f"Bearer {token(other)}"])


def test_a_group_counts_only_if_the_gateway_has_seen_it() -> None:
    with pytest.raises(Forbidden, match="no name in"):
        asked(verified(groups=["dev"]), [f"Bearer {token({**STANDARD, 'groups': ['dev', 'ops']})}"])


@pytest.mark.parametrize("prefix", ["Bearer ", "bearer ", "BEARER  ", ""])
def test_the_header_is_read_as_the_gateway_reads_it(prefix: str) -> None:
    assert asked(verified(groups=["ops"]), [f"{prefix}{token({**STANDARD, 'groups': ['ops']})}"]) == ALL_ROLES


@pytest.mark.parametrize("authorizer", [{}, *({"jwt": said} for said in (None, {}, {"claims": {}}, {"claims": 7})), {"iam": {}}])
def test_without_an_authorizer_a_token_opens_nothing(authorizer: dict[str, Any]) -> None:
    for headers in ([], [f"Bearer {FORGED}"]):
        with pytest.raises(Forbidden, match="has not authenticated"):
            asked(authorizer, headers)


@pytest.mark.parametrize(
    ("claim", "said", "found"),
    [
        ("cognito:groups", "[dev ops]", ALL_ROLES),
        ("cognito:groups", "[auditors]", {Role.READ}),
        ("scope", "openid auditors", {Role.READ}),
        ("groups", "[ops]", ALL_ROLES),
        ("groups", "ops", ALL_ROLES),
        ("groups", "[not ops]", None),  # one group or two
        ("groups", "not ops", None),
        ("in.groups", "[ops]", None),
    ],
)
def test_where_the_header_does_not_arrive_only_texts_of_one_meaning_count(claim: str, said: str, found: Any) -> None:
    authorizer = verified(**{claim.partition(".")[0]: said})
    if found is not None:
        assert asked(authorizer, [], claim) == found
        return
    with pytest.raises(Forbidden) as refused:
        asked(authorizer, [], claim)
    assert refused.value.code == "no_role"


MALFORMED_ROLES = [
    "ops", "ops=", "=admin", "ops=Admin", "ops=superuser", "ops=admin,", ",ops=admin", "ops=admin,,dev=read", "*=admin",
    "op*=admin", "ops=admin;dev=read", "ops=admin dev=read", "ops=x=admin", "op\ns=admin", "ops=admin\n",
]  # fmt: skip
MALFORMED_CLAIMS = ["a b", "a,,b", ",a", "a,", "a\n", ".".join("x" * (MAX_CLAIM_DOTS + 2)), ",".join("x" * (MAX_CLAIM_NAMES + 1))]


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        *(((ISSUER, AUDIENCE, "groups", text), "JwtRoles") for text in MALFORMED_ROLES),
        *(((ISSUER, AUDIENCE, text, MAPPED), "JwtRolesClaim") for text in MALFORMED_CLAIMS),
        (("", AUDIENCE, "groups", MAPPED), "JwtIssuer"),
        ((ISSUER, " , ", "groups", MAPPED), "JwtAudience"),
    ],
)
def test_a_malformed_setting_is_refused_whole(settings: tuple[str, str, str, str], place: str) -> None:
    with pytest.raises(ConfigError) as refused:
        BearerRoles(*settings)
    assert (refused.value.code, refused.value.place) == ("invalid_roles", place)
    assert refused.value.mend
