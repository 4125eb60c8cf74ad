"""Workflows in Python, each beside the document that a person would write for it by hand, with the same steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import fifteen
import yaml
from fifteen import Order, alert, pay, score

from stepless.flow import Flow, NodeError, approval, workflow

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "refund-approval" / "workflow.yaml"
LINES: Final = [{"sku": "s1", "qty": 1}, {"sku": "s2", "qty": 2}, {"sku": "s3", "qty": 3}]
SMALL: Final[dict[str, Any]] = {"id": "a", "amount": 50, "lines": LINES}
LARGE: Final[dict[str, Any]] = {**SMALL, "amount": 400}
FAILS: Final[dict[str, Any]] = {**SMALL, "id": "x"}


@dataclass(frozen=True)
class Twin:
    """One workflow in both forms, and inputs that take different ways through it."""

    flow: Flow[..., Any]
    by_hand: Mapping[str, Any]
    inputs: tuple[Any, ...]
    answers: tuple[Any, ...] = (True,)


@workflow("refund-approval")
async def refund_approval(order: Order) -> dict[str, str]:
    """examples/refund-approval, with a function that scores, one that pays and one that alerts."""
    try:
        found = await score(order.amount)
    except NodeError as error:
        await alert(error.message)
        return {"status": "pending"}
    if not (found.risk < 0.2 and order.amount < 100):
        manager = await approval(f"Refund {order.id} for {order.amount}?", fields={"comment": {"type": "string"}}, timeout="2d")
        if not manager.approved:
            return {"status": "denied"}
    await pay(order.id)
    return {"status": "pending"}


@workflow("silence")
async def silence(order: Order) -> str:
    answer = await approval(f"Refund {order.id}?", timeout="20ms")
    if answer.approved:
        return "approved"
    await alert("no answer")
    return answer.decision


def example() -> dict[str, Any]:
    """The document of the example with the steps of these tests, started by a caller."""
    document: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    nodes = document["nodes"]
    nodes["order"] = {"type": "manual"}
    nodes["score"]["with"] = {"call": "fifteen.score", "args": {"amount": "<order.amount>"}}
    nodes["triage"]["with"]["cases"]["auto"] = "<score.risk> < 0.2 and <order.amount> < 100"
    nodes["manager"]["with"]["message"] = "Refund <order.id> for <order.amount>?"
    nodes["pay"]["with"] = {"call": "fifteen.pay", "args": {"order_id": "<order.id>"}}
    nodes["alert"]["with"] = {"call": "fifteen.alert", "args": {"message": "<score.error.message>"}}
    return {name: value for name, value in document.items() if name != "env"}


def step(call: str, after: Any = None, **args: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "function", "with": {"call": f"fifteen.{call}", "args": args}}
    return made if after is None else {**made, "after": after}


SILENCE: Final = {
    "id": "silence-by-hand", "nodes": {
        "order": {"type": "manual"},
        "answer": {"type": "approval", "after": "order", "with": {"message": "Refund <order.id>?", "timeout": "20ms"}},
        "yes": {"type": "respond", "after": "answer.approved", "with": {"body": "approved"}},
        "alert": step("alert", ["answer.rejected", "answer.timeout"], message="no answer"),
        "no": {"type": "respond", "after": "alert", "with": {"body": "<answer.decision>"}},
    },
}  # fmt: skip

REFUND: Final = {
    "id": "refund-by-hand", "variables": {"total": 0, "by": "auto"}, "nodes": {
        "order": {"type": "manual"},
        "risk": step("score", "order", amount="<order.amount>"),
        "triage": {"type": "condition", "after": "risk",
                   "with": {"cases": {"auto": "<risk.risk> < 0.2 and <order.amount> < 100", "else": "else"}}},
        "answer": {"type": "approval", "after": "triage.else", "with": {"message": "Refund <order.id>?", "timeout": "1h"}},
        "denied": {"type": "respond", "after": ["answer.rejected", "answer.timeout"], "with": {"body": {"status": "denied"}}},
        "human": {"type": "set", "after": "answer.approved", "with": {"variables": {"by": "human"}}},
        "receipt": step("pay", ["triage.auto", "human"], order_id="<order.id>"),
        "alert": step("alert", "receipt.error", message="<receipt.error.message>"),
        "again": {"type": "fail", "after": "alert", "with": {"error": "<receipt.error>"}},
        "shipped": {"type": "parallel", "after": "receipt", "with": {
            "items": "<order.lines>", "window": 200, "body": {"nodes": {"ship": step("ship", line="<shipped.item>")}}}},
        "count": {"type": "loop", "after": "shipped", "with": {"items": "<order.lines>", "results": "none", "body": {"nodes": {
            "add": step("add", line="<count.item>", total="<workflow.total>"),
            "write": {"type": "set", "after": "add", "with": {"variables": {"total": "<add>"}}}}}}},
        "done": {"type": "respond", "after": "count", "with": {"body": {
            "receipt": "<receipt>", "shipped": "<shipped>", "total": "<workflow.total>", "by": "<workflow.by>"}}},
    },
}  # fmt: skip

SAGA: Final = {
    "id": "saga-by-hand", "variables": {"done": []}, "nodes": {
        "order": {"type": "manual"},
        "each": {"type": "loop", "after": "order", "with": {
            "items": "<order.lines>", "results": "none", "keep_writes": True, "body": {"nodes": {
                "ship": step("ship", line="<each.item>"),
                "note": {"type": "set", "after": "ship", "with": {"variables": {"done": "{{ <workflow.done> + [<ship>] }}"}}}}}}},
        "pay": step("pay", "each", order_id="<order.id>"),
        "undo": {"type": "loop", "after": ["each.error", "pay.error"], "with": {
            "items": "<workflow.done>", "body": {"nodes": {"unship": step("unship", what="<undo.item>")}}}},
        "undone": {"type": "respond", "after": "undo", "with": {"body": {"status": "undone"}}},
        "sent": {"type": "respond", "after": "pay", "with": {"body": {"status": "ok", "sent": "<workflow.done>"}}},
    },
}  # fmt: skip

BRANCHES: Final = {
    "id": "branches-by-hand", "nodes": {
        "order": {"type": "manual"},
        "score": step("score", "order", amount="<order.amount>"),
        "note": step("note", "order", text="<order.id>"),
        "pay": {**step("pay", ["score", "note"], order_id="<order.id>"), "join": {"mode": "every"}},
        "half": {**step("half", ["score", "note"], n="{{ len(<order.lines>) }}"), "join": {"mode": "every"}},
        "failed": {"type": "respond", "after": ["score.error", "note.error", "pay.error", "half.error"],
                   "with": {"body": "one failed"}},
        "done": {"type": "respond", "after": ["pay", "half"], "join": {"mode": "every"},
                 "with": {"body": ["<score.risk>", "<note>", "<pay.receipt>", "<half>"]}},
    },
}  # fmt: skip

AGENT: Final = {
    "id": "agent-by-hand", "variables": {"approved": False, "feedback": "", "text": "", "n": 0}, "nodes": {
        "start": {"type": "manual"},
        "rounds": {"type": "loop", "after": "start", "with": {
            "while": "not <workflow.approved> and <workflow.n> < <start.rounds>", "results": "none", "body": {"nodes": {
                "draft": step("draft", topic="<start.topic>", feedback="<workflow.feedback>"),
                "answer": {"type": "approval", "after": "draft", "with": {"message": "Good? <draft>"}},
                "write": {"type": "set", "after": ["answer.approved", "answer.rejected"], "with": {"variables": {
                    "text": "<draft>", "approved": "<answer.approved>", "feedback": "{{ <workflow.feedback> + '!' }}",
                    "n": "{{ <workflow.n> + 1 }}"}}}}}}},
        "done": {"type": "respond", "after": "rounds", "with": {"body": {"text": "<workflow.text>", "rounds": "<workflow.n>"}}},
    },
}  # fmt: skip

CLEANUP: Final = {
    "id": "cleanup-by-hand", "variables": {"out": []}, "nodes": {
        "start": {"type": "manual"},
        "each": {"type": "loop", "after": "start", "with": {"items": "<start.ns>", "results": "none", "body": {"nodes": {
            "which": {"type": "condition", "with": {"cases": {"skip": "<each.item> == 0", "else": "else"}}},
            "half": step("half", "which.else", n="<each.item>"),
            "write": {"type": "set", "after": "half", "with": {"variables": {"out": "{{ <workflow.out> + [<half>] }}"}}},
            "note": step("note", ["which.skip", "write"], text="after <each.item>")}}}},
        "done": {"type": "respond", "after": "each", "with": {"body": "<workflow.out>"}},
    },
}  # fmt: skip

TWINS: Final = {
    "refund-approval": Twin(refund_approval, example(), (SMALL, LARGE), (True, False)),
    "silence": Twin(silence, SILENCE, (LARGE,), (None,)),
    "refund": Twin(fifteen.refund, REFUND, (SMALL, LARGE, FAILS), (True, False)),
    "saga": Twin(fifteen.saga, SAGA, (SMALL, FAILS)),
    "branches": Twin(fifteen.branches, BRANCHES, ({**SMALL, "lines": SMALL["lines"][:2]}, FAILS)),
    "agent": Twin(fifteen.agent, AGENT, ({"topic": "t", "rounds": 3}, {"topic": "t", "rounds": 0}), (True, False)),
    "cleanup": Twin(fifteen.cleanup, CLEANUP, ({"ns": [2, 4, 0, 6]}, {"ns": []})),
}  # fmt: skip
