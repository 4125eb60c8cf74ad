"""From an op to a peer on the wire: editors over WebSockets, each with two ops a second, in one draft."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import Any

import httpx
from draft_site import DraftSite
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

OPS_PER_S = 2.0
LASTS_S = 8.0
OBSERVERS = 2  # of the editors; the others take what they are sent unread
PATIENCE_S = 10
FLOOD_PER_S = 1_000


@dataclass
class Heard:
    """When each request was asked, and how long it took to a peer, in milliseconds."""

    asked: dict[str, float] = field(default_factory=dict)
    taken_ms: list[float] = field(default_factory=list)
    again: int = 0


class Editor:
    def __init__(self, number: int, blocks: list[str], heard: Heard) -> None:
        self.name = f"editor{number}"
        self.seq = 0
        self._n = 1
        self._watches = number < OBSERVERS
        self._blocks = blocks
        self._heard = heard
        self._answered = asyncio.Event()
        self._wait_s = 0.0
        self._dice = random.Random(number)

    async def edit(self, socket: ClientConnection, until: float) -> None:
        await asyncio.sleep(self._dice.random() / OPS_PER_S)
        while (began := monotonic()) < until:
            tag = f"{self.name}-{self._n}"
            self._heard.asked[tag] = began
            key, value = self._dice.choice(self._blocks), f"https://example.com/{tag}"
            while True:
                self._answered.clear()
                operations = [{"writes": [["set", key, ["with", "url"], value]]}]
                asked = {"v": 1, "t": "op", "n": self._n, "tag": tag, "base": self.seq, "gestures": operations}
                await socket.send(json.dumps(asked))
                async with asyncio.timeout(PATIENCE_S):
                    await self._answered.wait()
                if not self._wait_s:
                    break
                self._heard.again += 1
                await asyncio.sleep(self._wait_s)
            self._n += 1
            await asyncio.sleep(max(0.0, 1 / OPS_PER_S - (monotonic() - began)))

    async def read(self, socket: ClientConnection) -> None:
        own = f'"client":"{self.name}"'
        async for text in socket:
            assert isinstance(text, str)
            compact = text.replace('": "', '":"')
            if not self._watches and own not in compact and '"answer"' not in text:
                continue
            self._take(json.loads(text))

    def _take(self, message: dict[str, Any]) -> None:
        now = monotonic()
        if message["t"] == "answer":
            self._wait_s = message.get("retry_after_ms", 0) / 1000 or 0.01
            self._answered.set()
        for item in [message["item"]] if message["t"] == "item" else message.get("items", []):
            self.seq = max(self.seq, item["seq"])
            if item["client"] == self.name:
                self._wait_s = 0.0
                self._answered.set()
            elif self._watches and item["tag"] in self._heard.asked:
                self._heard.taken_ms.append(1_000 * (now - self._heard.asked[item["tag"]]))


@dataclass
class Flood:
    """One person's ops at a pace that no person has: how many were sent, committed, and refused by the pace."""

    sent: int = 0
    committed: int = 0
    refused: int = 0


async def _flooded(site: DraftSite, workflow: str, token: str, until: float) -> Flood:
    """Sends op after op without waiting for an answer; after a refusal the same one again, as a client does."""
    draft, made = site.draft(workflow), Flood()
    key = next(key for key in draft["entities"] if key.startswith("block/"))
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=site.url, headers=headers, trust_env=False) as client:
        ticket = (await client.post(f"/drafts/{workflow}/ticket")).json()["ticket"]
    address = f"{site.url.replace('http', 'ws')}/drafts/{workflow}/room?ticket={ticket}"
    async with connect(address, proxy=None, compression=None) as socket:
        await socket.send(json.dumps({
            "v": 1, "t": "hello", "client": "flood", "tab": "f", "after": draft["seq"], "epoch": draft["epoch"],
        }))  # fmt: skip

        async def read() -> None:
            with suppress(ConnectionClosed):  # the server may still have ops to read when this side leaves
                await count()

        async def count() -> None:
            async for text in socket:
                message = json.loads(text)
                made.refused += message["t"] == "answer"
                made.committed += message["t"] == "item" and message["item"]["client"] == "flood"

        reader = asyncio.create_task(read())
        began = monotonic()
        while monotonic() < until and not reader.done():
            for _ in range(int((monotonic() - began) * FLOOD_PER_S) - made.sent):
                n = made.committed + 1
                writes = [["set", key, ["with", "url"], f"https://example.com/{n}"]]
                await socket.send(json.dumps({
                    "v": 1, "t": "op", "n": n, "tag": f"flood-{n}", "base": draft["seq"], "gestures": [{"writes": writes}],
                }))  # fmt: skip
                made.sent += 1
            await asyncio.sleep(0.005)
        socket.transport.abort()
        await reader
    return made


@cache
def token_of(site: DraftSite, name: str) -> str:
    """The key of an editor. Each has one: what one person may send is less than what fifty send."""
    return site.person(name).token


async def _run(site: DraftSite, workflow: str, editors: int, flooder: str = "") -> tuple[Heard, Flood]:
    draft = site.draft(workflow)
    blocks = [key for key in draft["entities"] if key.startswith("block/")]
    heard = Heard()
    people = [Editor(number, blocks, heard) for number in range(editors)]
    sockets: list[ClientConnection] = []
    async with httpx.AsyncClient(base_url=site.url, headers=site.client.headers, trust_env=False) as client:
        for person in people:
            person.seq = draft["seq"]
            own = {"Authorization": f"Bearer {token_of(site, person.name)}"}
            ticket = (await client.post(f"/drafts/{workflow}/ticket", headers=own)).json()["ticket"]
            address = f"{site.url.replace('http', 'ws')}/drafts/{workflow}/room?ticket={ticket}"
            socket = await connect(address, proxy=None, compression=None)
            await socket.send(json.dumps({
                "v": 1, "t": "hello", "client": person.name, "tab": "t", "after": draft["seq"], "epoch": draft["epoch"],
            }))  # fmt: skip
            sockets.append(socket)
    readers = [asyncio.create_task(person.read(socket)) for person, socket in zip(people, sockets, strict=True)]
    until = monotonic() + LASTS_S
    flooding = asyncio.create_task(_flooded(site, workflow, flooder, until)) if flooder else None
    await asyncio.gather(*(person.edit(socket, until) for person, socket in zip(people, sockets, strict=True)))
    await asyncio.sleep(0.5)  # what is on its way
    for socket in sockets:
        await socket.close()
    await asyncio.gather(*readers)
    return heard, await flooding if flooding is not None else Flood()


def op_to_peer(
    site: DraftSite, workflow: str, editors: int, flooder: str = "", meanwhile: Callable[[], None] | None = None,
) -> tuple[Heard, Flood]:  # fmt: skip
    """How long the requests of this many editors took to a peer, while `flooder`, a token, sends `FLOOD_PER_S` ops a second, and
    `meanwhile` is called again and again. The draft is open already."""
    with ThreadPoolExecutor(1) as beside:  # Playwright keeps an event loop in this thread
        measured = beside.submit(asyncio.run, _run(site, workflow, editors, flooder))
        while meanwhile is not None and not measured.done():
            meanwhile()
        return measured.result()
