"""Documents that tests of the console open drafts of."""

from __future__ import annotations

from typing import Any

REFUND: dict[str, Any] = {
    "id": "refund", "name": "Refund",
    "nodes": {
        "order": {"type": "manual"},
        "score": {"type": "http", "after": "order", "with": {"url": "https://example.com/<order.id>"}},
        "ask": {"type": "approval", "after": "score", "with": {"message": "Pay?"}},
        "pay": {"type": "http", "after": "ask.approved", "with": {"url": "https://example.com/pay"}},
        "each": {"type": "loop", "after": "pay", "with": {
            "times": 2, "body": {"nodes": {"tick": {"type": "wait", "with": {"for": "1s"}}}},
        }},
    },
}  # fmt: skip


def many(id_: str, count: int, rows: int = 40) -> dict[str, Any]:
    """A document of `count` nodes in `rows` chains."""
    nodes: dict[str, Any] = {}
    for place in range(count):
        after = {} if place < rows else {"after": f"n{place - rows}"}
        nodes[f"n{place}"] = {"type": "http", **after, "with": {"url": "https://example.com"}}
    return {"id": id_, "name": "Many", "nodes": nodes}

REFUND_FILE = """\
# Pays back what a customer did not like.
id: refund
name: Refund

nodes:
  order: {type: manual}

  score: # asks twice at most
    type: http
    after: order
    with:
      url: https://example.com/<order.id>
      method: GET

  done:
    type: end
    after: score
"""
