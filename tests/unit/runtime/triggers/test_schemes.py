"""Every row of the table of schemes, with a vector that is not made by this project.

Published by the sender, in its documentation or the tests of its own library: GitHub, Standard Webhooks, Slack, Twilio, Bitbucket
(documentation); HubSpot (hubspot-api-python), SendGrid (sendgrid-python). The others publish no whole vector: theirs were
computed with `openssl dgst -hmac`, from the formula in the documentation.
"""

from __future__ import annotations

import hmac
import typing
from base64 import b64encode
from typing import Any, NamedTuple

import pytest

from stepless.errors import Forbidden
from stepless.model.triggers.webhook_schemes import SCHEMES
from stepless.nodes.entries.webhook import Signed, signed_by
from stepless.nodes.entries.webhook import WebhookParams as Webhook
from stepless.runtime.triggers import ecdsa
from stepless.runtime.triggers.signatures import Proof, verify
from stepless.runtime.triggers.signing import prepared, signed_headers

HUBSPOT = "https://www.example.com/webhook_uri"
FORM = {"content-type": "application/x-www-form-urlencoded"}
SLACK = (
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
    "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
    "%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
SENDGRID = (
    '[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address",'
    '"sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",'
    '"sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0",'
    '"smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n'
)


class Vector(NamedTuple):
    secret: str
    body: str
    headers: dict[str, str]
    at_s: int = 0
    url: str = ""
    delivery: str | None = None


VECTORS = {
    "stripe": Vector(
        "whsec_test_secret", '{"id":"evt_1","object":"event"}',
        {"stripe-signature": "t=1492774577,v1=654b43d3508ecadb3f8cefc4bc7d3d2bdc5ba9e03bf2c89b2d0657a8e24e4543,v0=6ffbb59b"},
        1492774577, delivery="evt_1",
    ),
    "github": Vector(
        "It's a Secret to Everybody", "Hello, World!",
        {"x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
         "x-github-delivery": "d"},
        delivery="d",
    ),
    "standard": Vector(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", '{"test": 2432232314}',
        {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
         "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
        1614265330, delivery="msg_p5jXN8AQM9LWM0D4loKWxJek",
    ),
    "slack": Vector(
        "8f742231b10e8888abcd99yyyzzz85a5", SLACK,
        {"x-slack-request-timestamp": "1531420618",
         "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"},
        1531420618,
    ),
    "shopify": Vector(
        "hush", '{"id":820982911946154508}',
        {"x-shopify-hmac-sha256": "qBvrsZF7RfB1iS6BX6IHqJTp5L911P7intnPeTPsH0I=", "x-shopify-webhook-id": "w1"}, delivery="w1",
    ),
    "zoom": Vector(
        "zoom_secret", '{"event":"meeting.started"}',
        {"x-zm-request-timestamp": "1739923528",
         "x-zm-signature": "v0=d2d07b39cc8f63bae424d75ed89566e5c72b7dfa07cb6ae476a39152499d1bbc"},
        1739923528,
    ),
    "hubspot": Vector(
        "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy", "{'example_field':'example_value'}",
        {"x-hubspot-request-timestamp": "15000000", "x-hubspot-signature-v3": "HPW73RUtKmcYoEDADG0s6MmGFWUzWJKAW07r8RDgcQw="},
        15000000, HUBSPOT,
    ),
    "linear": Vector(
        "lin_wh_secret", '{"action":"create","webhookTimestamp":1676056940508}',
        {"linear-signature": "183590c07dec2b12f5222bca65a170e056f00d687785f6c46cb7bfb7cc1973c6", "linear-delivery": "l1"},
        1676056940, delivery="l1",
    ),
    "trello": Vector(
        "trello_secret", '{"action":{"id":"a1"}}', {"x-trello-webhook": "zxhohACqtLgZHRUT8d/2CiadBuM="},
        url="https://flows.example.com/hooks/in", delivery="a1",
    ),
    "twilio": Vector(
        "12345", "To=%2B18005551212&From=%2B14158675309&Digits=1234&Caller=%2B14158675309&CallSid=CA1234567890ABCDE",
        {**FORM, "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8="}, url="https://mycompany.com/myapp.php?foo=1&bar=2",
    ),
    "gitlab": Vector("a token", "{}", {"x-gitlab-token": "a token"}),
    "bitbucket": Vector(
        "It's a Secret to Everybody", "Hello World!",
        {"x-hub-signature": "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9"},
    ),
    "sendgrid": Vector(
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==",
        SENDGRID,
        {"x-twilio-email-event-webhook-timestamp": "1600112502",
         "x-twilio-email-event-webhook-signature":
             "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM="},
        1600112502,
    ),
}  # fmt: skip


def checked(name: str, vector: Vector, *, secret: Any = None, later_s: int = 0) -> Proof:
    auth = Signed.model_validate({"scheme": name, "secret": vector.secret if secret is None else secret})
    urls = [vector.url] if vector.url else []
    return verify(auth, vector.headers, vector.body.encode(), (vector.at_s + later_s) * 1000, urls=urls)


def refusal(name: str, vector: Vector, **more: Any) -> str:
    with pytest.raises(Forbidden) as refused:
        checked(name, vector, **more)
    assert vector.secret not in str(refused.value)
    return refused.value.code


def test_every_scheme_has_a_vector_and_can_be_declared() -> None:
    assert {*VECTORS, "hmac"} == {*SCHEMES} == {*typing.get_args(Signed.model_fields["scheme"].annotation)}


@pytest.mark.parametrize("name", VECTORS)
def test_the_vector_of_a_sender_is_accepted(name: str) -> None:
    proof = checked(name, VECTORS[name])
    assert proof.delivery == VECTORS[name].delivery
    assert SCHEMES[name].header.lower() in proof.headers, "the run does not receive the signature"


@pytest.mark.parametrize("name", [name for name in VECTORS if name != "gitlab"])
def test_another_body_is_refused(name: str) -> None:
    vector = VECTORS[name]
    other = vector.body.replace("e", "f").replace("CA1", "CA2").replace("82098", "82099").replace("a1", "a2")
    assert other != vector.body and refusal(name, vector._replace(body=other)) == "bad_signature"


@pytest.mark.parametrize("name", VECTORS)
def test_another_secret_and_a_missing_signature_are_refused(name: str) -> None:
    vector = VECTORS[name]
    wrong = ecdsa.public_of(ecdsa.new_private()) if name == "sendgrid" else "whsec_" + b64encode(b"another").decode()
    assert refusal(name, vector, secret=wrong) == "bad_signature"
    header = SCHEMES[name].header.lower()
    rest = {each: value for each, value in vector.headers.items() if each != header}
    altered = vector.headers[header].replace(",v0=", "0,v0=") if name == "stripe" else vector.headers[header] + "0"
    for headers in (rest, {}, {**rest, header: ""}, {**rest, header: "v1=,t=,"}, {**rest, header: altered}):
        assert refusal(name, vector._replace(headers=headers)) == "bad_signature"


@pytest.mark.parametrize("name", VECTORS)
def test_of_several_secrets_any_is_accepted(name: str) -> None:
    other = ecdsa.public_of(ecdsa.new_private()) if name == "sendgrid" else "whsec_" + b64encode(b"another").decode()
    assert checked(name, VECTORS[name], secret=[other, VECTORS[name].secret]).secret == VECTORS[name].secret


@pytest.mark.parametrize("name", [name for name in VECTORS if SCHEMES[name].timestamp is not None])
@pytest.mark.parametrize("later_s", [302, -302])
def test_an_old_signature_is_refused_where_the_time_is_signed(name: str, later_s: int) -> None:
    assert refusal(name, VECTORS[name], later_s=later_s) == "stale_signature"


@pytest.mark.parametrize("name", ["hubspot", "trello", "twilio"])
def test_another_address_is_refused_where_the_address_is_signed(name: str) -> None:
    vector = VECTORS[name]
    for url in ("", vector.url + "x", vector.url.replace("https", "http")):
        assert refusal(name, vector._replace(url=url)) == "bad_signature"
    named = Signed.model_validate({"scheme": name, "secret": vector.secret, "url": vector.url})
    for received in ("http://10.0.0.1/hooks/in", "http://[/hooks/in"):
        verify(named, vector.headers, vector.body.encode(), vector.at_s * 1000, urls=[received])


def test_hubspot_decodes_some_characters_of_the_address_before_it_signs() -> None:
    signed = "POSThttps://flows.example.com/hooks/in?a=b:c/d@e!{}1767225600000"
    mac = b64encode(hmac.digest(b"s", signed.encode(), "sha256")).decode()
    headers = {"x-hubspot-signature-v3": mac, "x-hubspot-request-timestamp": "1767225600000"}
    for query in ("a=b%3Ac%2Fd%40e%21", "a=b%3ac%2fd%40e%21", "a=b:c/d@e!"):
        urls = [f"https://flows.example.com/hooks/in?{query}"]
        verify(Signed(scheme="hubspot", secret="s"), headers, b"{}", 1_767_225_600_000, urls=urls)


@pytest.mark.parametrize(("digest", "accepted"), [
    ("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", True), ("0" * 64, False), ("", False),
])
def test_twilio_signs_a_json_body_by_its_digest_in_the_address(digest: str, accepted: bool) -> None:
    url = f"https://flows.example.com/hooks/in?bodySHA256={digest}"
    mac = b64encode(hmac.digest(b"s", url.encode(), "sha1")).decode()
    headers = {"content-type": "application/json", "x-twilio-signature": mac}
    auth = Signed(scheme="twilio", secret="s")
    if accepted:
        assert verify(auth, headers, b"{}", 0, urls=[url]).signature
    else:
        with pytest.raises(Forbidden):
            verify(auth, headers, b"{}", 0, urls=[url])


def test_a_field_of_a_form_that_comes_twice_is_signed_with_its_values_in_order() -> None:
    url = "https://flows.example.com/hooks/in"
    mac = hmac.digest(b"s", (url + "Aü" + "Media1Media2").encode(), "sha1")
    headers = {**FORM, "x-twilio-signature": b64encode(mac).decode()}
    verify(Signed(scheme="twilio", secret="s"), headers, b"Media=2&A=%C3%BC&Media=1&Media=2", 0, urls=[url])


def test_two_signatures_of_one_message_are_one_request() -> None:
    """ECDSA is not deterministic, and from a valid signature others can be computed."""
    private = ecdsa.new_private()
    auth = Signed(scheme="sendgrid", secret=ecdsa.public_of(private))
    signed = [
        {name.lower(): value for name, value in signed_headers(auth, b"[]", 1000, secret=private).items()} for _ in range(2)
    ]
    first, second = (verify(auth, headers, b"[]", 1000).signature for headers in signed)
    assert signed[0] != signed[1] and first == second


@pytest.mark.parametrize("secret", ["", "nonsense", "MFkw", "-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n"])
def test_a_public_key_that_is_none_opens_nothing(secret: str) -> None:
    with pytest.raises(Forbidden) as refused:
        checked("sendgrid", VECTORS["sendgrid"], secret=secret or "x")
    assert (refused.value.code, refused.value.http_status) == ("secret_missing", 503)


@pytest.mark.parametrize("name", SCHEMES)
def test_what_the_sender_would_sign_is_accepted(name: str) -> None:
    private = ecdsa.new_private() if name == "sendgrid" else ""
    secret = ecdsa.public_of(private) if private else STANDARD_SECRET
    auth = Signed.model_validate({"scheme": name, "secret": secret})
    now_ms = 1_767_225_600_000
    body, url = prepared(auth, b'{"id": "1"}', now_ms, "https://flows.example.com/hooks/in")
    made = signed_headers(auth, body, now_ms, secret=private or secret, url=url)
    verify(auth, {each.lower(): value for each, value in made.items()}, body, now_ms, urls=[url])


STANDARD_SECRET = VECTORS["standard"].secret


# -- the general scheme -----------------------------------------------------------------------------------------------


def general(**auth: Any) -> Signed:
    params = Webhook.model_validate({"path": "/in", "auth": {"hmac": "k", **auth}})
    return signed_by(params.auth)  # type: ignore[arg-type]


NOW = 1_767_225_600_000
MADE = hmac.digest(b"k", b"body", "sha256")


@pytest.mark.parametrize(("auth", "headers"), [
    ({"template": "{body}"}, {"x-signature": MADE.hex()}),
    ({"template": "{body}", "header": "X-Sig", "encoding": "base64"}, {"x-sig": b64encode(MADE).decode()}),
    ({"prefix": "sha256=", "header": "X-Hub-Signature-256"}, {"x-hub-signature-256": f"sha256={MADE.hex()}"}),
    ({"template": "{body}", "algorithm": "sha512"}, {"x-signature": hmac.digest(b"k", b"body", "sha512").hex()}),
    ({"template": "{body}", "algorithm": "sha1"}, {"x-signature": hmac.digest(b"k", b"body", "sha1").hex()}),
    ({"template": "{timestamp}\n{method}\n{url}\n{body}", "timestamp_header": "X-Time"},
     {"x-time": "1767225600", "x-signature": hmac.digest(b"k", b"1767225600\nPOST\nhttps://a/b\nbody", "sha256").hex()}),
    ({"template": "{id}:{timestamp}:{body}", "timestamp_header": "X-Time", "id_header": "X-Id"},
     {"x-id": "i7", "x-time": "1767225600000", "x-signature": hmac.digest(b"k", b"i7:1767225600000:body", "sha256").hex()}),
    ({"encoding": "base64"},
     {"x-signature": "t=1767225600,v1=" + b64encode(hmac.digest(b"k", b"1767225600.body", "sha256")).decode()}),
])  # fmt: skip
def test_a_document_may_describe_a_scheme_of_its_own(auth: dict[str, Any], headers: dict[str, str]) -> None:
    proof = verify(general(**auth), headers, b"body", NOW, urls=["https://a/b"])
    assert proof.delivery == headers.get("x-id")
    with pytest.raises(Forbidden, match="does not match"):
        verify(general(**auth), headers, b"other", NOW, urls=["https://a/b"])
    made = signed_headers(general(**auth), b"body", NOW, secret="k", url="https://a/b", delivery="i7")
    verify(general(**auth), {name.lower(): value for name, value in made.items()}, b"body", NOW, urls=["https://a/b"])


@pytest.mark.parametrize("auth", [
    {"template": "{timestamp}"}, {"template": "{body}{secret}"}, {"template": ""}, {"algorithm": "md5"}, {"encoding": "base32"},
    {"hmac": []}, {"hmac": ["a"] * 6},
])  # fmt: skip
def test_a_scheme_that_proves_nothing_is_refused(auth: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        general(**auth)
