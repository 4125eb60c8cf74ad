"""A user pool of the stack's own, on the emulator: template.yaml with `WithCognito: yes`. People sign in at the page of the pool
as the console does, with PKCE, and the emulated gateway checks the tokens of the pool.

The emulator cannot show the page of the console itself: `GET /console/settings` reads the addresses of the issuer from
cognito-idp.us-east-1.amazonaws.com. It also lets people sign up where only an admin may make users, and its renewed tokens name
no groups; those of Cognito do.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import unescape
from pathlib import Path
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from deployed_runs import check_permissions
from emulators import Missing
from local_cloud import Cloud, deployed

pytestmark = [pytest.mark.long, pytest.mark.story]

GIVEN = {"FunctionModules": "deploy_steps", "Auth": "jwt", "Console": "yes", "WithCognito": "yes"}
FIRST, OWN = "Temporary-password-1", "A-password-of-her-own-2"
DOCUMENT = {"id": "ask", "nodes": {"ask": {"type": "approval", "with": {"message": "Ship it?"}}}}


@pytest.fixture(scope="module")
def cloud(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    try:
        with deployed(tmp_path_factory.mktemp("cloud"), build, GIVEN) as made:
            yield made
            check_permissions(made.machine, "local")
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def pool(cloud: Cloud) -> str:
    return str(cloud.outputs["UserPoolId"])


@pytest.fixture(scope="module")
def client_id(cloud: Cloud, pool: str) -> str:
    [client] = cloud.service("cognito-idp").list_user_pool_clients(UserPoolId=pool, MaxResults=60)["UserPoolClients"]
    return str(client["ClientId"])


class Person:
    """Someone with a browser at the page of the pool, who comes back to the console."""

    def __init__(self, cloud: Cloud, client_id: str, email: str) -> None:
        self.cloud = cloud
        self.client_id = client_id
        self.email = email
        self.back = f"{cloud.outputs['ConsoleUrl']}signed-in"
        self.verifier, self.nonce = token_urlsafe(32), token_urlsafe(32)

    def asked(self, **changed: str) -> httpx.Response:
        challenge = urlsafe_b64encode(sha256(self.verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": self.back, "scope": "openid", "state": "s",
            "nonce": self.nonce, "code_challenge": challenge, "code_challenge_method": "S256", **changed,
        }  # fmt: skip
        return httpx.get(f"{self.cloud.machine.address}/oauth2/authorize", params=query, timeout=40)

    def filled(self, page: httpx.Response, **fields: str) -> httpx.Response:
        """The form of a page, sent with these fields."""
        hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page.text)
        [action] = re.findall(r'<form method="POST" action="([^"]+)">', page.text)
        sent = {name: unescape(value) for name, value in hidden} | fields
        return httpx.post(f"{self.cloud.machine.address}{action}", data=sent, timeout=40)

    def code(self, answer: httpx.Response) -> str:
        """The code in the address to which the page sends the browser."""
        assert answer.status_code in (302, 303), answer.text
        address = urlsplit(answer.headers["location"])
        assert f"{address.scheme}://{address.netloc}{address.path}" == self.back
        found = parse_qs(address.query)
        assert found["state"] == ["s"]
        return found["code"][0]

    def tokens(self, **fields: str) -> httpx.Response:
        sent = {"client_id": self.client_id, **fields}
        return httpx.post(f"{self.cloud.machine.address}/oauth2/token", data=sent, timeout=40)

    def redeemed(self, code: str, verifier: str | None = None) -> httpx.Response:
        proof = self.verifier if verifier is None else verifier
        return self.tokens(grant_type="authorization_code", code=code, redirect_uri=self.back, code_verifier=proof)


def claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    return dict(json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4))))


def called(cloud: Cloud, method: str, path: str, token: str, body: Any = None) -> httpx.Response:
    return httpx.request(method, f"{cloud.url}{path}", headers={"Authorization": f"Bearer {token}"}, json=body, timeout=40)


def made(cloud: Cloud, pool: str, client_id: str, email: str, *groups: str) -> Person:
    """A user as docs/run/operations.md makes one."""
    cognito = cloud.service("cognito-idp")
    attributes = [{"Name": "email", "Value": email}, {"Name": "email_verified", "Value": "true"}]
    cognito.admin_create_user(
        UserPoolId=pool, Username=email, UserAttributes=attributes, TemporaryPassword=FIRST, MessageAction="SUPPRESS"
    )
    for group in groups:
        cognito.admin_add_user_to_group(UserPoolId=pool, Username=email, GroupName=group)
    return Person(cloud, client_id, email)


def signed_in(person: Person) -> dict[str, Any]:
    """The tokens of a first sign-in, at which a new password is asked for."""
    page = person.filled(person.asked(), username=person.email, password=FIRST)
    answer = person.filled(page, new_password=OWN, confirm_password=OWN)
    tokens = person.redeemed(person.code(answer))
    assert tokens.status_code == 200, tokens.text
    return dict(tokens.json())


def test_a_person_of_the_pool_signs_in_and_has_the_role_of_their_group(cloud: Cloud, pool: str, client_id: str) -> None:
    ada = made(cloud, pool, client_id, "ada@example.com", "stepless-admin")
    tokens = signed_in(ada)
    access, identity = claims_of(tokens["access_token"]), claims_of(tokens["id_token"])
    assert "aud" not in access and access["client_id"] == identity["aud"] == client_id
    assert (identity["email"], identity["nonce"]) == ("ada@example.com", ada.nonce)
    for token in (tokens["id_token"], tokens["access_token"]):
        assert called(cloud, "PUT", "/workflows/ask", token, DOCUMENT).status_code in (200, 201)
        assert called(cloud, "GET", "/runs", token).status_code == 200
    entries = called(cloud, "GET", "/audit?target=ask", tokens["id_token"]).json()["entries"]
    assert f"jwt {identity['sub']} ada@example.com" in [entry["who"] for entry in entries]  # by the token that the page uses
    renewed = ada.tokens(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert renewed.status_code == 200, renewed.text
    again = claims_of(renewed.json()["id_token"])
    assert (again["sub"], again["aud"], again["email"]) == (identity["sub"], client_id, "ada@example.com")


@pytest.mark.parametrize(
    ("group", "reads", "starts", "publishes"),
    [("", 403, 403, 403), ("stepless-read", 200, 403, 403), ("stepless-run", 200, 404, 403), ("stepless-edit", 200, 403, 403)],
)
def test_a_group_gives_its_role_and_no_group_none(
    cloud: Cloud, pool: str, client_id: str, group: str, reads: int, starts: int, publishes: int
) -> None:
    person = made(cloud, pool, client_id, f"{group or 'none'}@example.com", *([group] if group else []))
    token = signed_in(person)["id_token"]
    assert called(cloud, "GET", "/runs", token).status_code == reads
    assert called(cloud, "POST", "/workflows/no_such/runs", token, {}).status_code == starts
    assert called(cloud, "PUT", "/workflows/other", token, DOCUMENT | {"id": "other"}).status_code == publishes


def test_a_code_is_good_for_who_asked_for_it(cloud: Cloud, pool: str, client_id: str) -> None:
    cognito = cloud.service("cognito-idp")
    bo = made(cloud, pool, client_id, "bo@example.com", "stepless-read")
    page = bo.filled(bo.asked(), username=bo.email, password="wrong")
    assert page.status_code == 200 and "new_password" not in page.text
    assert bo.asked(redirect_uri="https://elsewhere.example/console/signed-in").status_code == 400
    signed_in(bo)
    code = bo.code(bo.filled(bo.asked(), username=bo.email, password=OWN))
    assert bo.redeemed(code, verifier=token_urlsafe(32)).status_code == 400
    secret = {"ClientId": client_id, "AuthParameters": {"USERNAME": bo.email, "PASSWORD": OWN}}
    with pytest.raises(cognito.exceptions.ClientError):  # only by the page
        cognito.initiate_auth(AuthFlow="USER_PASSWORD_AUTH", **secret)


def test_tokens_of_another_pool_or_client_are_refused(cloud: Cloud, pool: str) -> None:
    cognito = cloud.service("cognito-idp")
    foreign = cognito.create_user_pool(PoolName="foreign")["UserPool"]["Id"]
    for each in (pool, foreign):
        flows = ["ALLOW_ADMIN_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"]
        other = cognito.create_user_pool_client(UserPoolId=each, ClientName="other", ExplicitAuthFlows=flows)["UserPoolClient"]
        name = "mallory@example.com"
        cognito.admin_create_user(UserPoolId=each, Username=name, TemporaryPassword=FIRST, MessageAction="SUPPRESS")
        cognito.admin_set_user_password(UserPoolId=each, Username=name, Password=OWN, Permanent=True)
        if each == foreign:
            cognito.create_group(UserPoolId=each, GroupName="stepless-admin")
        cognito.admin_add_user_to_group(UserPoolId=each, Username=name, GroupName="stepless-admin")
        given = {"USERNAME": name, "PASSWORD": OWN}
        answer = cognito.admin_initiate_auth(
            UserPoolId=each, ClientId=other["ClientId"], AuthFlow="ADMIN_USER_PASSWORD_AUTH", AuthParameters=given
        )["AuthenticationResult"]
        for token in (answer["IdToken"], answer["AccessToken"]):
            assert called(cloud, "GET", "/runs", token).status_code == 401


def test_the_pool_is_what_the_template_says(cloud: Cloud, pool: str) -> None:
    cognito = cloud.service("cognito-idp")
    found = cognito.describe_user_pool(UserPoolId=pool)["UserPool"]
    assert (found["DeletionProtection"], found["MfaConfiguration"]) == ("ACTIVE", "OPTIONAL")
    assert found["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True
    mfa = cognito.get_user_pool_mfa_config(UserPoolId=pool)
    assert mfa["SoftwareTokenMfaConfiguration"]["Enabled"] is True
    domain = cognito.describe_user_pool_domain(Domain=found["Domain"])["DomainDescription"]
    assert domain["UserPoolId"] == pool and re.fullmatch(r"stepless-[0-9a-f-]{36}", found["Domain"])
    [stack] = cloud.service("cloudformation").describe_stacks(StackName="local")["Stacks"]
    assert stack["StackId"].endswith(found["Domain"].removeprefix("stepless-"))
