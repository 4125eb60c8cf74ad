"""Runs a flow twice, as plain Python and as its document, and compares results, failures and effects."""

from __future__ import annotations

import asyncio
import heapq
import json
import linecache
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import program_steps
import wide
from block_programs import Blocks
from program_steps import LOG
from programs import Gen, inputs
from pydantic import TypeAdapter

from stepless.flow import Flow, NodeError, acting
from stepless.flow.compiler.origin import hints_of
from stepless.limits import MAX_TEXT_CHARACTERS
from stepless.nodes.json_value import to_json
from stepless.runtime.wiring.local import local
from stepless.runtime.wiring.single_run import _attend, serving

Outcome = tuple[str, str]
TOO_LONG = f"a text has at most {MAX_TEXT_CHARACTERS} characters"
PATIENCE_S = 60  # after which a run is taken to hang
UNNAMED = "?"  # the code of an exception that is no NodeError: the engine names the failure of an expression in its own words


@dataclass(frozen=True)
class Program:
    """One random program, ready to run."""

    seed: object
    source: str
    flow: Flow[..., Any]
    forks: bool


def program(seed: object, lift: Any = "function") -> Program:
    gen = Gen(seed)
    source = gen.program()
    return Program(seed, source, flow_of(source, f"program_{seed}", lift), gen.forks)


BLOCK_NAMES: Mapping[str, Any] = MappingProxyType({
    "datetime": datetime, "timedelta": timedelta, "UTC": UTC, "Decimal": Decimal, "suppress": suppress, "heapq": heapq,
})


def block_program(seed: object, lift: Any = "function") -> Program:
    """A program with statements that are lifted in blocks."""
    gen = Blocks(seed)
    source = gen.program()
    return Program(seed, source, flow_of(source, f"blocks_{seed}", lift, names=BLOCK_NAMES), gen.forks)


def wide_program(seed: int) -> Program:
    """A program that calls another workflow, asks, and repeats failed attempts."""
    gen = wide.Wide(seed)
    source = gen.program()
    flow = flow_of(source, f"wide_{seed}", "function", names=wide.NAMES)
    return Program(seed, source, flow, gen.forks)


