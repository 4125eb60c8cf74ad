"""Who may do what, on the emulator: template.yaml with `Auth: jwt` and tokens of a real issuer, then with `Auth: iam` and signed
requests. Every request goes through the emulated gateway, which checks tokens and signatures, to the function."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from hmac import digest
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from emulators import Missing
from local_cloud import Cloud, deployed
from oidc_issuer import Issuer, rsa_key

pytestmark = [pytest.mark.long, pytest.mark.story]

ACCOUNT = "000000000000"
COMMON = {"FunctionModules": "deploy_steps", "RunnerTimeout": "12", "QueueVisibility": "35"}
CLAIMS = "cognito:groups,https://shop.example/roles,realm_access.roles,scope"
ROLES = "platform=admin,support=run,support=approve,auditors=read,Shop Owners=run"
PRINCIPALS = ",".join(f"arn:aws:iam::{ACCOUNT}:{text}" for text in ("role/ops=admin", "role/support-*=run", "user/auditor=read"))
DOCUMENT = {"id": "ask", "nodes": {"ask": {"type": "approval", "with": {"message": "Ship it?"}}}}
OPEN = {  # each with what the function answers; 403 is that of a link that was altered
    "/health": 200, "/docs": 200, "/openapi.json": 200, "/": 307, "/runs/run_x/view": 307, "/console": 308,
    "/console/runs/run_x": 200, "/console/settings": 200, "/resume/abc": 403, "/hooks/nothing": 404,
}  # fmt: skip
CLOSED = ("/runs", "/drafts", "/drafts/ask", "/runs/run_x", "/runs/run_x/events", "/workflows", "/keys", "//runs")
CLOSED += ("/runs/run_x/view/x", "/docs/x", "/health/x")


@pytest.fixture(scope="module")
def cloud(issuer: Issuer, build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    jwt = {"Auth": "jwt", "JwtIssuer": issuer.url, "JwtAudience": "stepless,other", "JwtRolesClaim": CLAIMS, "JwtRoles": ROLES}
    certificate = str(issuer.certificate)
    try:
        logs = tmp_path_factory.mktemp("cloud")
        with deployed(logs, build, {**COMMON, **jwt}, SSL_CERT_FILE=certificate) as built:
            yield built
    except Missing as error:
        pytest.skip(str(error))


def asked(cloud: Cloud, method: str, path: str, *tokens: str, body: Any = None) -> httpx.Response:
    """A request with an `Authorization` header for each token."""
    headers = [("Authorization", f"Bearer {token}") for token in tokens]
    return httpx.request(method, f"{cloud.url}{path}", headers=headers, json=body, timeout=40)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """The status of a response, and its code; `gateway` for one that did not reach the function."""
    return answer.status_code, answer.json().get("code", "gateway")


GATEWAY, NO_ROLE, ROLE_MISSING = (401, "gateway"), (403, "no_role"), (403, "role_missing")


# -- tokens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "reads", "starts", "publishes"),
    [
        ({"cognito:groups": ["dev", "platform"]}, 200, 202, 200),
        ({"cognito:groups": ["support"]}, 200, 202, 403),
        ({"cognito:groups": ["Shop Owners"]}, 200, 202, 403),
        ({"cognito:groups": ["auditors"]}, 200, 403, 403),
        ({"https://shop.example/roles": ["platform"]}, 200, 202, 200),
        ({"realm_access": {"roles": ["offline_access", "support"]}}, 200, 202, 403),
        ({"aud": ..., "client_id": "stepless", "scope": "openid auditors"}, 200, 403, 403),
        ({"aud": ["userinfo", "other"], "cognito:groups": "support"}, 200, 202, 403),
        ({}, 403, 403, 403),
        ({"cognito:groups": ["dev"]}, 403, 403, 403),
    ],
)
def test_a_token_gives_the_roles_that_its_groups_have(
    cloud: Cloud, issuer: Issuer, claims: dict[str, Any], reads: int, starts: int, publishes: int
) -> None:
    admin, token = issuer.token(**{"cognito:groups": ["platform"]}), issuer.token(**claims)
    assert asked(cloud, "PUT", "/workflows/ask", admin, body=DOCUMENT).status_code in (200, 201)
    assert asked(cloud, "GET", "/runs", token).status_code == reads
    started = asked(cloud, "POST", "/workflows/ask/runs", token, body={})
    assert started.status_code == starts
    assert asked(cloud, "PUT", "/workflows/ask", token, body=DOCUMENT).status_code == publishes
    assert asked(cloud, "GET", "/keys", token).status_code == (200 if publishes == 200 else 403)
    if reads == 403:
        problem = started.json()
        assert (problem["code"], problem["place"]) == ("no_role", CLAIMS)
        assert "JwtRoles" in problem["mend"]
    elif starts == 403:
        assert started.json()["code"] == "role_missing"


def test_only_who_may_approve_sees_the_links_which_are_then_open_to_everyone(cloud: Cloud, issuer: Issuer) -> None:
    support, auditor = (issuer.token(**{"cognito:groups": [group]}) for group in ("support", "auditors"))
    asked(cloud, "PUT", "/workflows/ask", issuer.token(**{"cognito:groups": ["platform"]}), body=DOCUMENT)
    run_id = asked(cloud, "POST", "/workflows/ask/runs", support, body={}).json()["run_id"]
    query = f"/runs/{run_id}/events?afterEventId=2"  # waits for the pause
    assert asked(cloud, "GET", query, auditor).status_code == 200
    shown = [asked(cloud, "GET", f"/runs/{run_id}", token).json()["pauses"][0].get("resume") for token in (auditor, support)]
    assert shown[0] is None
    token = shown[1].rpartition("/")[2]
    assert asked(cloud, "POST", f"/resume/{token}", body={"decision": "approved"}).status_code == 200


def audited(answer: httpx.Response, verb: str, refused: str | None = None) -> dict[str, Any]:
    """The newest entry of an operation that ended so."""
    assert answer.status_code == 200, answer.text
    return next(entry for entry in answer.json()["entries"] if (entry["verb"], entry["refused"]) == (verb, refused))


def test_the_audit_log_names_the_subject_of_a_token_and_where_it_came_from(cloud: Cloud, issuer: Issuer) -> None:
    admin = issuer.token(sub="u-admin", email="ada@shop.example", **{"cognito:groups": ["platform"]})
    asked(cloud, "PUT", "/workflows/ask", admin, body=DOCUMENT)
    support = issuer.token(sub="auth0|5f7c8ec7c33c6c004bbafe82", **{"cognito:groups": ["support"]})
    run_id = asked(cloud, "POST", "/workflows/ask/runs", support, body={}).json()["run_id"]
    assert asked(cloud, "POST", f"/runs/{run_id}/cancel", support, body={}).status_code == 202
    refused = asked(cloud, "PUT", "/workflows/ask", support, body=DOCUMENT)
    assert refused.status_code == 403
    entry = audited(asked(cloud, "GET", f"/audit?target={run_id}", admin), "cancel_run")
    assert (entry["who"], entry["target"], entry["refused"]) == ("jwt auth0|5f7c8ec7c33c6c004bbafe82", run_id, None)
    address, _, program = entry["source"].partition(" ")
    assert program.startswith("python-httpx/") and ip_address(address).is_loopback
    entries = asked(cloud, "GET", "/audit", admin)
    entry = audited(entries, "publish_workflow")
    assert (entry["who"], entry["target"]) == ("jwt u-admin ada@shop.example", "ask")
    entry = audited(entries, "publish_workflow", "role_missing")
    assert (entry["who"], entry["target"]) == ("jwt auth0|5f7c8ec7c33c6c004bbafe82", "ask")
    assert asked(cloud, "GET", "/audit", support).status_code == 403
    assert "Bearer" not in asked(cloud, "GET", "/audit", admin).text


def unsigned(issuer: Issuer, header: dict[str, Any], **claims: Any) -> tuple[str, bytes]:
    parts = (header, issuer.claims(**{"cognito:groups": ["platform"], **claims}))
    text = ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return text, text.encode()


def signed_with_the_public_key(issuer: Issuer) -> str:
    """As a verifier would accept that takes the algorithm from the token: the RSA public key as the secret of an HMAC."""
    text, data = unsigned(issuer, {"alg": "HS256", "typ": "JWT", "kid": "first"})
    mac = digest(issuer.public_pem("first"), data, "sha256")
    return f"{text}.{urlsafe_b64encode(mac).decode().rstrip('=')}"


def with_claims_replaced(issuer: Issuer) -> str:
    head, _, signature = issuer.token(**{"cognito:groups": ["auditors"]}).split(".")
    return f"{head}.{issuer.token(**{'cognito:groups': ['platform']}).split('.')[1]}.{signature}"


ADMIN = {"cognito:groups": ["platform"]}
ATTACKS: dict[str, Callable[[Issuer], str]] = {
    "forged with another key": lambda issuer: issuer.token(key=rsa_key(), **ADMIN),
    "a claim replaced": with_claims_replaced,
    "expired": lambda issuer: issuer.token(**ADMIN, exp=1_700_000_000),
    "not valid yet": lambda issuer: issuer.token(**ADMIN, nbf=4_000_000_000),
    "issued in the future": lambda issuer: issuer.token(**ADMIN, iat=4_000_000_000),
    "another audience": lambda issuer: issuer.token(**ADMIN, aud="another"),
    "audience as a substring": lambda issuer: issuer.token(**ADMIN, aud="stepless2"),
    "no audience": lambda issuer: issuer.token(**ADMIN, aud=...),
    "another issuer": lambda issuer: issuer.token(**ADMIN, iss="https://evil.example"),
    "issuer as a prefix": lambda issuer: issuer.token(**ADMIN, iss=f"{issuer.url}.evil.example"),
    "no issuer": lambda issuer: issuer.token(**ADMIN, iss=...),
    "alg none": lambda issuer: f"{unsigned(issuer, {'alg': 'none', 'kid': 'first'})[0]}.",
    "alg none with a signature": lambda issuer: f"{unsigned(issuer, {'alg': 'none', 'kid': 'first'})[0]}.AAAA",
    "HS256 with the public key": signed_with_the_public_key,
    "no key id": lambda issuer: issuer.token(header={"kid": ""}, **ADMIN),
    "an unknown key id": lambda issuer: issuer.token("third", key=issuer.keys["first"], **ADMIN),
    "the key id of another key": lambda issuer: issuer.token("second", key=issuer.keys["first"], **ADMIN),
    "an elliptic curve, which API Gateway does not take": lambda issuer: issuer.token(kid="curve", **ADMIN),
    "not a token": lambda issuer: "platform",
    "an API key": lambda issuer: "slk_example",
    "three empty parts": lambda issuer: "..",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_gateway_refuses_what_is_not_a_valid_token(cloud: Cloud, issuer: Issuer, attack: str) -> None:
    token = ATTACKS[attack](issuer)
    for method, path in (("GET", "/runs"), ("PUT", "/workflows/ask"), ("GET", "/keys"), ("POST", "/runs/run_x/cancel")):
        assert refusal(asked(cloud, method, path, token)) == GATEWAY


def test_keys_before_and_after_a_rotation_are_both_accepted(cloud: Cloud, issuer: Issuer) -> None:
    for kid in ("first", "second"):
        assert asked(cloud, "GET", "/runs", issuer.token(kid=kid, **ADMIN)).status_code == 200
    assert {"/pool/.well-known/openid-configuration", "/pool/keys"} <= set(issuer.asked)


def test_a_token_that_never_expires_is_refused_by_the_function(cloud: Cloud, issuer: Issuer) -> None:
    """The emulated gateway lets it through."""
    assert refusal(asked(cloud, "GET", "/runs", issuer.token(**ADMIN, exp=...))) == (401, "unauthorized")


@pytest.mark.parametrize(
    "groups",
    [
        ["not platform"], ["platform x"], ["platform,support"], "[platform]", "platform support", ["platforms"], ["Platform"],
        ["admin"], {"platform": True}, [["platform"]], ["platform", 1], 7, True, None, [], "",
        [f"g{number}" for number in range(700)],
    ],
)  # fmt: skip
def test_claims_that_only_look_like_a_group_give_no_role(cloud: Cloud, issuer: Issuer, groups: Any) -> None:
    token = issuer.token(**{"cognito:groups": groups})
    for method, path in (("GET", "/runs"), ("PUT", "/workflows/ask"), ("GET", "/keys")):
        assert refusal(asked(cloud, method, path, token)) == NO_ROLE


def test_several_authorization_headers_are_refused(cloud: Cloud, issuer: Issuer) -> None:
    genuine, forged = issuer.token(**{"cognito:groups": ["auditors"]}), issuer.token(key=rsa_key(), **ADMIN)
    for tokens in ((genuine, forged), (forged, genuine), (genuine, genuine), (f"{genuine},{forged}",), (f"{genuine} {forged}",)):
        assert asked(cloud, "GET", "/keys", *tokens).status_code == 401
        assert asked(cloud, "GET", "/runs", *tokens).status_code == 401


def test_what_is_open_is_open_and_nothing_else_is(cloud: Cloud) -> None:
    for path, status in OPEN.items():
        assert asked(cloud, "GET", path).status_code == status, path
    assert asked(cloud, "GET", "/runs/run_x/view").headers["location"] == "/console/runs/run_x"
    page = asked(cloud, "GET", "/console/runs/run_x")
    policy = page.headers["content-security-policy"]
    assert "<title>" in page.text and "script-src 'self'" in policy and "wss:" not in policy
    [script] = re.findall(r'<script[^>]* src="([^"]+)"', page.text)
    assert asked(cloud, "GET", script).headers["content-type"].startswith("text/javascript")
    settings = asked(cloud, "GET", "/console/settings").json()
    assert settings == {"drafts": False, "invitations": False, "login": None, "socket": None}
    for path in CLOSED:
        assert refusal(asked(cloud, "GET", path)) == GATEWAY, path
    for path in ("/runs/run_x/view", "/console", "/docs", "/health"):
        assert refusal(asked(cloud, "POST", path)) == GATEWAY, path


def test_no_path_below_an_open_route_leads_to_a_guarded_one(cloud: Cloud) -> None:
    for path in ("/hooks/../runs", "/hooks/%2e%2e/runs", "/hooks//runs", "/resume/..%2Fruns", "/hooks/..;/keys"):
        with httpx.Client(timeout=40) as client:
            request = client.build_request("GET", cloud.url)
            request.url = request.url.copy_with(raw_path=request.url.raw_path + path.encode())
            answer = client.send(request)
        assert answer.status_code in (401, 403, 404), path
        assert "runs" not in answer.json() and "keys" not in answer.json(), path


def test_the_function_checks_by_itself_that_the_gateway_has_verified_the_token(cloud: Cloud, issuer: Issuer) -> None:
    """As if a route had lost its authorizer, or had that of another issuer."""
    claims = issuer.claims(**ADMIN)
    event: dict[str, Any] = {
        "version": "2.0", "routeKey": "$default", "rawPath": "/runs", "rawQueryString": "", "isBase64Encoded": False,
        "headers": {"host": "x", "authorization": f"Bearer {issuer.token(**ADMIN)}"},
        "requestContext": {"http": {"method": "GET", "path": "/runs", "sourceIp": "203.0.113.7"}},
    }  # fmt: skip
    verified = {"iss": issuer.url, "sub": claims["sub"], "aud": "stepless", "cognito:groups": "[platform]"}
    for said, status in (
        ({"jwt": {"claims": verified, "scopes": None}}, 200),
        ({"jwt": {"claims": {**verified, "iss": "https://evil.example"}}}, 401),
        ({"jwt": {"claims": {**verified, "sub": "u-2"}}}, 401),
        ({"jwt": {"claims": {**verified, "cognito:groups": "[dev]"}}}, 403),
        ({"lambda": {"claims": verified}}, 401),
        (None, 401),
    ):
        event["requestContext"]["authorizer"] = said
        assert cloud.functions[f"{cloud.stack}-api"].invoke(event).value["statusCode"] == status, said


# -- signatures -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def signing(cloud: Cloud) -> Cloud:
    """The same stack, updated to `Auth: iam`, and principals that may all invoke the API."""
    cloud.deploy({**COMMON, "Auth": "iam", "IamRoles": PRINCIPALS})
    iam = cloud.service("iam")
    trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    may_invoke = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}
    trusted, invoke = (json.dumps({"Version": "2012-10-17", "Statement": [statement]}) for statement in (trust, may_invoke))
    for role in ("ops", "ops-evil", "evil-ops", "support-shop", "dev"):
        iam.create_role(RoleName=role, AssumeRolePolicyDocument=trusted)
        iam.put_role_policy(RoleName=role, PolicyName="invoke", PolicyDocument=invoke)
    for user in ("auditor", "ops"):
        iam.create_user(UserName=user)
        iam.put_user_policy(UserName=user, PolicyName="invoke", PolicyDocument=invoke)
    return cloud


def assumed(cloud: Cloud, role: str, session: str = "ada") -> Credentials:
    arn = f"arn:aws:iam::{ACCOUNT}:role/{role}"
    given = cloud.service("sts").assume_role(RoleArn=arn, RoleSessionName=session)["Credentials"]
    return Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])


def of_user(cloud: Cloud, user: str) -> Credentials:
    key = cloud.service("iam").create_access_key(UserName=user)["AccessKey"]
    return Credentials(key["AccessKeyId"], key["SecretAccessKey"])


def signed(cloud: Cloud, credentials: Credentials, method: str, path: str, body: Any = None) -> httpx.Response:
    data = b"" if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} if data else {}
    request = AWSRequest(method, f"{cloud.url}{path}", headers, data)
    SigV4Auth(credentials, "execute-api", "us-east-1").add_auth(request)
    return httpx.request(method, request.url, headers=dict(request.headers.items()), content=data, timeout=40)


def test_a_principal_has_the_roles_of_the_patterns_that_fit(signing: Cloud) -> None:
    ops, support, auditor = assumed(signing, "ops"), assumed(signing, "support-shop"), of_user(signing, "auditor")
    found = {
        name: (
            signed(signing, credentials, "PUT", "/workflows/ask", DOCUMENT).status_code,
            signed(signing, credentials, "POST", "/workflows/ask/runs", {}).status_code,
            signed(signing, credentials, "GET", "/runs").status_code,
        )
        for name, credentials in (("ops", ops), ("support", support), ("auditor", auditor))
    }
    assert found == {"ops": (200, 202, 200), "support": (403, 202, 200), "auditor": (403, 403, 200)}


def test_the_audit_log_names_the_principal_and_where_it_came_from(signing: Cloud) -> None:
    ops, support = assumed(signing, "ops", "grace"), assumed(signing, "support-shop", "lin@shop.example")
    signed(signing, ops, "PUT", "/workflows/ask", DOCUMENT)
    run_id = signed(signing, support, "POST", "/workflows/ask/runs", {}).json()["run_id"]
    assert signed(signing, support, "POST", f"/runs/{run_id}/cancel", {}).status_code == 202
    entries = signed(signing, ops, "GET", "/audit")
    sts = f"arn:aws:sts::{ACCOUNT}:assumed-role"
    for verb, who in (("publish_workflow", f"{sts}/ops/grace"), ("cancel_run", f"{sts}/support-shop/lin@shop.example")):
        entry = audited(entries, verb)
        assert entry["who"] == f"iam {who}"
        assert ip_address(entry["source"].partition(" ")[0]).is_loopback
    assert signed(signing, support, "GET", "/audit").status_code == 403


@pytest.mark.parametrize("role", ["ops-evil", "evil-ops", "dev"])
def test_a_role_that_only_looks_like_one_of_the_patterns_has_none(signing: Cloud, role: str) -> None:
    answer = signed(signing, assumed(signing, role, "ops"), "GET", "/runs")
    assert refusal(answer) == NO_ROLE
    assert answer.json()["place"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/ops"
    assert "IamRoles" in answer.json()["mend"]


def test_a_user_named_like_a_role_has_none_and_neither_has_the_account(signing: Cloud) -> None:
    assert refusal(signed(signing, of_user(signing, "ops"), "GET", "/runs")) == NO_ROLE
    assert refusal(signed(signing, Credentials("test", "test"), "GET", "/runs")) == NO_ROLE


def test_requests_without_a_valid_signature_are_refused(signing: Cloud, issuer: Issuer) -> None:
    given = assumed(signing, "ops")
    forged = Credentials(given.access_key, "another secret", given.token)
    for answer in (asked(signing, "GET", "/runs"), signed(signing, forged, "GET", "/runs")):
        assert refusal(answer) == (403, "gateway")
    # The emulated gateway lets an Authorization header through that is no signature; AWS refuses it. So does the function.
    assert refusal(asked(signing, "GET", "/runs", issuer.token(**ADMIN))) == (401, "unauthorized")


def test_what_is_open_stays_open_where_requests_are_signed(signing: Cloud) -> None:
    for path, status in OPEN.items():
        assert asked(signing, "GET", path).status_code == status, path
    for path in CLOSED:
        assert refusal(asked(signing, "GET", path)) == (403, "gateway"), path
