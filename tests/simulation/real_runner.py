"""Runs real processes over one SQLite file, for test_real_processes. The script forks them.

`python real_runner.py kill FILE SEED KILLS`: one process serves runs and is killed with SIGKILL at a random instant, KILLS
times; between two kills a person answers a question. Then it may finish.
`python real_runner.py pair FILE SEED`: two processes serve the same file, and each continues runs that the other began.

The effects of the nodes are lines in FILE.effects; the acknowledged answers are in FILE.answers.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

from stepless import FunctionCall, function
from stepless.adapters.sqlite.run_database import in_file
from stepless.adapters.sqlite.store import SqliteStore
from stepless.adapters.system import EnvSecrets
from stepless.core.events import NODE_ENDS
from stepless.core.stored.codec import decode_batch
from stepless.errors import SteplessError
from stepless.ports import RunFilter, Store
from stepless.runtime.hosting.host import Host
from stepless.runtime.inbox import ENDED
from stepless.runtime.service import Service
from stepless.runtime.wiring.local import assemble, local

RUNS = 16
LIVES = 12  # kills of the processes of one file
# An instance that is cut off more often than it has attempts ends as crashed: on a slow machine every kill may cut off the same.
WORK: dict[str, Any] = {"type": "function", "retry": {"attempts": LIVES}, "with": {"call": "real.work"}}
DOCUMENT = {
    "id": "real",
    "nodes": {
        "a": WORK,
        "l": {"type": "loop", "after": "a", "with": {"times": 3, "body": {"nodes": {"x": WORK, "y": {**WORK, "after": "x"}}}}},
        "p": {"type": "parallel", "after": "a", "with": {"branches": 4, "body": {"nodes": {"b": WORK}}}},
        "w": {"type": "wait", "after": "a", "with": {"for": "1s"}},
        "ask": {"type": "approval", "after": ["l", "p"], "with": {"message": "Go on?"}},
        "z": {**WORK, "after": ["ask.approved", "ask.rejected", "w"]},
    },
}


def served(path: str, store: Store) -> None:
    """Registers the work of the nodes, which checks the log before its effect."""
    effects = os.open(f"{path}.effects", os.O_APPEND | os.O_CREAT | os.O_WRONLY)

    @function("real.work")
    def work(call: FunctionCall) -> str:
        log = store.read_log(call.run_id)
        events = [event for batch in log for event in decode_batch(batch.data, batch.first) if event.instance == call.instance]
        fault = "" if any(event.type.value == "node.started" for event in events) else "before its commit"
        fault = "after its end" if any(event.type in NODE_ENDS for event in events) else fault
        os.write(effects, f"{json.dumps([call.run_id, call.instance, call.token, fault])}\n".encode())
        Event().wait(0.03)
        return call.instance


def begin(service: Service, prefix: str) -> None:
    service.publish(DOCUMENT)
    for number in range(RUNS):
        service.start("real", {}, key=f"{prefix}{number}")


def all_ended(service: Service) -> bool:
    """Whether all runs have ended and none is due: an answer during a session makes the run due once more."""
    return all(head.status in ENDED and head.due_ms is None for head in service.search(RunFilter()).items)


def answer(service: Service, path: str, random: Random, most: int) -> None:
    """Decides up to `most` open questions, and records the acknowledged answers."""
    for head in service.search(RunFilter(status="paused")).items:
        for pause in service.run(head.run_id).pauses:
            if pause.token is not None and pause.exits and most:
                most -= 1
                handle = random.choice(pause.exits)
                try:
                    service.answer(pause.token, handle, {}, "ann")
                except SteplessError:
                    continue
                with Path(f"{path}.answers").open("a") as answers:
                    answers.write(f"{json.dumps([head.run_id, pause.pause, handle])}\n")


async def serve_until(host: Host, over: Callable[[], bool], meanwhile: Callable[[], None]) -> None:
    serving = asyncio.create_task(host.serve())
    stirred = asyncio.Event()
    host.on_ending = lambda run_id: stirred.set()
    while not over() and not serving.done():
        meanwhile()
        stirred.clear()
        try:
            async with asyncio.timeout(0.05):
                await stirred.wait()
        except TimeoutError:
            continue
    await host.stop()
    await serving


# -- one process, killed ----------------------------------------------------------------------------------------------


def one_life(path: str, seed: int, last: bool) -> None:
    engine = local(path)
    served(path, engine.world.store)
    begin(engine.service, "one")
    random = Random(seed)

    def meanwhile() -> None:
        answer(engine.service, path, random, RUNS if last else 1)

    asyncio.run(serve_until(engine.host, lambda: all_ended(engine.service), meanwhile))
    engine.close()


def kill(path: str, seed: int, kills: int) -> None:
    random = Random(seed)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for life in range(kills):
        child = fork(lambda life=life: one_life(path, seed + life, last=False))  # type: ignore[misc]
        signal.sigtimedwait({signal.SIGCHLD}, random.uniform(0.03, 0.3))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while signal.sigtimedwait({signal.SIGCHLD}, 0):  # the death of this child must not wake the next wait
            continue
    child = fork(lambda: one_life(path, seed, last=True))
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


# -- two processes ----------------------------------------------------------------------------------------------------


def one_of_two(path: str, seed: int, name: str) -> None:
    store = SqliteStore(path)
    engine = assemble(in_file(store), 60_000, EnvSecrets())
    served(path, store)
    begin(engine.service, name)
    random = Random(seed)

    def over() -> bool:
        return len(engine.service.search(RunFilter()).items) == 2 * RUNS and all_ended(engine.service)

    asyncio.run(serve_until(engine.host, over, lambda: answer(engine.service, path, random, 2)))
    store.close()


def pair(path: str, seed: int) -> None:
    children = [fork(lambda name=name: one_of_two(path, seed, name)) for name in ("left", "right")]  # type: ignore[misc]
    sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


def fork(live: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        live()
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["kill", path, seed, kills]:
            kill(path, int(seed), int(kills))
        case ["pair", path, seed]:
            pair(path, int(seed))
