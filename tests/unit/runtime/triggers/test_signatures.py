"""Signatures as senders create them, with the examples that the schemes publish, and deliveries that arrive twice."""

from __future__ import annotations

import hmac
import json
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.errors import Conflict, Forbidden, InvalidRequest, SteplessError, StoreUnavailable
from stepless.nodes.entries.webhook import Signed
from stepless.ports import RunFilter
from stepless.runtime.service import Service
from stepless.runtime.triggers.challenges import Challenge
from stepless.runtime.triggers.signatures import sign, verify
from stepless.runtime.triggers.webhooks import HookRequest
from stepless.runtime.wiring.local import Local, local

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


def hooked(scheme: str, **more: Any) -> dict[str, Any]:
    params = {"path": "/in", "auth": {"scheme": scheme, "secret": "${KEY}"}, **more}
    return {"id": "w", "env": ["KEY"], "nodes": {"n": {"type": "webhook", "with": params}}}


def door(scheme: str, secret: str, **more: Any) -> Local:
    built = local(None, secrets=MemorySecrets({"KEY": secret}))
    built.service.publish(hooked(scheme, **more))
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
    for one in (request, request) if scheme == "hmac" else (request, again):
        answered = built.service.trigger(one).started
        assert (answered.run_id, answered.replay) == (first.run_id, True)


class Away:
    """A port that refuses some of its verbs as long as it is told to."""

    def __init__(self, port: Any, *verbs: str) -> None:
        self._port = port
        self.away = verbs

    def __getattr__(self, name: str) -> Any:
        if name in self.away:
            raise StoreUnavailable(f"{name} is away")
        return getattr(self._port, name)


def signed(built: Local, body: bytes = BODY, **headers: str) -> HookRequest:
    mine = headers_of("hmac", "shared-secret", built.world.clock.now_ms(), body=body)
    return HookRequest("/in", "POST", mine | headers, {}, body)


def test_a_check_of_the_address_is_an_answer_and_no_run() -> None:
    built = door("trello", "shared-secret")
    request = HookRequest("/in", "HEAD", {}, {}, b"")
    assert built.service.receive_hook(request) == Challenge()
    with pytest.raises(InvalidRequest, match="no event"):
        built.service.trigger(request)
    assert built.service.search(RunFilter()).items == ()


def test_a_refusal_spends_no_signature() -> None:
    built = door("hmac", "shared-secret", schema={"required": ["more"]})
    request = signed(built)
    with pytest.raises(SteplessError) as refused:
        built.service.trigger(request)
    assert refused.value.code == "schema_violated"
    built.service.publish(hooked("hmac"))
    assert not built.service.trigger(request).started.replay


@pytest.mark.parametrize(("port", "verb", "made"), [
    ("store", "claim", False), ("store", "create_run", False), ("store", "newest_version", False), ("queue", "send", True),
])  # fmt: skip
def test_the_same_bytes_after_a_503_are_one_run(port: str, verb: str, made: bool) -> None:
    built = door("hmac", "shared-secret")
    request = signed(built)
    broken = Away(getattr(built.world, port), verb)
    world = replace(built.world, **{port: broken})
    service = Service(world, built.service.signer)
    with pytest.raises(StoreUnavailable) as told:
        service.trigger(request)
    assert (told.value.code == "start_delayed") is made
    assert len(built.service.search(RunFilter()).items) == made
    broken.away = ()
    first = service.trigger(request).started
    assert not made or told.value.facts["run_id"] == first.run_id
    assert service.trigger(request).started.run_id == first.run_id
    assert [head.run_id for head in built.service.search(RunFilter()).items] == [first.run_id]


def test_the_bytes_of_an_accepted_request_are_its_run_whatever_key_comes_with_them() -> None:
    """The header is not signed: whoever records a request could send it with another one."""
    built = door("hmac", "shared-secret")
    request = signed(built, **{"idempotency-key": "order-7"})
    first = built.service.trigger(request).started
    for key in ({"idempotency-key": "another"}, {}):
        kept = {name: value for name, value in request.headers.items() if name != "idempotency-key"}
        assert built.service.trigger(replace(request, headers=kept | key)).started.run_id == first.run_id
    later = headers_of("hmac", "shared-secret", built.world.clock.now_ms() + 1000) | {"idempotency-key": "order-7"}
    assert built.service.trigger(replace(request, headers=later)).started.run_id == first.run_id, "the sender tries again"
    assert built.service.trigger(signed(built, b'{"id": 2}')).started.run_id != first.run_id


def test_a_signature_that_a_former_release_spent_stays_spent() -> None:
    built = door("hmac", "shared-secret")
    request, now_ms = signed(built), built.world.clock.now_ms()
    mac = request.headers["x-signature"].partition("v1=")[2]
    built.world.store.claim(f"signature:/in:{mac}", b"6d7946f8", now_ms, now_ms + 600_000)
    with pytest.raises(Conflict, match="already accepted"):
        built.service.trigger(request)
    assert built.service.search(RunFilter()).items == ()


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
    assert refused.value.code == ("stale_signature" if tamper == "old" else "bad_signature")
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
