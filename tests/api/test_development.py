"""The routes for local development: not available elsewhere, and documented like all others."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from stepless.api.app import create_app
from stepless.runtime.wiring.local import local

ROUTES = ("/runs/{run_id}/skip", "/runs/{run_id}/redeliver")
pytestmark = pytest.mark.anyio


def test_only_who_asks_for_them_has_them() -> None:
    service = local(None).service
    assert not set(ROUTES) & set(create_app(service, api_keys=["k"]).openapi()["paths"])
    paths = create_app(service, api_keys=["k"], development=True).openapi()["paths"]
    for route in ROUTES:
        assert {"202", "401", "404", "409"} <= set(paths[route]["post"]["responses"])
        assert paths[route]["post"]["tags"] == ["development"]


@pytest.mark.parametrize(
    ("verb", "code"),
    [("skip", {"waiting": "nothing_due", "unknown": "unknown_run"}), ("redeliver", {"waiting": "", "unknown": "unknown_run"})],
)
async def test_what_they_refuse_is_a_problem_with_its_code(verb: str, code: dict[str, str], tmp_path: Any) -> None:
    built = local(tmp_path / "runs.db")
    built.service.publish({"id": "ask", "nodes": {"boss": {"type": "approval", "with": {"message": "?"}}}})
    waiting = built.service.start("ask", {}).run_id
    app = create_app(built.service, api_keys=["k"], development=True)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers={"authorization": "Bearer k"}) as client:
        refused = await client.post(f"/runs/run_of_nobody/{verb}")
        assert (refused.status_code, refused.json()["code"]) == (404, code["unknown"])
        answer = await client.post(f"/runs/{waiting}/{verb}")
        assert answer.json().get("code", "") == code["waiting"] and answer.status_code == (409 if code["waiting"] else 202)
        bare = await client.post(f"/runs/{waiting}/{verb}", headers={"authorization": "Bearer other"})
        assert bare.status_code == 401
    built.close()
