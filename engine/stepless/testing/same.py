"""Defines `assert_same`, which runs a workflow in Python both ways, as the function and as its document, and compares the
outcomes."""

from __future__ import annotations

import asyncio
import json
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, TypeAlias

from pydantic import TypeAdapter

from stepless.compile import compile_document
from stepless.errors import Conflict, InvalidRequest
from stepless.flow import Answer, Flow, NodeError, acting
from stepless.limits import MAX_PATIENCE_S
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.nodes.json_value import to_json
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.single_run import Asking, follow, give_answer, open_questions, serving
from stepless.testing.effects import Effects, Steps, difference, is_concurrent, named, watched

Given: TypeAlias = bool | str | Mapping[str, JSON]
Answers: TypeAlias = Sequence[Given] | Mapping[str, Given] | Callable[[str], Given]
_TIMEOUT = "timeout"


def assert_same(
    flow: Flow[..., Any], inputs: Mapping[str, JSON] | None = None, answers: Answers = (), *, steps: Steps | None = None
) -> JSON:
    """Calls the function, runs its document on the engine in memory, and compares: the same result as JSON, or a failure with the
    same code, and the same calls of steps with the same arguments, in the same order where they follow each other. Returns the
    result; for a failure, `{"error": code}`.

    `steps` are what stands for steps, in both: by the step itself or its name, a function with the parameters of the step, or the
    value that it returns. The other steps are called as they are, so those with effects have them twice.

    `inputs` are those of a run: the arguments by name, or the object that the only parameter takes. `answers` are those to
    approvals and callbacks: in the order of the questions, by message, or a function of the message. Each is True (approved),
    False (rejected), `"timeout"`, or an object: the fields of an approval, with its `decision` if that is not `approved`, or the
    answer to a callback. Sleeps and timeouts take no time. A workflow that is compiled with a trigger begins as if called.

    Raises AssertionError if the outcomes or the calls differ, if a question has no answer, or if the run does not end within
    MAX_PATIENCE_S seconds; `FlowRefused` if the source is refused. An exception of the function that is no `NodeError` compares
    as a failure.
    """
    __tracebackhide__ = True
    given = dict(inputs or {})
    fakes, called, seen = named(steps or {}), Effects(), Effects()
    documents = _documents(flow)
    plain = _plain(flow, given, _Script(answers), fakes, called)
    with watched(documents, fakes, seen):
        compiled = asyncio.run(_compiled(flow, documents, given, _Script(answers)))
    same = plain == compiled or ("error" in plain and plain["error"] is None and "error" in compiled)
    if not same:
        raise AssertionError(f"{flow.id} differs: the function {_told(plain)}, the document {_told(compiled)}")
    if differs := difference(called, seen, ordered=not any(map(is_concurrent, documents))):
        raise AssertionError(f"{flow.id} differs: {differs}")
    return compiled["result"] if "result" in compiled else {"error": compiled["error"]}


def _told(outcome: Mapping[str, Any]) -> str:
    if "result" in outcome:
        return f"returned {json.dumps(outcome['result'], ensure_ascii=False)}"
    return f"failed with {outcome['error'] or outcome['raised']}"


