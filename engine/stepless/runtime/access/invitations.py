"""Creates the tokens and links with which a pause can be answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from stepless.runtime.access.tokens import Claims


class Invitations:
    """`sign` makes the token of claims. `base_url` is the prefix of every link; without it, links are relative and usable only by
    a reader who knows the host."""

    def __init__(self, sign: Callable[[Claims], str], base_url: str = "") -> None:
        self._sign = sign
        self.base_url = base_url.rstrip("/")

    def invite(
        self, run_id: str, pause: str, expires_ms: int, exit: str | None = None, approver: str | None = None
    ) -> dict[str, str]:
        """Returns {token, url}: the holder of either may answer the pause, once."""
        from stepless.runtime.access.tokens import Claims

        token = self._sign(Claims(run_id, pause, expires_ms, exit, approver))
        return {"token": token, "url": f"{self.base_url}/resume/{quote(token, safe='')}"}
