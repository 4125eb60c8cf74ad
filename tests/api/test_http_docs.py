"""Runs docs/run/http.md from its first example to its last."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

BLOCK = re.compile(r"```(http|json)\n(.*?)```", re.DOTALL)


class Reader:
    """Sends what a page shows and compares what it promises; `{names}` are learnt from answers and used afterwards."""

    def __init__(self, door: Any) -> None:
        self.door = door
        self.names: dict[str, str] = {}

    def said(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    async def send(self, block: str) -> Any:
        head, _, body = self.said(block).partition("\n\n")
        first, *headers = head.strip().split("\n")
        method, path = first.split(" ")
        named = dict(line.split(": ", 1) for line in headers)
        if not body.strip():
            return await self.door.ask.request(method, path, headers=named)
        named["content-type"] = "application/json"
        return await self.door.ask.request(method, path, content=body.encode(), headers=named)

    def compare(self, promised: Any, got: Any, place: str = "") -> None:
        if isinstance(promised, dict):
            for name, value in promised.items():
                assert name in got, f"{place}.{name}"
                self.compare(value, got[name], f"{place}.{name}")
        elif isinstance(promised, list):
            assert len(promised) == len(got), place
            for number, (one, other) in enumerate(zip(promised, got, strict=True)):
                self.compare(one, other, f"{place}[{number}]")
        elif isinstance(promised, str) and re.fullmatch(r"\{\w+\}", promised):
            assert self.names.setdefault(promised[1:-1], got) == got, place
        elif promised != "…":
            assert got == (self.said(promised) if isinstance(promised, str) else promised), place


async def test_every_example_of_the_page_does_what_it_says(door: Any, pytestconfig: pytest.Config) -> None:
    blocks = BLOCK.findall((pytestconfig.rootpath / "docs/run/http.md").read_text("utf-8"))
    assert [kind for kind, _ in blocks] == ["http", "json"] * (len(blocks) // 2) and len(blocks) > 20
    reader = Reader(door)
    for (_, request), (_, answer) in zip(blocks[::2], blocks[1::2], strict=True):
        if "POST /runs/{held}/hold\n" in request:
            await door.paused(reader.names["held"])
        if "GET /runs/{run}\n" in request:
            await door.paused(reader.names["run"])
        if "GET /runs/{held}\n" in request:
            await door.until(reader.names["held"], lambda event: event["payload"].get("held") is True)
        if "customer:c-17" in request and request.startswith("GET"):
            await door.end(reader.names["run"])
        status, body = answer.split("\n", 1)
        got = await reader.send(request)
        assert got.status_code == int(status), (request, got.text)
        reader.compare(json.loads(body), got.json())


async def test_the_page_names_every_route(door: Any, pytestconfig: pytest.Config) -> None:
    page = (pytestconfig.rootpath / "docs/run/http.md").read_text("utf-8")
    table = re.sub(r"\{\w+\}", "{}", page[page.index("| route |") : page.index("## Publish")])
    for path in door.app.openapi()["paths"]:
        shown = re.sub(r"\{\w+\}", "{}", path)
        assert shown in table or shown.removeprefix("/runs/{}") in table, path