class _Script:
    """The answers, as they are asked for."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._next = iter(()) if callable(answers) or isinstance(answers, Mapping) else iter(answers)

    def __call__(self, message: str) -> Given:
        if callable(self._answers):
            return self._answers(message)
        found = self._answers.get(message) if isinstance(self._answers, Mapping) else next(self._next, None)
        if found is None:
            raise AssertionError(f"no answer is given to {message!r}")
        return found


# -- as the function ----------------------------------------------------------------------------------------------------


def _plain(
    flow: Flow[..., Any], inputs: Mapping[str, Any], script: _Script, fakes: Mapping[str, Callable[..., Any]], effects: Effects
) -> dict[str, Any]:
    def approved(message: str) -> Answer:
        given = script(message)
        if isinstance(given, Mapping):
            decision = str(given.get("decision", "approved"))
            return Answer.model_validate({**given, "decision": decision, "approved": decision == "approved"})
        decision = _TIMEOUT if given == _TIMEOUT else "approved" if given is True else "rejected"
        return Answer(decision=decision, approved=decision == "approved")

    def called_back(message: str) -> JSON:
        given = script(message)
        if given == _TIMEOUT:
            raise NodeError("no answer came in time", code="wait_timeout")
        return dict(given) if isinstance(given, Mapping) else {}

    async def call() -> Any:
        return await flow(**_arguments(flow, inputs))

    with acting(approval=approved, callback=called_back, steps=fakes, called=effects):
        try:
            return {"result": to_json(asyncio.run(call()))}
        except NodeError as error:
            return {"error": error.code}
        except AssertionError:
            raise
        except Exception as error:
            return {"error": None, "raised": repr(error)}


def _arguments(flow: Flow[..., Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the function, with their annotated types."""
    hints, whole = typing.get_type_hints(flow.function), flow.whole
    copied = json.loads(json.dumps(inputs))
    given = copied if whole is None else {whole: copied}
    return {name: TypeAdapter(hints.get(name, Any)).validate_python(value) for name, value in given.items()}


# -- as the document ----------------------------------------------------------------------------------------------------


def _documents(flow: Flow[..., Any]) -> list[dict[str, JSON]]:
    """Those of the other workflows that it may call, then its own."""
    document = _untriggered(flow).document()
    return [*(child.document() for child in _children(flow, document)), document]


async def _compiled(
    flow: Flow[..., Any], documents: Sequence[Mapping[str, JSON]], inputs: Mapping[str, JSON], script: _Script
) -> dict[str, Any]:
    built = local(None)
    try:
        for document in documents:
            built.service.publish(document)
        async with serving(built) as server:
            run_id = built.service.start(flow.id, inputs).run_id
            await asyncio.wait_for(_attended(built, run_id, server, script), MAX_PATIENCE_S)
        view = built.service.run(run_id)
    except TimeoutError:
        raise AssertionError(f"the document of {flow.id} did not end within {MAX_PATIENCE_S} s") from None
    finally:
        built.close()
    if view.status == "completed":
        return {"result": view.outputs}
    return {"error": (view.error or {}).get("code", view.status)}


def _untriggered(flow: Flow[..., Any]) -> Flow[..., Any]:
    return Flow(flow.id, flow.function, (), flow._lift, flow._options)


def _children(flow: Flow[..., Any], document: Mapping[str, JSON]) -> Iterator[Flow[..., Any]]:
    """The other workflows that the module of a workflow knows, if it calls any."""
    if "workflow" not in compile_document(document, KINDS).kinds:
        return
    known = {flow.id}
    waiting = [flow]
    while waiting:
        for value in waiting.pop().function.__globals__.values():
            if isinstance(value, Flow) and value.id not in known:
                known.add(value.id)
                waiting.append(value)
                yield value


async def _attended(built: Local, run_id: str, server: asyncio.Task[None], script: _Script) -> None:
    """Answers what the run asks, and skips its waits, until it ends."""
    asking = Asking(built, run_id)
    late: set[tuple[str, str]] = set()  # questions that get no answer in time
    async with aclosing(follow(built, run_id, server)) as pages:
        async for page in pages:
            for question in asking.new(page):
                given = script(str(question.pause.details.get("message", "")))
                if given == _TIMEOUT:
                    late.add((question.run_id, question.pause.pause))
                    continue
                give_answer(built, question, _answer(question.pause.exits, given))
                asking.answered()
            if not page and not built.runner.sessions:
                open = {(question.run_id, question.pause.pause) for question in open_questions(built, run_id)[0]}
                if open <= late:
                    with suppress(Conflict):  # nothing is due: it goes on by itself
                        built.service.skip(run_id)


def _answer(exits: Sequence[str], given: Given) -> tuple[str, JSON]:
    fields = dict(given) if isinstance(given, Mapping) else {}
    if "approved" not in exits:
        return exits[0], fields
    decision = str(fields.pop("decision", "approved")) if isinstance(given, Mapping) else "approved" if given else "rejected"
    if decision not in exits:
        raise InvalidRequest(f"an approval has no answer `{decision}`", code="invalid_signal", mend=f"it has {', '.join(exits)}")
    return decision, fields
