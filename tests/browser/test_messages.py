"""Messages in a real browser: sent by a form to a run, to the runs of a key and to a test run; the mailbox; their declaration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe import violations
from draft_site import KEY, DraftSite, Person
from windows import AS_FORM, Windows, block, canvas, pick, saved, until

DATA = {"type": "object", "required": ["amount"], "properties": {
    "amount": {"type": "number", "minimum": 0, "title": "Amount"}, "currency": {"enum": ["EUR", "USD"], "default": "EUR"},
}}  # fmt: skip
MESSAGES: dict[str, Any] = {
    "payment": {
        "data": DATA, "webhook": {"path": "/pay"}, "where": "<body.paid>", "key": "<body.order>",
        "map": {"amount": "<body.amount>"}, "keep": "1h",
    },
    "parcel": {"event": {"source": ["shop.parcels"]}, "key": "<event.detail.order>"},
    "note": {"data": {"type": "string", "maxLength": 2000}},
    "gone": {},
}
LONG = "customer-" + "0123456789abcdef" * 15


def document(id: str) -> dict[str, Any]:
    return {
        "id": id, "key": "<input.id>", "cancel_on": ["gone"],
        "messages": {**MESSAGES, "payment": {**MESSAGES["payment"], "webhook": {"path": f"/pay-{id}"}}},
        "nodes": {
            "order": {"type": "manual"},
            "paid": {"type": "receive", "after": "order", "with": {
                "message": "payment", "where": "<message.amount> >= 100", "timeout": "3d"}},
            "late": {"type": "transform", "after": "paid.timeout", "with": {"value": "late"}},
            "ship": {"type": "transform", "after": "paid", "with": {"value": "<paid.amount>"}},
        },
    }  # fmt: skip


@pytest.fixture
def ada(draft_site: DraftSite) -> Person:
    return draft_site.administrator()


@pytest.fixture
def ordered(draft_site: DraftSite, workflow: str) -> str:
    answer = draft_site.client.put(f"/workflows/{workflow}", json=document(workflow))
    assert answer.status_code == 201, answer.text
    return workflow


def start(site: DraftSite, workflow: str, key: str) -> str:
    return str(site.client.post(f"/workflows/{workflow}/runs", json={"inputs": {"id": key}}).raise_for_status().json()["run_id"])


def send(site: DraftSite, workflow: str, key: str, name: str, data: Any) -> None:
    site.client.post(f"/workflows/{workflow}/messages/{name}", params={"key": key}, json=data).raise_for_status()


@pytest.fixture
def wide(windows: Windows, ada: Person) -> Iterator[Any]:
    """A window of Ada, which looks at pages at each width and in both themes."""
    yield windows.open(ada, ada.page(), ".bar", AS_FORM)
    assert windows.faults == []


def seen(page: Any, name: str) -> None:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width in (1440, 1024, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), (name, width)
            if width != 1024:
                assert violations(page, f"{name} {width} {theme}") == []
    page.set_viewport_size({"width": 1440, "height": 900})


def test_a_message_is_sent_to_a_run_by_the_form_of_its_schema(
    draft_site: DraftSite, ada: Person, wide: Any, ordered: str
) -> None:
    run = start(draft_site, ordered, "A-17")
    wide.goto(ada.page() + f"runs/{run}?tab=messages")
    wide.locator(".run-question").get_by_text("waits for the message payment (key A-17) until").wait_for()
    wide.locator(".awaited").get_by_text("<message.amount> >= 100").wait_for()
    seen(wide, "messages")
    wide.get_by_role("button", name="Send a message…").click()
    dialog = wide.get_by_role("dialog", name="Send a message")
    assert dialog.get_by_label("Message").input_value() == "payment", "what the run waits for is offered first"
    dialog.get_by_role("button", name="Send", exact=True).click()
    dialog.get_by_text("This is required.").wait_for()
    dialog.get_by_label("Amount").fill("much")
    dialog.get_by_role("button", name="Send", exact=True).click()
    dialog.get_by_text("Not sent: one field is invalid.").wait_for()
    assert dialog.get_by_label("Amount").get_attribute("aria-invalid") == "true"
    seen(wide, "a message that is refused")
    dialog.get_by_label("Amount").fill("40")
    dialog.get_by_role("button", name="Write JSON").click()
    assert dialog.get_by_label("JSON").input_value() == '{\n  "amount": 40\n}'
    dialog.get_by_role("button", name="Use the form").click()
    dialog.get_by_role("button", name="Send", exact=True).click()
    dialog.wait_for(state="detached")
    letter = wide.locator(".mails > li")
    letter.get_by_text("payment", exact=True).click()
    letter.locator(".json").get_by_text("40").wait_for()
    seen(wide, "a mailbox")
    wide.locator(".run-question").get_by_role("button", name="Send…").click()
    dialog.get_by_label("Amount").fill("140")
    dialog.get_by_role("button", name="Send", exact=True).click()
    wide.locator(".run-status").get_by_text("completed").wait_for()
    wide.get_by_text("The run ended without taking this message.").wait_for()
    found = draft_site.client.get(f"/runs/{run}").json()
    assert (found["outputs"]["ship"], [mail["name"] for mail in found["unread"]]) == (140, ["payment"])
    assert wide.get_by_role("button", name="Send a message…").count() == 0, "nothing can be sent to a run that has ended"


def test_a_plain_value_and_a_message_without_a_schema_have_their_forms_too(
    draft_site: DraftSite, ada: Person, wide: Any, ordered: str
) -> None:
    run = start(draft_site, ordered, "B-1")
    wide.goto(ada.page() + f"runs/{run}?tab=messages")
    wide.get_by_role("button", name="Send a message…").click()
    dialog = wide.get_by_role("dialog", name="Send a message")
    dialog.get_by_label("Message").select_option("note")
    dialog.get_by_label("data").fill("Please call first.")
    dialog.get_by_role("button", name="Send", exact=True).click()
    dialog.wait_for(state="detached")
    wide.locator(".mails summary").click()
    wide.locator(".mails .json").get_by_text("Please call first.").wait_for()
    wide.get_by_role("button", name="Send a message…").click()
    dialog.get_by_label("Message").select_option("gone")
    dialog.get_by_text("This message cancels the run").wait_for()
    dialog.get_by_role("textbox").fill("{")
    dialog.get_by_role("button", name="Send", exact=True).click()
    dialog.get_by_text("The data is not JSON").wait_for()
    dialog.get_by_role("textbox").fill("")
    dialog.get_by_role("button", name="Send", exact=True).click()
    wide.locator(".run-status").get_by_text("cancelled").wait_for()


def test_much_mail_and_a_long_key_stay_within_the_window(draft_site: DraftSite, ada: Person, wide: Any, ordered: str) -> None:
    run = start(draft_site, ordered, LONG)
    for number in range(103):
        send(draft_site, ordered, LONG, "note", f"{number} " + "long " * 300)
    wide.goto(ada.page() + f"runs/{run}?tab=messages")
    wide.get_by_text("The oldest 100 are shown, 3 more are unread.").wait_for()
    wide.get_by_role("link", name="103 unread messages").wait_for()
    assert wide.locator(".mails > li").count() == 100
    wide.locator(".mails summary").first.click()
    wide.locator(".mails .json").get_by_text("0 long long").wait_for()
    seen(wide, "much mail")


def test_the_page_of_a_workflow_has_its_messages_with_their_sources(
    draft_site: DraftSite, ada: Person, wide: Any, ordered: str
) -> None:
    live = start(draft_site, ordered, "C-1")
    wide.goto(ada.page() + f"workflows/{ordered}/messages")
    payment = wide.locator(".message").filter(has=wide.get_by_role("heading", name="payment"))
    payment.get_by_text(f"{ada.cable.url}/hooks/pay-{ordered}").wait_for()
    text = payment.inner_text()
    assert all(one in text for one in ("<body.paid>", "<body.order>", '{"amount":"<body.amount>"}', "Taken by paid", "waits 1h"))
    assert '{"source":["shop.parcels"]}' in wide.locator(".message").nth(1).inner_text()
    assert "It cancels the run." in wide.locator(".message").nth(3).inner_text()
    wide.get_by_role("searchbox", name="Find the runs of a key").fill("C-1")
    wide.get_by_role("button", name="Find").click()
    assert live.endswith(wide.locator(".keyed-runs a").inner_text())
    seen(wide, "messages of a workflow")
    payment.get_by_role("button", name="Send…").click()
    dialog = wide.get_by_role("dialog", name="Send the message payment")
    seen(wide, "a message to a key")
    dialog.get_by_label("Key of the runs").fill("D-1")
    dialog.get_by_label("Start a run if none has this key").check()
    dialog.get_by_label("Amount").fill("500")
    dialog.get_by_role("button", name="Send", exact=True).click()
    dialog.get_by_text("A run was started with it.").wait_for()
    dialog.get_by_role("button", name="Send another").click()
    assert dialog.get_by_label("Key of the runs").input_value() == "D-1"
    dialog.get_by_label("Key of the runs").fill("nobody")
    dialog.get_by_label("Start a run if none has this key").uncheck()
    dialog.get_by_label("Amount").fill("1")
    dialog.get_by_role("button", name="Send", exact=True).click()
    dialog.get_by_text("No run answers to the key yet.").wait_for()
    dialog.get_by_text("It is kept").wait_for()
    [run] = draft_site.client.get(f"/workflows/{ordered}/keys/D-1").json()["runs"]
    assert draft_site.client.get(f"/runs/{run['run_id']}").json()["outputs"] == {"ship": 500}


def test_a_start_that_joins_says_so(draft_site: DraftSite, ada: Person, wide: Any, ordered: str) -> None:
    live = start(draft_site, ordered, "E-1")
    wide.goto(ada.page() + f"workflows/{ordered}/start")
    wide.get_by_role("textbox", name="JSON").fill('{"id": "E-1", "more": true}')
    wide.get_by_role("button", name="Start the run").click()
    wide.get_by_text("A run with the key E-1 is live, so no other was started.").wait_for()
    seen(wide, "a start that joins")
    wide.get_by_role("link", name="Open run").click()
    until(wide, "run => location.pathname.endsWith(run)", live)


def test_a_message_is_sent_to_a_test_run(draft_site: DraftSite, windows: Windows, ada: Person, workflow: str) -> None:
    draft_site.open(workflow, document(workflow))
    page = windows.open(ada, ada.page(workflow), script=AS_FORM)
    page.get_by_role("button", name="Test run").click()
    dialog = page.get_by_role("dialog", name="Test run")
    dialog.get_by_role("textbox", name="Inputs").fill('{"id": "T-1"}')
    dialog.get_by_role("button", name="Start the test run").click()
    page.locator(".testbar").get_by_text("waiting for a message").wait_for()
    page.locator(".testbar").get_by_role("button", name="Send a message…").click()
    sending = page.get_by_role("dialog", name="Send a message")
    sending.get_by_label("Amount").fill("100")
    assert violations(page, "a message to a test run") == []
    sending.get_by_role("button", name="Send", exact=True).click()
    page.locator(".testbar").get_by_text("Test run completed").wait_for()
    block(page, "ship").locator(".block-kind[data-status=completed]").wait_for()


def test_nodes_and_messages_are_declared_in_forms(draft_site: DraftSite, windows: Windows, ada: Person, workflow: str) -> None:
    draft_site.open(workflow, {"id": workflow, "nodes": {"order": {"type": "manual"}}})
    page = windows.open(ada, ada.page(workflow), script=AS_FORM)
    canvas(page)
    pick(page, "a", "receive")
    page.locator("#with-message").wait_for()
    saved(page)
    assert draft_site.document(workflow)["messages"] == {"update": {}}
    assert violations(page, "a node that receives") == []
    canvas(page)
    page.keyboard.press("Escape")
    page.get_by_text("Name, messages, variables and limits").click()
    page.get_by_text("Key and messages").locator("visible=true").wait_for()
    page.locator("#set-key").fill("<input.id>")
    page.locator("#set-on_conflict").select_option("replace")
    page.locator(".message-form > summary").click()
    page.locator("#message-update").fill("payment")
    page.locator("#message-update").press("Enter")
    page.locator("#message-payment-keep").fill("1h")
    page.locator("#message-payment-webhook-path").fill(f"/{workflow}")
    page.locator("#message-payment-key").fill("<body.order>")
    page.get_by_role("button", name="Add a message").click()
    page.locator("#message-update").fill("gone")
    page.locator("#message-update").press("Enter")
    page.get_by_role("group", name="cancel_on").get_by_role("checkbox", name="gone").check()
    assert violations(page, "the messages of a workflow") == []
    saved(page)
    made = draft_site.document(workflow)
    assert made["nodes"]["receive"]["with"] == {"message": "payment"}, "a node that waits for a message follows its name"
    assert made["messages"] == {"payment": {"keep": "1h", "webhook": {"path": f"/{workflow}"}, "key": "<body.order>"}, "gone": {}}
    assert (made["key"], made["on_conflict"], made["cancel_on"]) == ("<input.id>", "replace", ["gone"])


def test_who_cannot_invite_is_not_offered_it(draft_site: DraftSite, windows: Windows) -> None:
    admin, reader = draft_site.administrator(), draft_site.person("Reader", "read")
    page = windows.open(admin, admin.page(), ".bar")
    page.get_by_role("button", name="Invite").wait_for()
    other = windows.open(reader, reader.page(), ".bar")
    other.get_by_role("button", name="Invite").wait_for(state="detached")
    scope = windows.bare()
    scope.add_init_script(f"sessionStorage.setItem('stepless.token', {KEY!r})")
    settings = {"drafts": True, "invitations": False, "socket": None, "login": None}
    scope.route("**/console/settings", lambda route: route.fulfill(json=settings))
    closed = windows.tab(scope, f"{draft_site.url}/console/", ".bar")
    closed.get_by_role("button", name="Invite").wait_for(state="detached")