def flow_of(
    source: str, id: str, lift: Any = "function", name: str = "program", names: Mapping[str, Any] = MappingProxyType({}),
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Flow[..., Any]:
    """The flow of a source that has no file."""
    file = f"{id}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space: dict[str, Any] = {**vars(program_steps), **names, "Any": Any, "__name__": id}
    exec(compile(source, file, "exec", dont_inherit=True), space)
    return Flow(id.replace("_", "-"), space[name], lift=lift, options=options)


def plainly(flow: Flow[..., Any], given: Mapping[str, Any], log: list[Any] = LOG) -> tuple[Outcome, list[Any]]:
    log.clear()
    hints = hints_of(flow.function)
    arguments = {name: TypeAdapter(hints[name]).validate_python(json.loads(json.dumps(value))) for name, value in given.items()}
    with warnings.catch_warnings():  # in `gather(piece(x), 1 / 0)` Python calls the piece, and never awaits it
        warnings.filterwarnings("ignore", message="coroutine .* was never awaited", category=RuntimeWarning)
        outcome = _outcome(flow, arguments)
    return outcome, list(log)


def _outcome(flow: Flow[..., Any], arguments: Mapping[str, Any]) -> Outcome:
    try:
        return "ok", json.dumps(to_json(_listed(asyncio.run(_called(flow, arguments)))), sort_keys=True)
    except NodeError as error:
        return "error", error.code
    except Exception:  # NotJson too
        return "error", UNNAMED


async def _called(flow: Flow[..., Any], arguments: Mapping[str, Any]) -> Any:
    return await flow(**arguments)


def _listed(value: Any) -> Any:
    """A result with lists in place of views of objects, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _listed(item) for name, item in value.items()}
    return list(value) if isinstance(value, type({}.keys())) else value


@dataclass(frozen=True)
class Ran:
    """One run of a document: its outcome, the effects in their order, and what the run left."""

    outcome: Outcome
    effects: list[Any]
    view: Any
    events: list[Mapping[str, Any]]


async def _runs(
    document: Mapping[str, Any], given: Iterable[Any], approve: Any, log: list[Any], others: Iterable[Mapping[str, Any]],
) -> list[Ran]:
    """Publishes a document once, behind those that it calls, and runs it for each of the inputs on the real engine, in memory."""
    built = local(None)
    try:
        for other in others:
            built.service.publish(other)
        workflow = built.service.publish(document).version.workflow_id
        ran = []
        async with serving(built) as server:
            for one in given:
                log.clear()
                run_id = built.service.start(workflow, one).run_id
                events = await asyncio.wait_for(_attend(built, run_id, server, approve), PATIENCE_S)
                view = built.service.run(run_id)
                ran.append(Ran(outcome_of(view.status, view.outputs, view.error), list(log), view, events))
        return ran
    finally:
        built.close()


def runs(
    document: Mapping[str, Any], given: Iterable[Any], approve: Any = None, log: list[Any] = LOG,
    others: Iterable[Mapping[str, Any]] = (),
) -> list[Ran]:
    return asyncio.run(_runs(document, given, approve, log, others))


def outcome_of(status: str, outputs: Any, error: Mapping[str, Any] | None) -> Outcome:
    if status == "completed":
        return "ok", json.dumps(outputs, sort_keys=True)
    return "error", (error or {}).get("code", status)


def differ(one: Outcome, other: Outcome, effects: list[Any], others: list[Any], *, forks: bool = False) -> str:
    """What differs; empty if nothing does."""
    same = one == other or (one == ("error", UNNAMED) and other[0] == "error")
    if not same:
        return f"plain {one} compiled {other}"
    key: Callable[[list[Any]], Any] = (lambda log: sorted(map(repr, log))) if forks else list
    return "" if key(effects) == key(others) else f"effects {effects} compiled {others}"


def is_too_long(ran: Ran, outcome: Outcome, effects: list[Any]) -> bool:
    """Whether a run failed at the longest text that the engine builds, while plain Python built a longer one: Python has no such
    bound. Up to there both are the same."""
    failed = str((ran.view.error or {}).get("message", "")).startswith(TOO_LONG)
    return failed and len(outcome[1]) > MAX_TEXT_CHARACTERS and effects[: len(ran.effects)] == ran.effects


def compare(program: Program, times: int = 5) -> str:
    """Runs a program with several inputs. The first difference, with all that it takes to see it again."""
    document = program.flow.compile().document
    given = [inputs(program.seed, number) for number in range(times)]
    for number, (one, ran) in enumerate(zip(given, runs(document, given, True), strict=True)):
        plain, effects = plainly(program.flow, one)
        found = differ(plain, ran.outcome, effects, ran.effects, forks=program.forks)
        if found and not is_too_long(ran, plain, effects):
            return f"input {number} {json.dumps(one)}\n{found}\neffects {effects}\n     vs {ran.effects}"
    return ""


def compare_wide(program: Program, times: int = 2) -> str:
    """As `compare`, for a wide program."""
    document = program.flow.compile().document
    given = [inputs(program.seed, number) for number in range(times)]
    wide.PLAIN[0] = False
    compiled = runs(document, given, wide.answered, others=[wide.child.document()])
    wide.PLAIN[0] = True
    for number, (one, ran) in enumerate(zip(given, compiled, strict=True)):
        with acting(approval=wide.approved, callback=wide.called):
            plain, effects = plainly(program.flow, one)
        found = differ(plain, ran.outcome, effects, ran.effects, forks=program.forks)
        if found:
            return f"input {number} {json.dumps(one)}\n{found}"
    return ""
