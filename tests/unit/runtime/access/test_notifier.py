"""Notices of pauses: sent after the pause is in the log, until one arrives, once, and again as a reminder."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.core.state import Instance, State, Wait
from stepless.limits import MAX_NOTICE_TRIES, NOTICE_BACKOFF_MS
from stepless.model.texts.company import NONE, Company
from stepless.model.texts.details import details_of
from stepless.model.work import NodeFailure
from stepless.ports import HttpAnswer, HttpRequest, Message
from stepless.runtime.access.invitations import Invitations
from stepless.runtime.access.notifier import Notifier
from stepless.runtime.access.question_formats import Question, slack
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import InvocationEnd, Runner
from stepless.runtime.wiring.local import Local, local


@dataclass
class Clock:
    """Goes on a little at every look: a run that stays for what is due soon need not wait."""

    now: int = 1_800_000_000_000
    step_ms: int = 50  # of a look; as long as the first wait between two tries, and nothing is waited for

    def now_ms(self) -> int:
        self.now += self.step_ms
        return self.now


@dataclass
class Post:
    """Fails as often as `faults` say, then keeps what it was given. Looks into the log before it does anything."""

    faults: list[Exception] = field(default_factory=list)
    got: list[int] = field(default_factory=list)
    events: Any = None
    seen: list[list[str]] = field(default_factory=list)

    async def __call__(self, state: State, instance: Instance, wait: Wait, env: Mapping[str, str], now_ms: int) -> None:
        self.seen.append([event["type"] for event in self.events()])
        if self.faults:
            raise self.faults.pop(0)
        self.got.append(wait.sent)


DETAILS: list[dict[str, Any]] = [
    {"label": "Amount", "value": 1250.5, "currency": "EUR"},
    {"label": "Order", "value": "<A-17> & co", "link": "https://shop.example/orders/A-17"},
    {"label": "Since", "value": "2026-01-31T12:00:00Z", "format": "time"},
    {"value": "**Why**: see [the rules](https://shop.example/rules) <!channel>", "format": "markdown"},
]


def asking(post: Post, **params: Any) -> tuple[Local, Clock, str]:
    built, clock = local(None, secrets=MemorySecrets({"HOOK": "https://hooks.example/zq7-secret-path"})), Clock()
    built.service.world = built.world = replace(built.world, clock=clock, notify=post)
    node = {"type": "approval", "with": {"message": "Go?", "notify": "${HOOK}", **params}}
    built.service.publish({"id": "ask", "env": ["HOOK"], "nodes": {"q": node, "yes": {"type": "join", "after": "q.approved"}}})
    run_id = built.service.start("ask", {}).run_id
    post.events = lambda: built.service.events(run_id).events
    return built, clock, run_id


def go(built: Local, run_id: str) -> InvocationEnd:
    return asyncio.run(Runner(built.world).run(Message(run_id, "sweep"), Budget(60_000)))


def notes(built: Local, run_id: str) -> list[str]:
    return [str(event["payload"]["code"]) for event in built.service.events(run_id).events if event["type"] == "node.log"]


def test_people_are_told_once_after_the_pause_is_in_the_log() -> None:
    post = Post()
    built, clock, run_id = asking(post)
    assert go(built, run_id) is InvocationEnd.PARKED
    assert post.got == [0]
    assert "node.waiting" in post.seen[0]
    assert notes(built, run_id) == ["notified"]
    clock.now += 3_600_000
    go(built, run_id)
    assert post.got == [0], "a later invocation tells nobody again"


def test_a_notice_that_does_not_arrive_is_tried_again_and_the_pause_stands() -> None:
    unreachable = OSError("POST https://hooks.example/zq7-secret-path is unreachable")
    post = Post([NodeFailure("provider_error", "http_500", "no"), unreachable])
    built, clock, run_id = asking(post)
    clock.step_ms = NOTICE_BACKOFF_MS
    for _ in range(4):
        go(built, run_id)
        assert built.service.run(run_id).status == "paused"
        clock.now += 10_000
    assert notes(built, run_id) == ["not_notified", "not_notified", "notified"]
    assert "zq7" not in repr(built.service.events(run_id))


def test_whoever_cannot_be_told_is_given_up_and_may_still_answer() -> None:
    post = Post([RuntimeError("never")] * 100)
    built, clock, run_id = asking(post)
    clock.step_ms = NOTICE_BACKOFF_MS
    for _ in range(MAX_NOTICE_TRIES + 5):
        go(built, run_id)
        clock.now += 3_600_001
    assert notes(built, run_id) == ["not_notified"] * MAX_NOTICE_TRIES
    built.service.answer_pause(run_id, "q", "approved", {})
    go(built, run_id)
    assert built.service.run(run_id).status == "completed"


def test_a_reminder_comes_when_it_is_due_and_none_after_the_answer() -> None:
    post = Post()
    built, clock, run_id = asking(post, reminders=["1h", "2h", "3h"])
    go(built, run_id)
    clock.now += 3_590_000
    go(built, run_id)
    assert post.got == [0]
    for _ in range(2):
        clock.now += 3_600_001
        go(built, run_id)
    assert post.got == [0, 1, 2]
    built.service.answer_pause(run_id, "q", "approved", {})
    clock.now += 9 * 3_600_000
    go(built, run_id)
    assert post.got == [0, 1, 2]


def test_a_crash_between_notice_and_log_tells_again_rather_than_never() -> None:
    post = Post()
    built, clock, run_id = asking(post)
    asked = asyncio.Event()

    async def hangs(*_: Any) -> None:
        asked.set()
        await asyncio.Event().wait()

    async def dies() -> None:
        task = asyncio.create_task(Runner(replace(built.world, notify=hangs)).run(
            Message(run_id, "start"), Budget(60_000)
        ))  # fmt: skip
        await asked.wait()
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(dies())
    clock.now += 60_000
    go(built, run_id)
    assert post.got == [0]


class Mailbox(BaseHTTPRequestHandler):
    """Keeps what is posted to it."""

    got: ClassVar[list[tuple[str, str, dict[str, Any]]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.got.append((self.path, self.headers["idempotency-key"], body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Keeps quiet."""


