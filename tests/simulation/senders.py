"""A process that sends to real servers through `stepless.client`, and writes down what it was told.

It starts runs under keys, and sends messages to runs, to keys, for later and with a start; of some it loses the answer, and sends
them again, to another server if there is one. Keys move on with the time, so that senders meet at the same keys while their runs
begin, wait, are replaced and end. Each line of its file is one answer (`Told`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any, Final

from stepless.adapters.system import SystemClock
from stepless.client import Client, ClientError

API_KEY: Final = "a-key-of-the-senders"
SPAN_S: Final = 2.0  # how long a key is the newest
BEHIND: Final = 3  # how many keys back a sender goes
THREADS: Final = 12  # of each sender
PATIENCE_S: Final = 120  # how long a call is tried again


@dataclass(frozen=True)
class Told:
    """What a sender was told about a message or a start, `at_ms` when it had the answer. `status` is 202, 200 for a start that
    joined a run, or the status of a refusal with its `code`."""

    id: str
    how: str
    workflow: str
    key: str
    at_ms: float
    status: int
    code: str = ""
    delivered: Sequence[str] = ()
    kept_until_ms: float | None = None
    run: str | None = None  # of a start, or of a message that started one


@dataclass(frozen=True)
class Plan:
    """What a sender does. `hows` are drawn from: start, keyed, kept, begin (a message that asks for a start), directed, stop.
    `inputs` and `data` make the inputs of a run and the data of a message, `stop` is the message that cancels."""

    workflows: Sequence[str]
    message: str
    stop: str
    inputs: Callable[[str, Random], Any]
    data: Callable[[int, Random], Any]
    hows: Sequence[str] = ("start", "start", "keyed", "keyed", "kept", "begin", "begin", "directed", "stop")
    keeps: Sequence[str] = ("2s", "10s", "1h")


@dataclass
class Sender:
    """One sender. `urls` are the servers, `path` the file of its answers."""

    number: int
    urls: Sequence[str]
    path: Path
    plan: Plan
    random: Random
    runs: list[str] = field(default_factory=list)  # the last that it was told

    def send_until(self, over: Callable[[], bool]) -> None:
        """Sends from THREADS threads until it is told to end. Raises what one of them raises."""
        counts, lock = count(1), Lock()

        def voice() -> None:
            while not over():
                told = self._next(clients, next(counts))
                with lock:
                    file.writelines(f"{json.dumps(asdict(each))}\n" for each in told)
                    file.flush()

        with ExitStack() as stack, self.path.open("a", encoding="utf-8") as file:
            clients = [stack.enter_context(Client(url, API_KEY, retry_for_s=PATIENCE_S)) for url in self.urls]
            with ThreadPoolExecutor(THREADS) as pool:
                for future in [pool.submit(voice) for _ in range(THREADS)]:
                    future.result()

    def _next(self, clients: Sequence[Client], number: int) -> Sequence[Told]:
        random = self.random
        how, workflow, id = random.choice(self.plan.hows), random.choice(self.plan.workflows), f"s{self.number}-{number}"
        key = f"K-{int(_now_ms() / 1000 / SPAN_S) - min(int(random.expovariate(1)), BEHIND)}"
        call = self._call(how, workflow, key, id, number)
        if call is None:
            return ()
        times = 2 if random.random() < 0.15 else 1
        return [self._ask(call, random.choice(clients), id, how, workflow, key) for _ in range(times)]

    def _call(self, how: str, workflow: str, key: str, id: str, number: int) -> Callable[[Client], Mapping[str, Any]] | None:
        plan, inputs = self.plan, self.plan.inputs(key, self.random)
        data = plan.data(number, self.random)
        keep, run = self.random.choice(plan.keeps), self.random.choice(self.runs) if self.runs else None
        match how:
            case "start":
                return lambda client: client.start(workflow, inputs, idempotency_key=id)
            case "keyed":
                return lambda client: client.send(workflow, plan.message, data, key=key, keep="0s", id=id)
            case "kept":
                return lambda client: client.send(workflow, plan.message, data, key=key, keep=keep, id=id)
            case "begin":
                return lambda client: client.send(workflow, plan.message, data, key=key, start=True, inputs=inputs, id=id)
            case "stop":
                return lambda client: client.send(workflow, plan.stop, {}, key=key, id=id)
        return None if run is None else lambda client: client.send_to_run(run, plan.message, data, id=id)

    def _ask(
        self, call: Callable[[Client], Mapping[str, Any]], client: Client, id: str, how: str, workflow: str, key: str
    ) -> Told:
        try:
            answer = call(client)
        except ClientError as error:
            return Told(id, how, workflow, key, _now_ms(), error.status or 0, error.code)
        at_ms = _now_ms()
        run = answer.get("run_id") or answer.get("started")
        self.runs = [*self.runs, *([run] if run else answer["delivered"])][-6:]
        until = answer.get("kept_until")
        until_ms = _ms(until) if until is not None else None
        status = 200 if answer.get("joined") else 202
        return Told(id, how, workflow, key, at_ms, status, "", answer.get("delivered", ()), until_ms, run)


_now_ms: Final = SystemClock().now_ms


def told_in(path: Path) -> list[Told]:
    """The answers that a sender wrote down."""
    return [Told(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _ms(instant: str) -> float:
    return datetime.fromisoformat(instant).timestamp() * 1000
