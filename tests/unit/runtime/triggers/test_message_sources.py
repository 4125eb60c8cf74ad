"""Sources of messages: webhooks and events that deliver a message to the run whose key they carry."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import pytest

from stepless.compile import check_document
from stepless.errors import Conflict, Forbidden, InvalidRequest, NotFound
from stepless.model.findings import Severity
from stepless.nodes import KINDS
from stepless.runtime.triggers.message_sources import Ignored
from stepless.runtime.triggers.webhooks import HookRequest
from stepless.runtime.verbs.changes.sending import Delivered
from stepless.runtime.wiring.local import Local, local

PAYMENT: dict[str, Any] = {
    "webhook": {"path": "/pay", "auth": "none"},
    "event": {"source": ["shop.payments"]},
    "where": "<body.type> == 'paid' or <event.source> == 'shop.payments'",
    "key": "<body.order> or <event.detail.order>",
    "map": {"amount": "<body.amount>", "of": "<event.detail.amount>"},
}


def order(payment: Mapping[str, Any] = PAYMENT, **top: Any) -> dict[str, Any]:
    return {
        "id": "order", "key": "<input.id>", "messages": {"payment": payment}, **top,
        "nodes": {"m": {"type": "manual"}, "paid": {"type": "receive", "after": "m", "with": {"message": "payment"}}},
    }  # fmt: skip


@pytest.fixture
def engine() -> Local:
    engine = local(None)
    engine.service.publish(order())
    return engine


def request(body: Any, path: str = "/pay", **headers: str) -> HookRequest:
    return HookRequest(path, "POST", {"content-type": "application/json", **headers}, {}, json.dumps(body).encode())


def waiting(engine: Local, run: str) -> list[dict[str, Any]]:
    """The messages that are in the inbox of a run."""
    signals = engine.world.store.read_inbox(run)
    return [{**json.loads(signal.body), "id": signal.identity} for signal in signals if signal.kind == "message"]


def test_a_webhook_delivers_to_the_run_of_its_key(engine: Local) -> None:
    run = engine.service.start("order", {"id": "A-1"}).run_id
    done = engine.service.receive_hook(request({"type": "paid", "order": "A-1", "amount": 7}))
    assert isinstance(done, Delivered) and done.delivered == (run,)
    (mail,) = waiting(engine, run)
    assert (mail["name"], mail["data"], mail["by"]) == ("payment", {"amount": 7, "of": None}, "webhook /pay")


def test_a_delivery_that_is_not_meant_is_ignored(engine: Local) -> None:
    run = engine.service.start("order", {"id": "A-1"}).run_id
    assert isinstance(engine.service.receive_hook(request({"type": "refunded", "order": "A-1"})), Ignored)
    assert waiting(engine, run) == []


def test_a_delivery_without_a_key_or_a_receiver_is_refused(engine: Local) -> None:
    with pytest.raises(InvalidRequest) as refused:
        engine.service.receive_hook(request({"type": "paid"}))
    assert refused.value.code == "key_missing"
    with pytest.raises(NotFound) as unknown:
        engine.service.receive_hook(request({"type": "paid", "order": "B-9"}))
    assert unknown.value.code == "no_receiver"


def test_a_retry_of_the_sender_delivers_once(engine: Local) -> None:
    run = engine.service.start("order", {"id": "A-1"}).run_id
    for _ in range(2):
        engine.service.receive_hook(request({"type": "paid", "order": "A-1"}, **{"idempotency-key": "evt-1"}))
    assert [mail["id"] for mail in waiting(engine, run)] == ["evt-1"]


def test_a_signature_is_verified(engine: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAY", "the-secret-of-the-sender")
    signed = {**PAYMENT, "webhook": {"path": "/pay", "auth": {"scheme": "github", "secret": "${PAY}"}}}
    engine.service.publish(order(signed, env=["PAY"]))
    run = engine.service.start("order", {"id": "A-1"}).run_id
    body = json.dumps({"type": "paid", "order": "A-1"}).encode()
    sent = request({"type": "paid", "order": "A-1"})
    with pytest.raises(Forbidden):
        engine.service.receive_hook(sent)
    proof = "sha256=" + hmac.new(b"the-secret-of-the-sender", body, sha256).hexdigest()
    headers = {**sent.headers, "x-hub-signature-256": proof, "x-github-delivery": "d-1"}
    for _ in range(2):
        done = engine.service.receive_hook(HookRequest("/pay", "POST", headers, {}, body))
        assert isinstance(done, Delivered) and done.delivered == (run,)
    assert len(waiting(engine, run)) == 1


def test_an_event_delivers_once(engine: Local) -> None:
    run = engine.service.start("order", {"id": "A-1"}).run_id
    event = {"id": "e-1", "source": "shop.payments", "detail-type": "Paid", "detail": {"order": "A-1", "amount": 3}}
    for _ in range(2):
        assert engine.service.deliver(event) == []
    assert [mail["data"] for mail in waiting(engine, run)] == [{"amount": None, "of": 3}]
    engine.service.deliver({**event, "id": "e-2", "source": "other"})
    engine.service.deliver({**event, "id": "e-3", "detail": {"order": "nobody"}})
    assert len(waiting(engine, run)) == 1


def test_an_event_may_be_two_messages_of_one_run(engine: Local) -> None:
    source = {"event": {"source": ["shop.payments"]}, "key": "<event.detail.order>"}
    engine.service.publish(order(source, messages={"payment": source, "audit": source}))
    run = engine.service.start("order", {"id": "A-1"}).run_id
    event = {"id": "e-1", "source": "shop.payments", "detail-type": "Paid", "detail": {"order": "A-1"}}
    for _ in range(2):
        assert engine.service.deliver(event) == []
    assert sorted(mail["name"] for mail in waiting(engine, run)) == ["audit", "payment"]


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({}, {}),
        ({}, {"order": None}),
        ({"key": "<event.detail.order> + 1"}, {"order": "A-1"}),
        ({"map": {"amount": "{{ 1 / <event.detail.amount> }}"}}, {"order": "A-1", "amount": 0}),
        ({"where": "<event.detail.amount> > 1"}, {"order": "A-1", "amount": "two"}),
    ],
)
def test_an_event_whose_receiver_cannot_be_told_is_an_error_and_no_guess(
    engine: Local, more: Mapping[str, Any], detail: Mapping[str, Any]
) -> None:
    """Its queue delivers it again, and in the end keeps it as a dead letter. What else it is for is delivered."""
    bad = {"event": {"source": ["shop.payments"]}, "key": "<event.detail.order>", **more}
    fine = {"event": {"source": ["shop.payments"]}, "key": "'A-1'"}
    engine.service.publish(order(bad, messages={"payment": bad, "audit": fine}))
    run = engine.service.start("order", {"id": "A-1"}).run_id
    with pytest.raises(InvalidRequest) as refused:
        engine.service.deliver({"id": "e-1", "source": "shop.payments", "detail-type": "Paid", "detail": detail})
    assert (refused.value.code, refused.value.place) == ("key_missing", "messages.payment")
    assert [mail["name"] for mail in waiting(engine, run)] == ["audit"]


def test_a_path_belongs_to_one_workflow(engine: Local) -> None:
    with pytest.raises(Conflict) as refused:
        engine.service.publish({**order(), "id": "other"})
    assert refused.value.code == "webhook_path_taken"


@pytest.mark.parametrize(
    ("payment", "code", "place"),
    [
        ({"webhook": {"path": "/pay"}}, "missing_field", "key"),
        ({"webhook": {"path": "pay"}, "key": "<body.id>"}, "invalid_value", "webhook.path"),
        (
            {"webhook": {"path": "/pay", "auth": {"scheme": "slak", "secret": "s"}}, "key": "<body.a>"}, "invalid_value",
            "webhook",
        ),
        ({"webhook": {"path": "/pay"}, "key": "<event.id>"}, "unknown_reference", "key"),
        ({"webhook": {"path": "/pay"}, "key": "<body.id"}, "expression_syntax", "key"),
        ({"event": {"source": "x"}, "key": "<event.id>"}, "invalid_pattern", "event.source"),
        ({"where": "1 == 1"}, "idle_setting", "where"),
        ({"webhook": {"path": "/pay"}, "key": "<body.id>", "map": {"a": "<order.id>"}}, "unknown_reference", "map"),
    ],
)
def test_a_faulty_source_is_told_with_its_place(payment: dict[str, Any], code: str, place: str) -> None:
    found = [(one.code, one.path) for one in check_document(order(payment), KINDS) if one.severity is Severity.ERROR]
    assert any(one == code and path.startswith(f"messages.payment.{place}") for one, path in found), found


def test_a_path_of_an_entry_of_the_workflow_is_refused() -> None:
    document = order({"webhook": {"path": "/pay", "auth": "none"}, "key": "<body.id>"})
    document["nodes"]["m"] = {"type": "webhook", "with": {"path": "/pay", "auth": "none"}}
    (finding,) = [found for found in check_document(document, KINDS) if found.severity is Severity.ERROR]
    assert (finding.code, finding.path) == ("doubled_path", "messages.payment.webhook.path")
