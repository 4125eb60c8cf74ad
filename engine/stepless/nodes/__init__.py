"""Node kinds: one file per kind, one table of all. The kinds do not know each other.

`KINDS` is what documents may use; `RUNS` holds the code of the effectful kinds. A kind without its run there can be
compiled and simulated, and not published.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from stepless.model.kind import Kind, Pause
from stepless.model.work import Result
from stepless.nodes.approval import KIND as APPROVAL
from stepless.nodes.callback import KIND as CALLBACK
from stepless.nodes.condition import KIND as CONDITION
from stepless.nodes.end import KIND as END
from stepless.nodes.event import KIND as EVENT
from stepless.nodes.function import KIND as FUNCTION
from stepless.nodes.function import run as run_function
from stepless.nodes.http import KIND as HTTP
from stepless.nodes.http import run as run_http
from stepless.nodes.join import KIND as JOIN
from stepless.nodes.llm import KIND as LLM
from stepless.nodes.loop import KIND as LOOP
from stepless.nodes.manual import KIND as MANUAL
from stepless.nodes.parallel import KIND as PARALLEL
from stepless.nodes.respond import KIND as RESPOND
from stepless.nodes.router import KIND as ROUTER
from stepless.nodes.schedule import KIND as SCHEDULE
from stepless.nodes.set import KIND as SET
from stepless.nodes.transform import KIND as TRANSFORM
from stepless.nodes.wait import KIND as WAIT
from stepless.nodes.webhook import KIND as WEBHOOK
from stepless.nodes.workflow import KIND as WORKFLOW
from stepless.ports import Call

Run: TypeAlias = Callable[[Call], Awaitable[Result | Pause]]
"""One attempt of an effectful node: its result, or what it has to wait for; raises `NodeFailure`."""

KINDS: Final[Mapping[str, Kind]] = MappingProxyType({
    "manual": MANUAL,
    "webhook": WEBHOOK,
    "schedule": SCHEDULE,
    "event": EVENT,
    "function": FUNCTION,
    "http": HTTP,
    "llm": LLM,
    "transform": TRANSFORM,
    "set": SET,
    "condition": CONDITION,
    "router": ROUTER,
    "loop": LOOP,
    "parallel": PARALLEL,
    "join": JOIN,
    "wait": WAIT,
    "approval": APPROVAL,
    "callback": CALLBACK,
    "workflow": WORKFLOW,
    "respond": RESPOND,
    "end": END,
})

RUNS: Final[Mapping[str, Run]] = MappingProxyType({
    "function": run_function,
    "http": run_http,
})
