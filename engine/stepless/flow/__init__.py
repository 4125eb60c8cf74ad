"""Workflows in plain Python, compiled to the graph.

    @step("payments.refund")
    async def pay(order_id: str) -> Receipt: ...

    @workflow("refund")
    async def refund(order: Order) -> dict[str, str]:
        answer = await approval(f"Refund {order.id}?", timeout="1d")
        if not answer.approved:
            return {"status": "denied"}
        receipt = await pay(order.id)
        return {"status": "paid", "receipt": receipt.number}

Publishing reads the source of `refund` and writes a document: each step is a node, and nothing of the function is executed or
replayed. Called in a test, the function is an ordinary coroutine. Each name is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepless.flow.compiler.refusals import FlowRefused, Remark
    from stepless.flow.flows import Compiled, Flow, remarks_on, workflow
    from stepless.flow.matching import matched
    from stepless.flow.outgoing import Outgoing, Sent, Started, send, start
    from stepless.flow.plain import acting, approval, callback, gather, now, race, receive, sleep
    from stepless.flow.steps import Part, Step, part, step
    from stepless.flow.triggers import event, manual, schedule, webhook
    from stepless.flow.words import Answer, NodeError, Winner

__all__ = [
    "Answer", "Compiled", "Flow", "FlowRefused", "NodeError", "Outgoing", "Part", "Remark", "Sent", "Started", "Step", "Winner",
    "acting", "approval", "callback", "event", "gather", "manual", "matched", "now", "part", "race", "receive", "remarks_on",
    "schedule", "send", "sleep", "start", "step", "webhook", "workflow",
]  # fmt: skip

_HOMES = {
    "Answer": "words", "Compiled": "flows", "Flow": "flows", "FlowRefused": "compiler.refusals", "NodeError": "words",
    "Outgoing": "outgoing", "Part": "steps", "Remark": "compiler.refusals", "Sent": "outgoing", "Started": "outgoing",
    "Step": "steps", "Winner": "words", "acting": "plain", "approval": "plain", "callback": "plain", "event": "triggers",
    "gather": "plain", "manual": "triggers", "matched": "matching", "now": "plain", "part": "steps", "race": "plain",
    "receive": "plain", "remarks_on": "flows", "schedule": "triggers", "send": "outgoing", "sleep": "plain", "start": "outgoing",
    "step": "steps", "webhook": "triggers", "workflow": "flows",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'stepless.flow' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"stepless.flow.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
