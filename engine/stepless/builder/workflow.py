"""A workflow in Python: the document's top level, and what can be done with the whole of it. What judges and runs workflows is
imported when it is first asked to: building one takes no engine."""

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
    """Builds a document, node by node; `document()` is exactly what was said, and `from_document` the way back.

        flow = Workflow("greeting")
        start = flow.manual("start")
        flow.transform("greet", after=start, value=f"Hello, {start.ref.name}!")
        result = flow.run({"name": "Ada"})

    Building refuses only what no document can say. All else is judged together: by `validate`, or when the workflow runs.
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
        max_steps: int | Unset = UNSET,
        timeout: str | Unset | None = UNSET,
        concurrency: int | Unset | None = UNSET,
        rate_limit: Mapping[str, Value] | Unset | None = UNSET,
        numbered: bool | Unset = UNSET,
    ) -> None:
        top = given(
            name=name, description=description, variables=variables, env=env, on_failure=on_failure, max_steps=max_steps,
            timeout=timeout, concurrency=concurrency, rate_limit=rate_limit, numbered=numbered,
        )  # fmt: skip
        super().__init__({"id": id, **{field: plain(value, field) for field, value in top.items()}, "nodes": {}})

    @classmethod
    def from_document(cls, document: Mapping[str, JSON]) -> Self:
        """A workflow to be read or built on, of a document as it is, whatever faults it may have. Raises `InvalidRequest`
        (not_json) for what has no object of `nodes`, or is no JSON."""
        copied = plain(document, "document")
        if not isinstance(copied, dict) or not isinstance(copied.get("nodes"), dict):
            mend = "give an object with `id` and `nodes`"
            raise InvalidRequest("this is no document", code="not_json", place="document", mend=mend)
        flow = cls.__new__(cls)
        Level.__init__(flow, copied)
        return flow

    # -- references that belong to no node -----------------------------------------------------------------------------

    @property
    def input(self) -> Ref:
        """`<input>`: what comes along the edges of the node in which it is written."""
        return Ref("input")

    @property
    def inputs(self) -> Ref:
        """`<inputs>`: the same by param, for a node whose edges feed several. (What a run is started with is the output of its
        entry: `start.ref`.)"""
        return Ref("inputs")

    @property
    def variables(self) -> Ref:
        """The run's variables: `flow.variables.status` is `<workflow.status>`."""
        return Ref("workflow")

    @property
    def run_id(self) -> Ref:
        return Ref("run").id

    @staticmethod
    def env(name: str) -> str:
        """`${NAME}`: from the environment, or the secret store. The name must be among the workflow's `env`."""
        return f"${{{name}}}"

    # -- the whole ----------------------------------------------------------------------------------------------------

    def document(self) -> dict[str, JSON]:
        """The document, to be kept, changed or published; what is built later does not show in it."""
        return deepcopy(self._level)

    def to_yaml(self) -> str:
        """The document as people write it. Reading it gives the same document again."""
        from stepless.compile.reading.write_yaml import write_yaml

        return write_yaml(self._level)

    def validate(self) -> tuple[Finding, ...]:
        """Everything that is wrong with it, and every warning, in document order. Whether functions are known is not asked."""
        from stepless.compile import check_document
        from stepless.nodes import KINDS

        return tuple(check_document(self._level, KINDS))

    def run(self, inputs: JSON = None, **options: Unpack[RunOptions]) -> RunResult:
        """`stepless.run` of this workflow, with its options `entry`, `db`, `approve` and `models`: to its end, in this process.
        From async code call `arun`."""
        from stepless.runtime.wiring.single_run import run

        return run(self.document(), inputs, **options)

    async def arun(self, inputs: JSON = None, **options: Unpack[RunOptions]) -> RunResult:
        """`run`, in the caller's event loop."""
        from stepless.runtime.wiring.single_run import arun

        return await arun(self.document(), inputs, **options)

    def __repr__(self) -> str:
        return f"Workflow({self._level.get('id')!r}, {len(self._level['nodes'])} nodes)"
