"""A client of test runs in tests, and the workflows whose drafts are run."""

from __future__ import annotations

from typing import Any

LINE = {
    "id": "w",
    "nodes": {
        "begin": {"type": "manual"},
        "double": {"type": "transform", "after": "begin", "with": {"value": "{{ <begin.n> * 2 }}"}},
        "score": {"type": "http", "after": "double", "with": {"url": "https://risk.example.com/score", "body": "<double>"}},
        "risk": {"type": "condition", "after": "score", "with": {"cases": {"high": "<score.body.risk> > 5", "low": "else"}}},
        "stop": {"type": "transform", "after": "risk.high", "with": {"value": "stopped at <score.body.risk>"}},
        "go": {"type": "transform", "after": "risk.low", "with": {"value": "gone on with <double>"}},
    },
}
EACH = {
    "id": "w",
    "nodes": {
        "begin": {"type": "manual"},
        "each": {
            "type": "loop", "after": "begin",
            "with": {"items": "<begin.list>", "body": {"nodes": {
                "price": {"type": "http", "with": {"url": "https://prices.example.com/<loop.item>"}},
                "sum": {"type": "transform", "after": "price", "with": {"value": "{{ <price.body> + <loop.index> }}"}},
            }}},
        },
    },
}  # fmt: skip
RISK = {"score": {"output": {"status": 200, "body": {"risk": 3}}}}


async def opened(door: Any, document: Any) -> dict[str, Any]:
    answer = await door.ask.post("/drafts/w", json={"from": "document", "document": document})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def tried(door: Any, status: int = 202, ask: Any = None, **body: Any) -> dict[str, Any]:
    answer = await (ask or door.ask).post("/drafts/w/runs", json=body)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def ended(door: Any, run_id: str) -> dict[str, Any]:
    """The run, when it has ended."""
    while True:
        found = (await door.ask.get(f"/runs/{run_id}/summary?after=1&wait_s=20")).json()
        if found["ended"]:
            return dict((await door.ask.get(f"/runs/{run_id}")).json())


async def key_of(door: Any, *roles: str) -> Any:
    """A client with these roles."""
    made = await door.ask.post("/keys", json={"name": "p", "roles": list(roles)})
    door.stranger.headers["authorization"] = f"Bearer {made.json()['secret']}"
    return door.stranger