def test_a_url_is_posted_to_with_a_link_for_every_approver_and_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPLESS_HTTP_ALLOW", "127.0.0.1")
    built, _, run_id = asking(Post(), approvers=["ada", "bob"])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Mailbox)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    signer = built.service.signer
    notices = Notifier(Invitations(signer.sign, "https://flows.example"), built.world.http, None, None)
    target = MemorySecrets({"HOOK": f"http://127.0.0.1:{server.server_port}/zq7-secret-path"})
    built.world = replace(built.world, notify=notices.send, secrets=target)
    go(built, run_id)
    server.shutdown()
    thread.join()
    server.server_close()
    [(path, key, notice)] = Mailbox.got
    assert (path, key, notice["message"], notice["pause"]) == ("/zq7-secret-path", f"{run_id}:q:notice:1", "Go?", "q")
    token = notice["links"]["bob"]["rejected"].removeprefix("https://flows.example/resume/")
    claims = signer.verify(token, built.world.clock.now_ms())
    assert (claims.pause, claims.exit, claims.approver) == ("q", "rejected", "bob")
    assert "zq7" not in repr(built.service.run(run_id)) + repr(built.service.events(run_id))


class FakeAws:
    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Mapping[str, Any]]] = []

    async def call(self, service: str, action: str, params: Mapping[str, Any], *, token: str, timeout_ms: int) -> Any:
        self.asked.append((service, action, params))


@pytest.mark.parametrize(("target", "service", "where"), [
    ("arn:aws:sns:eu-central-1:1:people", "sns", "'TopicArn': 'arn:aws:sns:eu-central-1:1:people'"),
    ("mailto:ada@example.com", "sesv2", "'ToAddresses': ['ada@example.com']"),
])
def test_a_topic_and_a_mailbox_are_told_with_links_that_hold(target: str, service: str, where: str) -> None:
    aws: Any = FakeAws()
    built, clock, run_id = asking(Post())
    signer = built.service.signer
    notices = Notifier(Invitations(signer.sign, "https://flows.example/"), built.world.http, aws, "flows@example.com")
    built.world = replace(built.world, notify=notices.send, secrets=MemorySecrets({"HOOK": target}))
    go(built, run_id)
    [(asked, _, params)] = aws.asked
    assert asked == service
    assert where in str(params)
    token = str(params).partition("https://flows.example/resume/")[2].split('"')[0].split("\\")[0]
    assert signer.verify(token, clock.now).pause == "q"


