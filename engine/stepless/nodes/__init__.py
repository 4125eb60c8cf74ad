"""Node kinds: one file per kind, one table of all. The kinds do not know each other.

`KINDS` is what documents may use, kinds of installed plug-ins included; `RUNS` holds the code of the effectful kinds that need
nothing from outside, and `model_runs`, `sandbox_runs` and `aws_runs` bring that of the kinds that do. A kind without its run
can be compiled and simulated, and not published.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from stepless.model.kind import Kind, Pause
from stepless.model.work import Result
from stepless.nodes.approval import KIND as APPROVAL
from stepless.nodes.aws import KIND as AWS
from stepless.nodes.aws import caller as aws_caller
from stepless.nodes.aws import checked as aws_checked
from stepless.nodes.aws_lambda import KIND as LAMBDA
from stepless.nodes.aws_lambda import Invite
from stepless.nodes.aws_lambda import caller as lambda_caller
from stepless.nodes.callback import KIND as CALLBACK
from stepless.nodes.code import KIND as CODE
from stepless.nodes.code import caller as code_caller
from stepless.nodes.condition import KIND as CONDITION
from stepless.nodes.end import KIND as END
from stepless.nodes.event import KIND as EVENT
from stepless.nodes.function import KIND as FUNCTION
from stepless.nodes.function import describe
from stepless.nodes.function import run as run_function
from stepless.nodes.http import KIND as HTTP
from stepless.nodes.http import run as run_http
from stepless.nodes.join import KIND as JOIN
from stepless.nodes.llm import KIND as LLM
from stepless.nodes.llm import caller as llm_caller
from stepless.nodes.loop import KIND as LOOP
from stepless.nodes.manual import KIND as MANUAL
from stepless.nodes.parallel import KIND as PARALLEL
from stepless.nodes.plugins import WithPlugins
from stepless.nodes.respond import KIND as RESPOND
from stepless.nodes.router import KIND as ROUTER
from stepless.nodes.router import caller as router_caller
from stepless.nodes.schedule import KIND as SCHEDULE
from stepless.nodes.set import KIND as SET
from stepless.nodes.transform import KIND as TRANSFORM
from stepless.nodes.wait import KIND as WAIT
from stepless.nodes.webhook import KIND as WEBHOOK
from stepless.nodes.workflow import KIND as WORKFLOW
from stepless.ports import Aws, Call, Models, Sandbox

Run: TypeAlias = Callable[[Call], Awaitable[Result | Pause]]
"""One attempt of an effectful node: its result, or what it has to wait for; raises `NodeFailure`."""

_KINDS: Final[Mapping[str, Kind]] = MappingProxyType({
    "manual": MANUAL,
    "webhook": WEBHOOK,
    "schedule": SCHEDULE,
    "event": EVENT,
    "function": FUNCTION,
    "http": HTTP,
    "lambda": LAMBDA,
    "aws": AWS,
    "code": CODE,
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

_RUNS: Final[Mapping[str, Run]] = MappingProxyType({
    "function": run_function,
    "http": run_http,
})

KINDS: Final[Mapping[str, Kind]] = WithPlugins(_KINDS, lambda plugin: plugin.KIND, _KINDS)
RUNS: Final[Mapping[str, Run]] = WithPlugins(_RUNS, lambda plugin: getattr(plugin, "run", None), _KINDS)


def model_runs(models: Models) -> Mapping[str, Run]:
    """The code of the kinds that ask a model."""
    return {"llm": llm_caller(models, run_function, describe), "router": router_caller(models)}


def sandbox_runs(sandbox: Sandbox) -> Mapping[str, Run]:
    """The code of the kinds that run an author's own code."""
    return {"code": code_caller(sandbox)}


def aws_runs(aws: Aws, invite: Invite) -> Mapping[str, Run]:
    """The code of the kinds that call AWS."""
    return {"aws": aws_caller(aws), "lambda": lambda_caller(aws, invite)}


def aws_kinds(aws: Aws) -> Mapping[str, Kind]:
    """The kinds whose parameters can be held against the services' own models."""
    return {"aws": aws_checked(aws)}
