"""Nodes that an attempt of another node runs as its tools: their own parameters, code, time-out and contracts, in its attempt.

A call of a tool is no instance: it is a line in the history of the attempt that makes it. When that is cut off and runs again,
the same call is made with the same token, as the attempt of any effectful node is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stepless.core.decision import Dispatch
from stepless.core.masking import Mask
from stepless.errors import SteplessError
from stepless.limits import MAX_RESULT_BYTES
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.kind import Pause
from stepless.model.scope import Contract
from stepless.model.work import NodeFailure, Result
from stepless.nodes import KindCode
from stepless.ports import Call
from stepless.raised import origin_of
from stepless.runtime.runlog import may_be_large
from stepless.runtime.session.moderation import Gate


def tools_of(
    call: Call, dispatch: Dispatch, kind_code: Mapping[str, KindCode], gate: Gate, mask: Mask
) -> Mapping[str, RunningTool]:
    """The tools of an attempt that begins now, by id."""
    began = asyncio.get_running_loop().time()
    tools = dispatch.instance.node.tools
    return {name: RunningTool(tool, call, began, dispatch, kind_code, gate, mask) for name, tool in tools.items()}


@dataclass(frozen=True, slots=True)
class RunningTool:
    """See `ports.Tooled`. What it puts out and fails with is masked, as it would be in the log: a model is no place for secrets.
    `began` is when `call` began, in the loop's seconds."""

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
            code = self.kind_code[tool.kind.name]  # may have to be loaded, which is not the tool's time
            async with asyncio.timeout(tool.timeout_ms / 1000):
                return self.mask.value(await self._work(code, self._own(arguments, token)))
        except NodeFailure as failure:
            said, origin = self.mask.message(str(failure)), origin_of(failure)
            raise NodeFailure(
                failure.cause, failure.code, said, retry_after_ms=failure.retry_after_ms, retryable=failure.retryable,
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
            raise NodeFailure("execution", "tool_waits", f"{tool.id} waits for somebody, which no tool can", retryable=False)
        check_size(result)
        if tool.moderation in ("output", "both"):
            await self.gate.pass_through(tool, "output", self.mask.value(result.value))
        _keeps(tool.output_contract, result.value, "output_contract_violation")
        return result.value

    def _own(self, arguments: Mapping[str, JSON], token: str) -> Call:
        """The call as the tool's own code sees it."""
        tool, render = self.tool, self.dispatch.render
        now_ms = self.call.started_ms + int((asyncio.get_running_loop().time() - self.began) * 1000)
        try:
            params = render(tool, arguments) if render is not None else {}
        except SteplessError as error:
            raise NodeFailure("config", error.code, str(error), retryable=False) from error
        return replace(
            self.call, node=tool.id, kind=tool.kind.name, params=params, literals=tool.config.literals,
            inputs={"input": dict(arguments)}, token=token, started_ms=now_ms, deadline_ms=now_ms + tool.timeout_ms,
            delta=_unheard, tools={},
        )  # fmt: skip


def _keeps(contract: Contract | None, value: JSON, code: str) -> None:
    violations = contract.violations(value) if contract is not None else ()
    if violations:
        raise NodeFailure("contract_violated", code, "; ".join(violations))


def _unheard(piece: object) -> None:
    """What a tool streams is not what its caller says."""


def check_size(result: Result) -> None:
    """Raises `NodeFailure` for a result that is larger than a run may keep."""
    if may_be_large(result.value, MAX_RESULT_BYTES // 6):
        size = len(json.dumps(result.value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
        if size > MAX_RESULT_BYTES:
            message = f"the result takes {size:,} bytes; {MAX_RESULT_BYTES:,} is the limit"
            mend = "put it into a file or a bucket and return where it is"
            raise NodeFailure("execution", "result_too_large", message, retryable=False, mend=mend)