def sent_to(target: str, company: Company = NONE, **params: Any) -> tuple[str, Any]:
    """The one notice of an approval: the name of the run, and what AWS or the receiver of a URL got."""
    aws: Any = FakeAws()

    class Receiver:
        async def send(self, request: HttpRequest) -> HttpAnswer:
            aws.asked.append(("http", request.url, json.loads(request.content or b"")))
            return HttpAnswer(200, {}, b"")

    built, _, run_id = asking(Post(), details=DETAILS, asked_by="Grace <Hopper>", timeout="1d", **params)
    invitations = Invitations(built.service.signer.sign, "https://flows.example")
    notices = Notifier(invitations, Receiver(), aws, "flows@example.com", company)
    built.world = replace(built.world, notify=notices.send, secrets=MemorySecrets({"HOOK": target}))
    go(built, run_id)
    [(_, _, params_)] = aws.asked
    return run_id, params_


def test_mail_says_what_is_decided_and_its_buttons_lead_to_the_page() -> None:
    company = Company("Acme & Sons", "https://acme.example/logo.svg", "#ffcc00")
    _, params = sent_to("mailto:ada@example.com", company, message="Go on?")
    body = params["Content"]["Simple"]["Body"]
    html, text = body["Html"]["Data"], body["Text"]["Data"]
    for said in ("Go on?", "1,250.50 EUR", "31 January 2026, 12:00 UTC", "<b>Why</b>", "Grace &lt;Hopper&gt;", "Acme &amp; Sons"):
        assert said in html, said
    assert "&lt;A-17&gt; &amp; co</a>" in html and "&lt;!channel&gt;" in html
    assert 'href="https://shop.example/orders/A-17"' in html and 'src="https://acme.example/logo.svg"' in html
    assert "background:#ffcc00;color:#000000" in html
    assert re.findall(r">(Approve|Reject)</a>", html) == ["Approve", "Reject"]
    assert html.count("https://flows.example/resume/") == 2
    assert "<script" not in html and "<form" not in html
    assert "Order: <A-17> & co (https://shop.example/orders/A-17)" in text and "Asked by: Grace <Hopper>" in text
    assert "Why: see the rules (https://shop.example/rules)" in text and "Approve: https://flows.example/resume/" in text


def test_mail_has_the_buttons_of_each_approver() -> None:
    _, params = sent_to("mailto:team@example.com", approvers=["ada", "bob"])
    html = params["Content"]["Simple"]["Body"]["Html"]["Data"]
    assert re.findall(r">(ada|bob|Approve|Reject)<", html) == ["ada", "Approve", "Reject", "bob", "Approve", "Reject"]


def test_slack_gets_blocks_with_buttons_and_times_that_it_formats_itself() -> None:
    _, body = sent_to("https://hooks.slack.com/services/T/B/x", message="Go on?\nIt is <urgent>.")
    assert body["text"] == "ask: Go on?"
    kinds = [block["type"] for block in body["blocks"]]
    assert kinds == ["header", "section", "section", "section", "section", "section", "context", "actions"]
    said = json.dumps(body)
    assert "*Amount*\\n1,250.50 EUR" in said and "<https://shop.example/orders/A-17|&lt;A-17&gt; &amp; co>" in said
    assert "<!date^1769860800^{date_long_pretty}, {time}|31 January 2026, 12:00 UTC>" in said
    assert "*Why*: see <https://shop.example/rules|the rules> &lt;!channel&gt;" in said
    assert "Asked by: Grace &lt;Hopper&gt;" in said and "<!channel>" not in said
    buttons = body["blocks"][-1]["elements"]
    assert [button["text"]["text"] for button in buttons] == ["Approve", "Reject"]
    assert all(button["url"].startswith("https://flows.example/resume/") for button in buttons)


def test_slack_gets_no_more_blocks_than_it_takes() -> None:
    people = {f"p{number}": {"answer": "https://x.example"} for number in range(100)}
    question = Question("w", "Go?", "", details_of({"details": [{"label": "n", "value": 1}] * 50}), None, people)
    blocks: Any = slack(question)["blocks"]
    assert len(blocks) <= 50 and blocks[-1]["elements"][0]["text"]["text"] == "Open"


def test_any_other_receiver_gets_the_details_as_they_are() -> None:
    _, notice = sent_to("https://hooks.example/x")
    assert notice["details"][0] == {"label": "Amount", "value": 1250.5, "currency": "EUR"}
    assert (notice["asked_by"], notice["workflow_name"]) == ("Grace <Hopper>", "ask")
