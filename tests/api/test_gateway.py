"""The API behind a gateway that authenticates the callers: their roles are what the gateway's settings give, and nothing else."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest

from stepless.api.guards.auth import hashed
from stepless.runtime.access.gateways import gateway

pytestmark = pytest.mark.anyio

ARN = "arn:aws:sts::123456789012:assumed-role"
IAM = {"STEPLESS_IAM_ROLES": "arn:aws:iam::123456789012:role/ops=admin,arn:aws:iam::123456789012:role/dev=read"}
JWT = {
    "STEPLESS_JWT_ISSUER": "https://issuer.example",
    "STEPLESS_JWT_AUDIENCE": "stepless",
    "STEPLESS_JWT_ROLES_CLAIM": "cognito:groups",
    "STEPLESS_JWT_ROLES": "ops=admin",
}
CLAIMS = {"iss": "https://issuer.example", "aud": "stepless", "exp": "4e+09", "cognito:groups": "[dev ops]"}
OPEN = {"/hooks/{path}", "/resume/{token}", "/runs/{run_id}/view", "/health", "/console/settings"}


def chosen(auth: str, **settings: str) -> Any:
    return gateway(auth, settings.get)


def behind(app: Any, authorizer: Any = None, **headers: str) -> httpx.AsyncClient:
    """A client whose requests arrive as from the gateway, with what its authorizer says."""

    async def arrive(scope: Any, receive: Any, send: Any) -> None:
        context = {} if authorizer is None else {"authorizer": authorizer}
        await app({**scope, "aws.event": {"version": "2.0", "requestContext": context}}, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(arrive), base_url="http://test", headers=headers)


def session(role: str) -> dict[str, Any]:
    return {"iam": {"userArn": f"{ARN}/{role}/ada", "accountId": "123456789012"}}


async def test_a_caller_may_do_what_its_role_allows(make_door: Any) -> None:
    door = await make_door(gateway=chosen("iam", **IAM))
    found = {}
    for role in ("ops", "dev", "ops-evil"):
        async with behind(door.app, session(role)) as client:
            answers = [await client.put("/workflows/echo", json=door.ECHO), await client.get("/runs"), await client.get("/keys")]
            found[role] = [answer.status_code for answer in answers]
            refused = [answer.json()["code"] for answer in answers if answer.status_code == 403]
            assert refused == {"ops": [], "dev": ["role_missing"] * 2, "ops-evil": ["no_role"] * 3}[role]
    assert found == {"ops": [201, 200, 200], "dev": [403, 200, 403], "ops-evil": [403, 403, 403]}


@pytest.mark.parametrize(("auth", "settings"), [("iam", IAM), ("jwt", JWT)])
async def test_every_route_but_the_public_ones_wants_a_caller_that_the_gateway_names(
    make_door: Any, auth: str, settings: dict[str, str]
) -> None:
    door = await make_door(gateway=chosen(auth, **settings), api_keys=[door_key := "key-of-the-configuration"])
    other = {"iam": {"jwt": {"claims": CLAIMS}}, "jwt": session("ops")}[auth]
    for authorizer in (None, {}, other, {"lambda": {}}, "admin", ["iam"]):
        for key in ("", door_key, hashed(door_key)):
            async with behind(door.app, authorizer, **({"authorization": f"Bearer {key}"} if key else {})) as client:
                for path, operations in door.app.openapi()["paths"].items():
                    for method in operations if path not in OPEN else ():
                        answer = await client.request(method, path.replace("{number}", "1"))
                        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized"), (method, path)
                for path in ("/health", "/docs", "/openapi.json"):
                    assert (await client.get(path)).status_code == 200
                assert (await client.get("/runs/run_x/view")).status_code == 307


async def test_no_header_of_a_request_says_who_calls(make_door: Any) -> None:
    door = await make_door(gateway=chosen("iam", **IAM))
    named = {"x-amzn-iam-user-arn": f"{ARN}/ops/ada", "aws.event": "{}", "x-amz-authorizer": str(session("ops"))}
    for app in (door.app, None):
        client = httpx.AsyncClient(transport=httpx.ASGITransport(door.app), base_url="http://test") if app else behind(door.app)
        async with client:
            assert (await client.get("/runs", headers=named)).status_code == 401


async def test_claims_that_the_gateway_passes_on_give_roles(make_door: Any) -> None:
    door = await make_door(gateway=chosen("jwt", **JWT))
    async with behind(door.app, {"jwt": {"claims": CLAIMS, "scopes": None}}) as client:
        assert (await client.put("/workflows/echo", json=door.ECHO)).status_code == 201
    async with behind(door.app, {"jwt": {"claims": {**CLAIMS, "cognito:groups": "[dev devops]"}}}) as client:
        answer = await client.get("/runs")
    assert (answer.status_code, answer.json()["code"], answer.json()["place"]) == (403, "no_role", "cognito:groups")


async def test_the_person_of_a_token_reads_their_name_and_when_it_ends(make_door: Any) -> None:
    door = await make_door(gateway=chosen("jwt", **JWT))
    claims = {**CLAIMS, "sub": "8f3a", "email": "ada@example.com"}
    async with behind(door.app, {"jwt": {"claims": claims}}) as client:
        answer = (await client.get("/me")).json()
    assert (answer["caller"], answer["ends_at"]) == ("jwt 8f3a ada@example.com", "2096-10-02T07:06:40.000Z")


async def test_tokens_expire_by_the_clock_of_the_engine(make_door: Any) -> None:
    door = await make_door(gateway=chosen("jwt", **JWT))
    async with behind(door.app, {"jwt": {"claims": {**CLAIMS, "exp": "1000000000"}}}) as client:
        assert (await client.get("/runs")).status_code == 401


@pytest.mark.parametrize(
    ("auth", "settings", "place"),
    [
        ("iam", {"STEPLESS_IAM_ROLES": "*=admin"}, "IamRoles"),
        ("iam", {"STEPLESS_IAM_ROLES": f"{IAM['STEPLESS_IAM_ROLES']},x"}, "IamRoles"),
        ("jwt", {**JWT, "STEPLESS_JWT_ROLES": "ops:admin"}, "JwtRoles"),
        ("jwt", {**JWT, "STEPLESS_JWT_ROLES_CLAIM": "a b"}, "JwtRolesClaim"),
        ("jwt", {**JWT, "STEPLESS_JWT_ISSUER": ""}, "JwtIssuer"),
        ("jwt", {**JWT, "STEPLESS_JWT_AUDIENCE": ""}, "JwtAudience"),
        ("jwt ", JWT, "Auth"),
        ("none", {}, "Auth"),
    ],
)
async def test_a_malformed_setting_refuses_every_caller_and_leaves_open_what_is_open(
    make_door: Any, caplog: pytest.LogCaptureFixture, auth: str, settings: dict[str, str], place: str
) -> None:
    with caplog.at_level(logging.ERROR, "stepless.access"):
        door = await make_door(gateway=chosen(auth, **settings))
    assert place in caplog.text
    for authorizer in (session("ops"), {"jwt": {"claims": CLAIMS}}, None):
        async with behind(door.app, authorizer) as client:
            answer = await client.get("/runs")
            assert (answer.status_code, answer.json()["code"], answer.json()["place"]) == (403, "access_misconfigured", place)
            assert place in answer.json()["mend"]
            assert (await client.get("/health")).status_code == 200


def test_with_api_keys_there_is_no_gateway() -> None:
    assert chosen("api-key") is None


@pytest.mark.parametrize(("auth", "settings"), [("iam", {}), ("jwt", {**JWT, "STEPLESS_JWT_ROLES_CLAIM": ""})])
async def test_without_settings_no_caller_has_a_role(make_door: Any, auth: str, settings: dict[str, str]) -> None:
    door = await make_door(gateway=chosen(auth, **settings))
    async with behind(door.app, {**session("ops"), "jwt": {"claims": CLAIMS}}) as client:
        answer = await client.get("/runs")
    assert (answer.status_code, answer.json()["code"]) == (403, "no_role")
