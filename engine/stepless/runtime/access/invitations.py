"""Invitations: tokens and links that entitle to answer a pause, for kinds and notices that hand them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from stepless.runtime.access.tokens import Signer


class Invitations:
    """`signer` is asked for when the first link is made: where nobody is invited, no key is read. `base_url` comes before every
    link; without one they are relative, which only whoever knows the host can use."""

    def __init__(self, signer: Callable[[], Signer], base_url: str = "") -> None:
        self._signer = signer
        self.base_url = base_url.rstrip("/")

    def invite(
        self, run_id: str, pause: str, expires_ms: int, exit: str | None = None, approver: str | None = None
    ) -> dict[str, str]:
        """{token, url}: whoever holds one may answer the pause, once."""
        from stepless.runtime.access.tokens import Claims

        token = self._signer().sign(Claims(run_id, pause, expires_ms, exit, approver))
        return {"token": token, "url": f"{self.base_url}/resume/{quote(token, safe='')}"}
