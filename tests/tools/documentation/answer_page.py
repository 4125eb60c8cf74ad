"""Requests and parses the page behind a resume link for tests."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from stepless.runtime.access.tokens import Claims

HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
JSON = {"accept": "application/json"}
ASKS = {"accept": "application/json", "content-type": "application/json"}
DAY_MS = 86_400_000


class Page(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    @property
    def buttons(self) -> list[str | None]:
        """The labels of the enabled buttons."""
        return [button["value"] for button in self.all("button") if "disabled" not in button]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


async def link_for(door: Any, run_id: str, **claims: Any) -> str:
    now_ms = door.local.world.clock.now_ms()
    return "/resume/" + door.local.service.signer.sign(
        Claims(run_id, **{"pause": "question", "expires_ms": now_ms + DAY_MS, **claims})
    )
