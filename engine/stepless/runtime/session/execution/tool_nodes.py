"""Runs nodes as tools inside an attempt of another node, with their own parameters, code, timeout and contracts.

A tool call is not an instance: it is a line in the history of the attempt that makes it. If the attempt is interrupted and runs
again, it repeats the same call with the same token, like the attempt of any effectful node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stepless.core.decision import Dispatch
from stepless.core.values.masking import Mask
from stepless.errors import SteplessError
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.kind import Pause
from stepless.model.scope import Contract
from stepless.model.work import NodeFailure
from stepless.nodes import KindCode
from stepless.ports import Call
from stepless.raised import origin_of
from stepless.runtime.session.execution.moderation import Gate
from stepless.runtime.session.execution.result_size import check_size


def tools_of(
    call: Call, dispatch: Dispatch, kind_code: Mapping[str, KindCode], gate: Gate, mask: Mask
) -> Mapping[str, RunningTool]:
    """Returns the tools of an attempt that starts now, by id."""
    began = asyncio.get_running_loop().time()
    tools = dispatch.instance.node.tools
    return {name: RunningTool(tool, call, began, dispatch, kind_code, gate, mask) for name, tool in tools.items()}


@dataclass(frozen=True, slots=True)
class RunningTool:
    """See `ports.Tooled`. Its output and its failures are masked as in the log, so that no secret reaches a model. `began` is
    when `call` started, in the loop's seconds."""

    tool: Node
    call: Call
    began: float
    dispatch: Dispatch
    kind_code: Mapping[str, KindCode]
    gate: Gate
    mask: Mask

    @property
    def label(self) -> str:
        return self.tool.label

    async def run(self, arguments: Mapping[str, JSON], token: str) -> JSON:
        tool = self.tool
        try:
            _keeps(tool.input_contract, {"input": dict(arguments)}, "input_contract_violation")
            code = self.kind_code[tool.kind.name]  # before the timeout starts: the code may have to be imported
            async with asyncio.timeout(tool.timeout_ms / 1000):
                return self.mask.value(await self._work(code, self._own(arguments, token)))
        except NodeFailure as failure:
            message, origin = self.mask.message(str(failure)), origin_of(failure)
            raise NodeFailure(
                failure.cause, failure.code, message, retry_after_ms=failure.retry_after_ms, retryable=failure.retryable,
                usage=failure.usage, origin=origin,
            ) from failure
        except TimeoutError as error:
            raise NodeFailure("timeout", "timeout", f"no answer within {tool.timeout_ms} ms") from error

    async def _work(self, code: KindCode, call: Call) -> JSON:
        tool = self.tool
        if tool.moderation in ("input", "both"):
            shown = {"inputs": dict(call.inputs), "params": self.mask.value(call.params)}
            await self.gate.pass_through(tool, "input", shown)
        result = await code(call)
        if isinstance(result, Pause):
            raise NodeFailure("execution", "tool_waits", f"{tool.id} paused: a tool must return a result", retryable=False)
        check_size(result)
        if tool.moderation in ("output", "both"):
            await self.gate.pass_through(tool, "output", self.mask.value(result.value))
        _keeps(tool.output_contract, result.value, "output_contract_violation")
        return result.value

    def _own(self, arguments: Mapping[str, JSON], token: str) -> Call:
        """The call that is passed to the tool's own code."""
        tool, render = self.tool, self.dispatch.render
        now_ms = self.call.started_ms + int((asyncio.get_running_loop().time() - self.began) * 1000)
        try:
            params = render(tool, arguments) if render is not None else {}
        except SteplessError as error:
            raise NodeFailure("config", error.code, str(error), retryable=False) from error
        return replace(
            self.call, node=tool.id, kind=tool.kind.name, params=params, literals=tool.config.literals,
            inputs={"input": dict(arguments)}, token=token, started_ms=now_ms, deadline_ms=now_ms + tool.timeout_ms,
            delta=_discard, tools={},
        )  # fmt: skip


def _keeps(contract: Contract | None, value: JSON, code: str) -> None:
    violations = contract.violations(value) if contract is not None else ()
    if violations:
        raise NodeFailure("contract_violated", code, "; ".join(violations))


def _discard(piece: object) -> None:
    """Discards streamed output: the output of a tool is not part of its caller's stream."""
