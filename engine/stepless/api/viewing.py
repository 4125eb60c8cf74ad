"""`GET /runs/{id}/view`: the address of a run in links. It leads to the run in the console. Without a console, it is a page that
shows the run live: the same for every run, without data of any; its script requests the run with the viewer's API key, which
stays in the browser session."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from stepless.api.page import COMMON_HEADERS
from stepless.api.problems import documented

_PARTS: Final = ("page.html", "page.css", "layout.js", "events.js", "page.js")


def add_routes(router: APIRouter, *, has_console: bool) -> None:
    page: dict[int | str, dict[str, Any]] = {
        200: {"content": {"text/html": {"schema": {"type": "string"}}}, "description": "A page, where there is no console"},
        307: {"description": "Leads to the run in the console"},
    }

    @router.get(
        "/runs/{run_id}/view", summary="Watch a run", responses={**page, **documented()}, response_class=Response, tags=["runs"]
    )
    def watch_run(run_id: str) -> Response:
        """Leads to the run in the console, which shows its live graph, waterfall, values and events. It asks for an API key or a
        login if one is needed. Without a console, this is a page that shows them."""
        if has_console:
            headers = {**COMMON_HEADERS, "cache-control": "no-cache"}
            return RedirectResponse(f"/console/runs/{quote(run_id, safe='')}", 307, headers)
        html, headers = _page()
        return Response(html, 200, headers, "text/html; charset=utf-8")


@cache
def _page() -> tuple[bytes, dict[str, str]]:
    """The page with its inline style and script, and the headers that allow only these."""
    folder = files("stepless.api") / "view"
    html, style, *scripts = ((folder / name).read_text("utf-8") for name in _PARTS)
    script = "\n".join(scripts)
    page = html.replace("/*style*/", style).replace("/*script*/", script)
    return page.encode(), page_headers(style, script)


def page_headers(style: str, script: str = "") -> dict[str, str]:
    """The headers of a page, which allow only this style and this script."""
    allowed = f"default-src 'none'; style-src '{_hash(style)}'"
    if script:
        allowed += f"; script-src '{_hash(script)}'; connect-src 'self'"
    return {
        **COMMON_HEADERS,
        "content-security-policy": f"{allowed}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "cache-control": "no-cache",
    }


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
