"""Builds a workflow in Python: the top level of the document, and the methods that validate, write and run it. The engine is
imported only when a workflow is validated or run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Literal, Self, Unpack

from stepless.builder.kind_methods import Level
from stepless.builder.nodes import given
from stepless.builder.plain import plain
from stepless.builder.ref import Ref
from stepless.builder.steps import UNSET, Unset, Value
from stepless.errors import InvalidRequest
from stepless.model.json import JSON

if TYPE_CHECKING:
    from stepless.model.findings import Finding
    from stepless.runtime.wiring.single_run import RunOptions, RunResult


class Workflow(Level):
    """Builds a document node by node. `document()` returns exactly what was given; `from_document` is the reverse.

        flow = Workflow("greeting")
        start = flow.manual("start")
        flow.transform("greet", after=start, value=f"Hello, {start.ref.name}!")
        result = flow.run({"name": "Ada"})

    Building refuses only what a document cannot represent. Everything else is checked together: by `validate`, or when the
    workflow runs.
    """

    def __init__(
        self,
        id: str,
        *,
        name: str | Unset | None = UNSET,
        description: str | Unset | None = UNSET,
        variables: Mapping[str, Value] | Unset = UNSET,
        env: Sequence[str] | Unset = UNSET,
        on_failure: Literal["isolate", "halt", "cancel"] | Unset = UNSET,
        on_failure_notify: str | Sequence[str] | Unset | None = UNSET,
        max_steps: int | Unset = UNSET,
        timeout: str | Unset | None = UNSET,
        concurrency: int | Mapping[str, Value] | Unset | None = UNSET,
        rate: Mapping[str, Value] | Unset | None = UNSET,
        rate_limit: Mapping[str, Value] | Unset | None = UNSET,
        numbered: bool | Unset = UNSET,
        retention: str | Unset | None = UNSET,
        key: str | Unset | None = UNSET,
        on_conflict: Literal["join", "refuse", "replace"] | Unset = UNSET,
        messages: Mapping[str, Mapping[str, Value]] | Unset = UNSET,
        cancel_on: Sequence[str] | Unset = UNSET,
        made_by: Mapping[str, Value] | Unset | None = UNSET,
    ) -> None:
        top = given(
            name=name, description=description, variables=variables, env=env, on_failure=on_failure,
            on_failure_notify=on_failure_notify, max_steps=max_steps, timeout=timeout, concurrency=concurrency,
            rate=rate, rate_limit=rate_limit, numbered=numbered, retention=retention, key=key,
            on_conflict=on_conflict, messages=messages, cancel_on=cancel_on, made_by=made_by,
        )  # fmt: skip
        super().__init__({"id": id, **{field: plain(value, field) for field, value in top.items()}, "nodes": {}})

    @classmethod
    def from_document(cls, document: Mapping[str, JSON]) -> Self:
        """Returns a workflow from a document, to read it or to add to it; the document may have faults. Raises `InvalidRequest`
        (not_json) if it has no object `nodes`, or is not JSON."""
        copied = plain(document, "document")
        if not isinstance(copied, dict) or not isinstance(copied.get("nodes"), dict):
            mend = "give an object with `id` and `nodes`"
            raise InvalidRequest("this is not a document", code="not_json", place="document", mend=mend)
        flow = cls.__new__(cls)
        Level.__init__(flow, copied)
        return flow

    # -- references that belong to no node -----------------------------------------------------------------------------

    @property
    def input(self) -> Ref:
        """`<input>`: the value that arrives over the edges of the node that uses it."""
        return Ref("input")

    @property
    def inputs(self) -> Ref:
        """`<inputs>`: the same by param, for a node whose edges feed several. (The inputs of the run are the output of its entry:
        `start.ref`.)"""
        return Ref("inputs")

    @property
    def message(self) -> Ref:
        """`<message>`: the data of the message that the `where` of a `receive` examines."""
        return Ref("message")

    @property
    def variables(self) -> Ref:
        """The run's variables: `flow.variables.status` is `<workflow.status>`."""
        return Ref("workflow")

    @property
    def run_id(self) -> Ref:
        return Ref("run").id

    @staticmethod
    def env(name: str) -> str:
        """Returns `${NAME}`: a value of the environment or the secret store. The workflow's `env` must list the name."""
        return f"${{{name}}}"

    # -- the whole ----------------------------------------------------------------------------------------------------

    def document(self) -> dict[str, JSON]:
        """Returns a copy of the document: later changes of the workflow do not change it."""
        return deepcopy(self._level)

    def to_yaml(self) -> str:
        """Returns the document as YAML. Reading it gives the same document."""
        from stepless.compile.reading.write_yaml import write_yaml

        return write_yaml(self._level)

    def validate(self) -> tuple[Finding, ...]:
        """Returns all errors and warnings of the document, in document order. Does not check whether functions are registered."""
        from stepless.compile import check_document
        from stepless.nodes import KINDS

        return tuple(check_document(self._level, KINDS))

    def run(self, inputs: JSON = None, **options: Unpack[RunOptions]) -> RunResult:
        """Runs the workflow to its end in this process, as `stepless.run` does, with its options `entry`, `db`, `approve` and
        `models`. In async code, call `arun`."""
        from stepless.runtime.wiring.single_run import run

        return run(self.document(), inputs, **options)

    async def arun(self, inputs: JSON = None, **options: Unpack[RunOptions]) -> RunResult:
        """Runs like `run`, in the caller's event loop."""
        from stepless.runtime.wiring.single_run import arun

        return await arun(self.document(), inputs, **options)

    def __repr__(self) -> str:
        return f"Workflow({self._level.get('id')!r}, {len(self._level['nodes'])} nodes)"
