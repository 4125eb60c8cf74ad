"""The page `/docs`: complete without network access, without a script, and consistent with /openapi.json."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

BASE = "https://flows.example.com"
VOID = {"meta", "br", "input", "link"}


class Page(HTMLParser):
    """What a page holds: its ids, what it fetches or leads to, its text. Raises ValueError where tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        if self._open:
            raise ValueError(f"never closed: {self._open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(str(value))
            if name in ("href", "src"):
                self.links.append(str(value))

    def handle_endtag(self, tag: str) -> None:
        if self._open.pop() != tag:
            raise ValueError(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.text += data


async def test_the_root_leads_to_the_page_and_neither_needs_a_key(door: Any, make_door: Any) -> None:
    root = await door.stranger.get("/")
    assert (root.status_code, root.headers["location"]) == (307, "/docs")
    page = await door.stranger.get(root.headers["location"])
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    elsewhere = await make_door(base_url=f"{BASE}/")
    assert (await elsewhere.stranger.get("/")).headers["location"] == f"{BASE}/docs"


async def test_nothing_on_it_comes_from_elsewhere_and_nothing_runs(door: Any) -> None:
    answer = await door.stranger.get("/docs")
    page, policy = Page(answer.text), answer.headers["content-security-policy"]
    style = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = b64encode(sha256(style[0].encode()).digest()).decode()
    assert len(style) == 1 and "url(" not in style[0] and "@import" not in style[0]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert not page.tags & {"script", "link", "img", "iframe", "object", "form"}
    assert not {name for name in page.attributes if name == "style" or name.startswith("on")}
    assert {link for link in page.links if not link.startswith("#")} == {"/openapi.json", "/health"}
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["x-frame-options"] == "DENY"


async def test_every_operation_is_on_it_with_its_parameters_answers_and_role(door: Any) -> None:
    page = Page((await door.stranger.get("/docs")).text)
    operations = [one for methods in door.app.openapi()["paths"].values() for one in methods.values()]
    assert {one["operationId"] for one in operations} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    for one in operations:
        assert one["summary"] in page.text
        assert all(parameter["name"] in page.text for parameter in one.get("parameters", ()))
    for role in ("read", "run", "admin"):
        assert f"key with the role {role}" in page.text
    assert "needs no key" in page.text


async def test_its_examples_name_the_address_of_the_server(make_door: Any) -> None:
    door = await make_door(base_url=BASE)
    text = Page((await door.stranger.get("/docs")).text).text
    assert f"curl -X POST {BASE}/workflows/refund-approval/runs" in text and f"{BASE}/runs/RUN/view" in text


async def test_it_may_be_left_out(make_door: Any) -> None:
    door = await make_door(docs=False)
    for path in ("/", "/docs"):
        answer = await door.stranger.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_route")
    assert (await door.stranger.post("/")).status_code == 404


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_it_is_only_read(door: Any, path: str) -> None:
    answer = await door.stranger.post(path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
