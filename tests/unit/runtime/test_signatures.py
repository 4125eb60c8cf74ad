"""Signatures as senders make them, with the examples that the schemes publish, and deliveries that come twice."""

from __future__ import annotations

import hmac
import json
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Any

import pytest

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.errors import Forbidden, SteplessError
from stepless.nodes.webhook import Signed
from stepless.runtime.bootstrap import Local, local
from stepless.runtime.signatures import sign, verify
from stepless.runtime.webhooks import HookRequest

STANDARD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"id": "evt_1", "test": 2432232314}'


def standard(delivery: str, seconds: int, body: bytes = BODY) -> dict[str, str]:
    mac = hmac.new(b64decode(STANDARD[6:]), f"{delivery}.{seconds}.".encode() + body, sha256).digest()
    return {"webhook-id": delivery, "webhook-timestamp": str(seconds), "webhook-signature": f"v1a,x v1,{b64encode(mac).decode()}"}


def headers_of(scheme: str, secret: str, now_ms: int, delivery: str = "d1", body: bytes = BODY) -> dict[str, str]:
    match scheme:
        case "github":
            mac = hmac.new(secret.encode(), body, sha256).hexdigest()
            return {"x-hub-signature-256": f"sha256={mac}", "x-github-delivery": delivery}
        case "standard":
            return standard(delivery, now_ms // 1000, body)
        case "stripe":
            return {"stripe-signature": f"{sign(secret, body, now_ms)},v1=0000,v0=1"}
    return {"x-signature": sign(secret, body, now_ms)}


def test_the_examples_that_the_schemes_publish_hold() -> None:
    github = Signed(scheme="github", secret="It's a Secret to Everybody")
    told = {"x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}
    assert verify(github, told, b"Hello, World!", 0).delivery is None
    given = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
             "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}  # fmt: skip
    proof = verify(Signed(scheme="standard", secret=STANDARD), given, b'{"test": 2432232314}', 1_614_265_330_000)
    assert proof.delivery == "msg_p5jXN8AQM9LWM0D4loKWxJek"


def door(scheme: str, secret: str) -> Local:
    built = local(None, secrets=MemorySecrets({"KEY": secret}))
    auth = {"scheme": scheme, "secret": "${KEY}"}
    built.service.publish({"id": "w", "env": ["KEY"], "nodes": {"n": {"type": "webhook", "with": {"path": "/in", "auth": auth}}}})
    return built


SCHEMES = [("hmac", "shared-secret"), ("github", "shared-secret"), ("stripe", "whsec_shared"), ("standard", STANDARD)]


@pytest.mark.parametrize(("scheme", "secret"), SCHEMES)
def test_a_genuine_request_starts_one_run_however_often_it_comes(scheme: str, secret: str) -> None:
    built = door(scheme, secret)
    now_ms = built.world.clock.now_ms()
    request = HookRequest("/in", "POST", headers_of(scheme, secret, now_ms) | {"x-try": "1"}, {}, BODY)
    first = built.service.trigger(request).started
    assert not any("signature" in name for name in built.service.run(first.run_id).inputs["headers"])
    again = HookRequest("/in", "POST", headers_of(scheme, secret, now_ms + 1000) | {"x-try": "2"}, {}, BODY)
    if scheme == "hmac":
        with pytest.raises(SteplessError, match="accepted before"):
            built.service.trigger(request)
    else:
        assert built.service.trigger(again).started.run_id == first.run_id


@pytest.mark.parametrize(("scheme", "secret"), SCHEMES)
@pytest.mark.parametrize("tamper", ["body", "secret", "missing", "old"])
def test_a_forged_or_stale_request_is_refused(scheme: str, secret: str, tamper: str) -> None:
    if (scheme, tamper) == ("github", "old"):
        return  # signs no time
    now_ms = 1_800_000_000_000
    made = headers_of(scheme, secret, now_ms - (301_000 if tamper == "old" else 0))
    auth = Signed(scheme=scheme, secret=STANDARD[:-1] + "z" if tamper == "secret" else secret)  # type: ignore[arg-type]
    with pytest.raises(Forbidden) as refused:
        verify(auth, {} if tamper == "missing" else made, BODY + b" " if tamper == "body" else BODY, now_ms)
    assert refused.value.error_code == ("stale_signature" if tamper == "old" else "bad_signature")
    assert refused.value.http_status == 401


def test_another_delivery_is_another_run_and_a_changed_one_a_conflict() -> None:
    built = door("standard", STANDARD)
    seconds = built.world.clock.now_ms() // 1000

    def send(delivery: str, body: bytes = BODY) -> Any:
        return built.service.trigger(HookRequest("/in", "POST", standard(delivery, seconds, body), {}, body)).started.run_id

    assert send("a") != send("b")
    with pytest.raises(SteplessError, match="other inputs"):
        send("a", json.dumps({"another": 1}).encode())


def test_a_secret_that_is_none_of_the_schemes_opens_nothing() -> None:
    with pytest.raises(Forbidden) as refused:
        verify(Signed(scheme="standard", secret="whsec_???"), standard("a", 1), BODY, 1000)
    assert refused.value.http_status == 503
