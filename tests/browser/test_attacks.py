"""Attacks on the console in a real browser: what is written is shown as text, and a page of another site reaches nothing."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from draft_client import op
from draft_site import DraftSite, Person
from example_drafts import REFUND
from windows import Windows, block, canvas, choose, field, frames_of, saved, until

MARKUP = "<img src=x onerror=alert(1)><script>alert(1)</script>"
ATTACKS = [MARKUP, "\"><svg onload=alert(1)>", "javascript:alert(1)", "__proto__", "constructor", "{{7*7}}", "</textarea><b>",
           "\u202eabc\u0000"]  # fmt: skip
NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"]


def injected(page: Any) -> list[str]:
    """Elements that only the text of a draft can have made, and links that run a script."""
    found: list[str] = page.evaluate("""() => [
        ...document.querySelectorAll('img, iframe, object, embed, [onerror], [onload], [onclick], body script, textarea b'),
        ...[...document.querySelectorAll('a, area, form, use')].filter(one => /^\\s*(javascript|data|vbscript):/i.test(
            one.getAttribute('href') ?? one.getAttribute('action') ?? one.getAttribute('xlink:href') ?? '')),
    ].map(one => one.outerHTML.slice(0, 200))""")
    return found


def test_markup_in_every_name_is_text(windows: Windows, draft_site: DraftSite, workflow: str) -> None:
    nodes: dict[str, Any] = {"start": {"type": "manual"}}
    for place, attack in enumerate(ATTACKS):
        more = {attack: attack, "description": attack}
        nodes[attack] = {"type": attack, "after": [f"start.{attack}"], "with": {attack: attack}, **more}
        body = {"nodes": {attack: {"type": "end", "with": {attack: [attack]}}}}
        nodes[f"loop{place}"] = {"type": "loop", "with": {attack: attack, "body": body}}
    named = {"name": MARKUP, "description": MARKUP, "variables": dict.fromkeys(ATTACKS, MARKUP)}
    draft_site.open(workflow, {"id": workflow, **named, "nodes": nodes})
    markup = draft_site.person("<img src=x onerror=alert(1)>")
    other = windows.open(markup, markup.page(workflow))
    ada = draft_site.person("ada")
    page = windows.open(ada, ada.page(workflow))
    page.wait_for_selector(".head-people li")
    page.wait_for_selector(".findings-sum")
    page.locator(".findings-sum").click()
    canvas(other)
    other.keyboard.press("Control+a")
    page.wait_for_selector(".person-tag")
    canvas(page)
    seen = set()
    for _ in range(len(nodes) + len(ATTACKS)):
        page.keyboard.press("Tab")
        seen.add(page.locator("#name").input_value())
        page.locator(".yaml textarea").first.wait_for()
        assert injected(page) == []
    assert {MARKUP, "__proto__", "constructor"} <= seen
    for key in ("Control+f", "Control+k"):
        page.keyboard.press(key)
        page.wait_for_selector("dialog[open]")
        assert injected(page) == []
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
    outline = windows.open(ada, ada.page(workflow, "?view=outline"))
    assert injected(outline) == []
    assert injected(windows.open(ada, ada.workflows(), "table")) == []


def test_names_of_every_objects_own_fields_are_edited_like_any(
    windows: Windows, draft_site: DraftSite, people: tuple[Person, Person], refund: str
) -> None:
    ada, bo = (windows.open(person, person.page(refund)) for person in people)
    choose(ada, "pay")
    text = "".join(f"{name}:\n  {name}: {place}\n" for place, name in enumerate(NAMES))
    field(ada).fill(text)
    canvas(ada)
    saved(ada)
    choose(bo, "pay")
    field(bo).wait_for()
    until(bo, "text => (document.querySelector('.yaml textarea')?.value ?? '').trim() === text.trim()", text)
    made = draft_site.document(refund)["nodes"]["pay"]["with"]
    assert made == {name: {name: place} for place, name in enumerate(NAMES)} and list(made) == NAMES
    for page in (ada, bo):
        assert page.evaluate("() => Object.keys(Object.prototype).length === 0 && ({}).polluted === undefined")
    canvas(ada)
    ada.keyboard.press("Control+z")
    saved(ada)
    assert draft_site.document(refund)["nodes"]["pay"] == REFUND["nodes"]["pay"]


def test_an_edge_to_nothing_is_refused_and_leaves_every_window_whole(
    windows: Windows, draft_site: DraftSite, people: tuple[Person, Person], refund: str
) -> None:
    page = windows.open(people[0], people[0].page(refund))
    before = page.locator(".react-flow__edge").count()
    edge = next(key for key, entity in draft_site.draft(refund)["entities"].items() if key.startswith("edge/"))
    attacks: list[list[Any]] = [
        ["set", edge, ["target"], None], ["set", edge, ["source"], ""], ["set", edge, ["target"], "nowhere"],
        ["unset", edge, ["source"]], ["put", "edge/zzzzzzzzzz", {}],
        ["put", "edge/zzzzzzzzzz", {"source": "__proto__", "target": "constructor", "order": "V"}],
        ["put", "edge/zzzzzzzzzz", None], ["set", edge, ["source", "x"], 1], ["put", "edge/__proto__", {"source": None}],
    ]
    for n, attack in enumerate(attacks, 1):
        asked = op(draft_site.draft(refund)["epoch"], n, [attack], client="eve", base=0)
        answer = draft_site.client.put(f"/drafts/{refund}/ops", json=asked)
        assert answer.status_code in (200, 400), answer.text
        if answer.status_code == 200 and "item" in answer.json():
            assert answer.json()["item"]["effects"] == [], attack
    entities = draft_site.draft(refund)["entities"]
    blocks = {key.removeprefix("block/") for key in entities if key.startswith("block/")}
    assert all({entity["source"], entity["target"]} <= blocks for key, entity in entities.items() if key.startswith("edge/"))
    choose(page, "pay")
    page.keyboard.press("d")
    saved(page)
    assert page.locator(".react-flow__edge").count() == before


def test_a_role_that_is_taken_away_while_the_draft_is_open_ends_the_editing(
    windows: Windows, draft_site: DraftSite, refund: str
) -> None:
    eve = draft_site.person("eve")
    page = windows.open(eve, eve.page(refund))
    choose(page, "pay")
    page.keyboard.press("d")
    saved(page)
    draft_site.client.delete(f"/keys/{eve.key_id}").raise_for_status()
    with eve.cable.cut():  # the socket ends, and the next one needs a ticket
        page.keyboard.press("d")
    page.get_by_text("Your sign-in has ended").wait_for()
    assert draft_site.document(refund)["nodes"]["pay"]["enabled"] is False


def test_a_reader_sees_and_cannot_edit(
    windows: Windows, draft_site: DraftSite, people: tuple[Person, Person], refund: str
) -> None:
    reader = draft_site.person("reader", "read")
    page, ada = windows.open(reader, reader.page(refund)), windows.open(people[0], people[0].page(refund))
    page.wait_for_selector(".head-saved.read_only")
    page.locator(".head-why", has_text="Only admins publish").wait_for()
    assert [page.get_by_role("button", name=name).is_disabled() for name in ("Save", "Publish…", "Test run")] == [True] * 3
    page.keyboard.press("Control+s")
    page.locator(".head-said.fault", has_text="Only admins publish.").wait_for()
    assert "Test runs need the role run" in ada.locator(".head-why").inner_text()
    choose(page, "pay")
    page.keyboard.press("Delete")
    page.keyboard.press("d")
    assert field(page).get_attribute("readonly") is not None
    choose(ada, "score")
    ada.keyboard.press("d")
    block(page, "score").locator(".disabled").wait_for()
    assert block(page, "pay").count() == 1
    assert [item["by"] for item in draft_site.items(refund)] == [people[0].name]


# -- pages of other sites ----------------------------------------------------------------------------------------------


class Evil(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>evil</title><p>evil")

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def evil() -> Iterator[str]:
    """The address of a page of another site."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_page_of_another_site_reads_nothing_opens_no_socket_and_frames_nothing(
    browser: Any, draft_site: DraftSite, evil: str, refund: str
) -> None:
    scope = browser.new_context()
    page = scope.new_page()
    page.goto(evil)
    ticket = draft_site.client.post(f"/drafts/{refund}/ticket").json()["ticket"]  # stolen, and still fresh
    tried = page.evaluate("""async ([site, draft, ticket, key]) => {
        const read = (path, more) => fetch(site + path, more).then(answer => answer.status, () => 'blocked');
        const socket = await new Promise(resolve => {
            const made = new WebSocket(`${site.replace('http', 'ws')}/drafts/${draft}/room?ticket=${ticket}`);
            made.onopen = () => resolve('open');
            made.onerror = () => resolve('refused');
        });
        const frame = document.createElement('iframe');
        const framed = new Promise(resolve => {
            frame.onload = () => resolve(frame.contentDocument === null ? 'kept out' : 'readable');
        });
        frame.src = `${site}/console/drafts/${draft}`;
        document.body.append(frame);
        return [
            await read(`/drafts/${draft}`, {headers: {authorization: `Bearer ${key}`}}),
            await read(`/drafts/${draft}/ops`, {method: 'PUT', body: '{}', headers: {'content-type': 'text/plain'}}),
            await read('/console/session', {method: 'POST', body: '{"code": "x"}'}), socket, await framed,
        ];
    }""", [draft_site.url, refund, ticket, "the-key-of-the-tests"])
    scope.close()
    assert tried == ["blocked", "blocked", "blocked", "refused", "kept out"]
    headers = draft_site.client.get(f"/console/drafts/{refund}").headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_thousand_ops_a_second_are_answered_rate_and_do_not_hold_up_the_others(
    windows: Windows, draft_site: DraftSite, people: tuple[Person, Person], refund: str
) -> None:
    """Counted, not timed: of the one who floods most ops are answered `rate`; of the other each is one frame and one
    item, in order. How few ops of a flood an edit waits for is counted in tests/api/draft_sessions/test_pace.py."""
    page = windows.open(people[0], people[0].page(refund))
    flood = windows.open(people[1], people[1].page(refund))
    choose(page, "pay")
    ticket = draft_site.client.post(f"/drafts/{refund}/ticket").json()["ticket"]
    flood.evaluate("""([draft, ticket]) => new Promise(resolve => {
        const socket = new WebSocket(`ws://${location.host}/drafts/${draft}/room?ticket=${ticket}`);
        window.codes = {};
        window.asked = 0;
        socket.onmessage = event => {
            const said = JSON.parse(event.data);
            if (said.t === 'answer') window.codes[said.code] = (window.codes[said.code] ?? 0) + 1;
            if (said.t !== 'welcome') return;
            window.flooding = setInterval(() => {
                for (let each = 0; each < 20; each += 1) {
                    const n = window.asked += 1;
                    const gestures = [{writes: [['set', 'doc', ['name'], `${n}`]]}];
                    socket.send(JSON.stringify({v: 1, t: 'op', n, tag: `t${n}`, base: 0, gestures}));
                }
            }, 20);
            resolve();
        };
        socket.onopen = () => socket.send(JSON.stringify({v: 1, t: 'hello', client: 'flood', tab: 't', after: 0, epoch: 1}));
    })""", [refund, ticket])
    for _ in range(5):
        page.keyboard.press("d")
        saved(page)
    until(flood, "() => (window.codes.rate ?? 0) > 20")
    flood.evaluate("() => clearInterval(window.flooding)")
    codes = json.loads(flood.evaluate("JSON.stringify(window.codes)"))
    asked = flood.evaluate("() => window.asked")
    assert set(codes) <= {"rate", "stale", "forked"} and 20 < codes["rate"] <= asked
    frames = frames_of(page)
    assert frames.of("answer") == [], "none of hers is asked to wait"
    sent = [op["tag"] for op in frames.ops()]
    committed = [item for item in draft_site.items(refund) if item["client"] != "flood"]
    assert sent and [item["tag"] for item in committed] == sent, "each frame is one item, in order"
    assert draft_site.document(refund)["nodes"]["pay"]["enabled"] is False, "five switches, each over the one before"
    assert frames.sockets and page.locator(".head-saved.saved").count() == 1
