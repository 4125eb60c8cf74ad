"""Adds one method per kind of node to the builder. The parameters have the names of the kind's parameters
(docs/write/reference.md); a name that Python reserves ends in `_`. A parameter that is not given is left out of the document, so
the kind's default applies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self, Unpack

from stepless.builder.nodes import CallOptions, EntryOptions, NodeOptions, Nodes, given
from stepless.builder.ref import Ref
from stepless.builder.steps import UNSET, Step, Value
from stepless.compile.suggest import did_you_mean
from stepless.errors import NotFound

FunctionName = str | Callable[..., Any]


class KindMethods(Nodes):
    """Adds nodes to a level, by kind. Every method returns the node, which other nodes name in `after`."""

    # -- entries ------------------------------------------------------------------------------------------------------

    def manual(self, id: str, **options: Unpack[EntryOptions]) -> Step:
        return self._add(id, "manual", {}, options)

    def webhook(
        self, id: str, *, path: Value, method: Value = UNSET, auth: Value = UNSET, schema: Value = UNSET, response: Value = UNSET,
        **options: Unpack[EntryOptions],
    ) -> Step:  # fmt: skip
        return self._add(id, "webhook", given(path=path, method=method, auth=auth, schema=schema, response=response), options)

    def schedule(
        self, id: str, *, cron: Value = UNSET, rate: Value = UNSET, timezone: Value = UNSET, catch_up: Value = UNSET,
        **options: Unpack[EntryOptions],
    ) -> Step:  # fmt: skip
        return self._add(id, "schedule", given(cron=cron, rate=rate, timezone=timezone, catch_up=catch_up), options)

    def event(self, id: str, *, pattern: Mapping[str, Value], **options: Unpack[EntryOptions]) -> Step:
        return self._add(id, "event", given(pattern=pattern), options)

    # -- work ---------------------------------------------------------------------------------------------------------

    def function(self, id: str, *, call: FunctionName, args: Value = UNSET, **options: Unpack[CallOptions]) -> Step:
        """`call` is a registered name, or the registered callable itself."""
        return self._add(id, "function", given(call=_name(call), args=args), options)

    def http(
        self, id: str, *, url: Value, method: Value = UNSET, headers: Value = UNSET, query: Value = UNSET, body: Value = UNSET,
        expect_status: Value = UNSET, retry_statuses: Value = UNSET, **options: Unpack[CallOptions],
    ) -> Step:  # fmt: skip
        params = given(
            url=url, method=method, headers=headers, query=query, body=body, expect_status=expect_status,
            retry_statuses=retry_statuses,
        )  # fmt: skip
        return self._add(id, "http", params, options)

    def lambda_(
        self, id: str, *, function: Value, payload: Value = UNSET, mode: Value = UNSET, timeout: Value = UNSET,
        **options: Unpack[CallOptions],
    ) -> Step:  # fmt: skip
        return self._add(id, "lambda", given(function=function, payload=payload, mode=mode, timeout=timeout), options)

    def aws(self, id: str, *, service: Value, action: Value, params: Value = UNSET, **options: Unpack[CallOptions]) -> Step:
        return self._add(id, "aws", given(service=service, action=action, params=params), options)

    def code(
        self, id: str, *, code: Value, language: Value = UNSET, args: Value = UNSET, memory_mb: Value = UNSET,
        **options: Unpack[CallOptions],
    ) -> Step:  # fmt: skip
        return self._add(id, "code", given(code=code, language=language, args=args, memory_mb=memory_mb), options)

    def llm(
        self, id: str, *, prompt: Value = UNSET, messages: Value = UNSET, system: Value = UNSET, provider: Value = UNSET,
        model: Value = UNSET, response_schema: Value = UNSET, tools: Value = UNSET, temperature: Value = UNSET,
        max_tokens: Value = UNSET, stream: Value = UNSET, **options: Unpack[CallOptions],
    ) -> Step:  # fmt: skip
        params = given(
            prompt=prompt, messages=messages, system=system, provider=provider, model=model, response_schema=response_schema,
            tools=tools, temperature=temperature, max_tokens=max_tokens, stream=stream,
        )  # fmt: skip
        return self._add(id, "llm", params, options)

    def workflow(
        self, id: str, *, workflow: Value, inputs: Value = UNSET, wait: Value = UNSET, key: Value = UNSET, delay: Value = UNSET,
        begin_at: Value = UNSET, **options: Unpack[CallOptions],
    ) -> Step:  # fmt: skip
        """With `wait=False` a run is started, and `step.run` is its id."""
        params = given(workflow=workflow, inputs=inputs, wait=wait, key=key, delay=delay, begin_at=begin_at)
        return self._add(id, "workflow", params, options)

    def send(
        self, id: str, *, message: Value, to: Value = UNSET, workflow: Value = UNSET, key: Value = UNSET, data: Value = UNSET,
        start: Value = UNSET, inputs: Value = UNSET, keep: Value = UNSET, **options: Unpack[CallOptions],
    ) -> Step:  # fmt: skip
        params = given(to=to, workflow=workflow, key=key, message=message, data=data, start=start, inputs=inputs, keep=keep)
        return self._add(id, "send", params, options)

    # -- values -------------------------------------------------------------------------------------------------------

    def transform(self, id: str, *, value: Value, **options: Unpack[NodeOptions]) -> Step:
        return self._add(id, "transform", given(value=value), options)

    def set(self, id: str, *, variables: Mapping[str, Value], **options: Unpack[NodeOptions]) -> Step:
        return self._add(id, "set", given(variables=variables), options)

    # -- ways ---------------------------------------------------------------------------------------------------------

    def condition(self, id: str, *, cases: Mapping[str, Value], **options: Unpack[NodeOptions]) -> Step:
        return self._add(id, "condition", given(cases=cases), options)

    def router(
        self, id: str, *, routes: Mapping[str, Value], prompt: Value = UNSET, system: Value = UNSET, provider: Value = UNSET,
        model: Value = UNSET, **options: Unpack[CallOptions],
    ) -> Step:  # fmt: skip
        params = given(routes=routes, prompt=prompt, system=system, provider=provider, model=model)
        return self._add(id, "router", params, options)

    def join(self, id: str, **options: Unpack[NodeOptions]) -> Step:
        """Returns a node of the kind `join`. How its branches join is the option `join`, as at every node."""
        return self._add(id, "join", {}, options)

    def respond(
        self, id: str, *, status: Value = UNSET, headers: Value = UNSET, body: Value = UNSET, **options: Unpack[NodeOptions]
    ) -> Step:
        return self._add(id, "respond", given(status=status, headers=headers, body=body), options)

    def end(self, id: str, *, halt: Value = UNSET, break_: Value = UNSET, **options: Unpack[NodeOptions]) -> Step:
        return self._add(id, "end", given(halt=halt, break_=break_), options)

    def fail(
        self, id: str, *, code: Value = UNSET, message: Value = UNSET, error: Value = UNSET, **options: Unpack[NodeOptions]
    ) -> Step:
        return self._add(id, "fail", given(code=code, message=message, error=error), options)

    # -- pauses -------------------------------------------------------------------------------------------------------

    def wait(self, id: str, *, for_: Value = UNSET, until: Value = UNSET, **options: Unpack[NodeOptions]) -> Step:
        return self._add(id, "wait", given(for_=for_, until=until), options)

    def approval(
        self, id: str, *, message: Value, details: Value = UNSET, asked_by: Value = UNSET, fields: Value = UNSET,
        approvers: Value = UNSET, notify: Value = UNSET, timeout: Value = UNSET, reminders: Value = UNSET,
        **options: Unpack[NodeOptions],
    ) -> Step:  # fmt: skip
        params = given(
            message=message, details=details, asked_by=asked_by, fields=fields, approvers=approvers, notify=notify,
            timeout=timeout, reminders=reminders,
        )  # fmt: skip
        return self._add(id, "approval", params, options)

    def callback(
        self, id: str, *, message: Value = UNSET, fields: Value = UNSET, notify: Value = UNSET, timeout: Value = UNSET,
        **options: Unpack[NodeOptions],
    ) -> Step:  # fmt: skip
        return self._add(id, "callback", given(message=message, fields=fields, notify=notify, timeout=timeout), options)

    def receive(
        self, id: str, *, message: Value, where: Value = UNSET, key: Value = UNSET, timeout: Value = UNSET,
        **options: Unpack[NodeOptions],
    ) -> Step:  # fmt: skip
        """`message` is one of the `messages` of the workflow; `where` reads its data as `flow.message`."""
        return self._add(id, "receive", given(message=message, where=where, key=key, timeout=timeout), options)

    # -- containers ---------------------------------------------------------------------------------------------------

    def loop(
        self, id: str, *, times: Value = UNSET, items: Value = UNSET, while_: Value = UNSET, do_while: Value = UNSET,
        max_iterations: Value = UNSET, truncate: Value = UNSET, on_error: Value = UNSET, max_consecutive_errors: Value = UNSET,
        results: Value = UNSET, keep_writes: Value = UNSET, **options: Unpack[NodeOptions],
    ) -> Container:  # fmt: skip
        params = given(
            times=times, items=items, while_=while_, do_while=do_while, max_iterations=max_iterations, truncate=truncate,
            on_error=on_error, max_consecutive_errors=max_consecutive_errors, results=results, keep_writes=keep_writes,
        )  # fmt: skip
        return self._contain(id, "loop", params, options)

    def parallel(
        self, id: str, *, branches: Value = UNSET, items: Value = UNSET, window: Value = UNSET, max_iterations: Value = UNSET,
        truncate: Value = UNSET, on_error: Value = UNSET, max_consecutive_errors: Value = UNSET, **options: Unpack[NodeOptions],
    ) -> Container:  # fmt: skip
        params = given(
            branches=branches, items=items, window=window, max_iterations=max_iterations, truncate=truncate, on_error=on_error,
            max_consecutive_errors=max_consecutive_errors,
        )  # fmt: skip
        return self._contain(id, "parallel", params, options)

    def distributed(
        self, id: str, *, items: Value = UNSET, source: Value = UNSET, concurrency: Value = UNSET, lanes: Value = UNSET,
        shard: Value = UNSET, commit: Value = UNSET, tolerate: Value = UNSET, on_error: Value = UNSET, results: Value = UNSET,
        into: Value = UNSET, max_items: Value = UNSET, truncate: Value = UNSET, **options: Unpack[NodeOptions],
    ) -> Container:  # fmt: skip
        """`concurrency` is how many items run at once; it is no limit over all runs."""
        params = given(
            items=items, source=source, concurrency=concurrency, lanes=lanes, shard=shard, commit=commit, tolerate=tolerate,
            on_error=on_error, results=results, into=into, max_items=max_items, truncate=truncate,
        )  # fmt: skip
        return self._contain(id, "distributed", params, options)

    # -- how ----------------------------------------------------------------------------------------------------------

    def _add(self, id: str, kind: str, params: Mapping[str, Value], options: NodeOptions | EntryOptions | CallOptions) -> Step:
        return self.add(id, kind, params if params else None, **options)

    def _contain(self, id: str, kind: str, params: Mapping[str, Value], options: NodeOptions) -> Container:
        step = self.add(id, kind, {**params, "body": {"nodes": {}}}, **options)
        assert isinstance(step, Container)
        return step

    def _container(self, id: str, body: dict[str, Any], place: str) -> Container:
        return Container(id, body, place)


class Container(Step, KindMethods):
    """A `loop`, a `parallel` or a `distributed`: a node for all others, and the body that its methods add nodes to.

        with flow.loop("each", items=order.ref.lines, after=order) as each:
            each.function("ship", call="stock.ship", args={"line": each.item})

    `with` only marks the body in the source; it is optional. `item`, `index` and `items` refer to this container, also in
    containers inside it. `container["id"]` is an exit of the container; `body["id"]` is a node inside it.
    """

    def __init__(self, id: str, body: dict[str, Any], place: str) -> None:
        Step.__init__(self, id)
        KindMethods.__init__(self, body, place)

    @property
    def body(self) -> Level:
        """The body as a level, to look up a node in it."""
        return Level(self._level, self._place)

    @property
    def item(self) -> Ref:
        """The item of the current iteration."""
        return self.ref.item

    @property
    def index(self) -> Ref:
        """The number of the current iteration, from 0."""
        return self.ref.index

    @property
    def items(self) -> Ref:
        """All items."""
        return self.ref.items

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        return None


class Level(KindMethods):
    """A workflow or the body of a container. `level["id"]` is the node with that id; iteration gives the ids in order."""

    def __getitem__(self, id: str) -> Step:
        """Raises `NotFound` (unknown_node)."""
        if id not in self._level["nodes"]:
            mend = did_you_mean(id, self._level["nodes"], what="nodes")
            raise NotFound(f"there is no node {id!r}", code="unknown_node", place=f"{self._place}nodes", mend=mend)
        return self._step(id)

    def __iter__(self) -> Iterator[str]:
        """The ids, in document order."""
        return iter(self._level["nodes"])


def _name(call: FunctionName) -> str:
    if isinstance(call, str):
        return call
    from stepless.nodes.function import name_of

    return name_of(call)
