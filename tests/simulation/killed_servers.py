"""Kills real servers with SIGKILL while three processes send to them through `stepless.client`, and accounts for every answer.

`python killed_servers.py dev KILLS [SEED]`: `stepless dev` serves examples/order-payments, and is killed and started again KILLS
times. `python killed_servers.py pair ROUNDS [SEED]`: two servers share one SQLite file, and in each of ROUNDS rounds one of them,
or both, are killed and started again; the runs join, refuse and replace each other, wait under further keys, and end.
`python killed_servers.py cloud ROUNDS [SEED]`: the same with two servers over the adapters of AWS (`cloud_server.py`).

In the end the servers are killed once more, the runs are brought to rest, and a table says what became of each message
(`accounts.py`). The exit status is 0 only if nothing is lost or doubled, and no two runs of a key were at work at once.
`make simulate-senders` does all three.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from threading import Event
from typing import Any, Final, TypeAlias

import cloud_server
import emulators
import httpx
from accounts import Row, Runs, heads_in, row_of, table
from cloud_server import store_in
from real_runner import fork
from senders import API_KEY, Plan, Sender, told_in

from stepless import FunctionCall, function
from stepless.adapters.sqlite.run_database import in_file
from stepless.adapters.sqlite.store import SqliteStore
from stepless.adapters.system import EnvSecrets, SystemClock
from stepless.api.app import create_app
from stepless.cli.dev.http import Server
from stepless.ports import Store
from stepless.runtime.wiring.local import assemble

EXAMPLE: Final = Path(__file__).resolve().parents[2] / "examples" / "order-payments"
SENDERS: Final = 3
MISSING: Final = 77  # the exit status where AWS cannot be emulated
START_S, REST_S = 60, 120
SOON_MS: Final = 20_000  # a run that is due later than this rests
RULES: Final = ("join", "refuse", "replace")


def document(rule: str) -> dict[str, Any]:
    """Runs that wait under their key and a further one, work, and end by themselves or by a message."""
    waits = {"message": "tick", "timeout": "2s"}
    return {
        "id": f"talks-{rule}", "key": "<input.key>", "on_conflict": rule,
        "messages": {"tick": {}, "stop": {}}, "cancel_on": ["stop"],
        "nodes": {
            "go": {"type": "manual"},
            "got": {"type": "receive", "after": "go", "with": waits},
            "work": {"type": "function", "after": ["got", "got.timeout"], "with": {"call": "senders.work"}},
            "again": {"type": "receive", "after": "work", "with": {**waits, "key": "<go.further>"}},
            "last": {"type": "transform", "after": ["again", "again.timeout"], "with": {"value": "done"}},
        },
    }  # fmt: skip


@function("senders.work")
def work(call: FunctionCall) -> str:
    return call.token


def _inputs(key: str, random: Random) -> Any:
    workflow, _, number = key.partition("-")
    return {"key": key, "further": f"{workflow}-{int(number) - random.choice([0, 1])}"}


TALKS: Final = Plan([f"talks-{rule}" for rule in RULES], "tick", "stop", _inputs, lambda count, random: {"n": count})
ORDERS: Final = Plan(
    ["order-payments"], "payment", "cancelled", lambda key, random: {"id": key, "amount": 100},
    lambda count, random: {"payment": f"pi_{count}", "amount": random.choice([1, 100, 100])},
)  # fmt: skip


# -- the servers --------------------------------------------------------------------------------------------------------


class DevServer:
    """`stepless dev` on the example."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder, self._port = folder, port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it listens."""
        said = self._folder / "url"
        said.unlink(missing_ok=True)
        options = ["--db", str(self._folder / "runs.db"), "--port", str(self._port), "--port-file", str(said)]
        with (self._folder / "server.log").open("ab") as log:
            command = [sys.executable, "-m", "stepless", "dev", str(EXAMPLE), *options]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_S
        while not said.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{(self._folder / 'server.log').read_text()}")
            Event().wait(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(START_S)
            self._process = None


class ForkedServer:
    """One of several servers over one place: the engine and the API, in a fork of this process."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder, self._port = folder, port
        self._child = 0

    def serve(self) -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Returns when it listens."""
        self._child = fork(self._serve)
        deadline = time.monotonic() + START_S
        while True:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            if os.waitpid(self._child, os.WNOHANG)[0] or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{(self._folder / 'server.log').read_text()}")
            Event().wait(0.01)

    def _serve(self) -> None:
        log = os.open(self._folder / "server.log", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        self.serve()

    def kill(self) -> None:
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
            self._child = 0


class PairedServer(ForkedServer):
    """Over one SQLite file."""

    def serve(self) -> None:
        engine = assemble(in_file(SqliteStore(str(self._folder / "runs.db"))), 60_000, EnvSecrets())
        listener = socket.create_server(("127.0.0.1", self._port))

        async def serve() -> None:
            server = Server(create_app(engine.service, api_keys=[API_KEY]), lambda: None)
            await asyncio.gather(engine.host.serve(), server.serve([listener]))

        asyncio.run(serve())


class CloudServer(ForkedServer):
    """Over one emulated account."""

    def serve(self) -> None:
        cloud_server.serve(self._port)


AnyServer: TypeAlias = DevServer | PairedServer | CloudServer


# -- the story ----------------------------------------------------------------------------------------------------------


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in held]
    for listener in held:
        listener.close()
    return ports


def dev(kills: int, seed: int) -> int:
    def between(servers: Sequence[AnyServer], random: Random) -> None:
        Event().wait(random.uniform(1, 4))
        servers[0].kill()
        servers[0].start()

    return _play(DevServer, 1, ORDERS, kills, seed, between, f"`stepless dev` was killed {kills} times")


def pair(rounds: int, seed: int) -> int:
    return _play(PairedServer, 2, TALKS, rounds, seed, _between, f"two servers over one file, {rounds} rounds of kills")


def cloud(rounds: int, seed: int) -> int:
    try:
        with cloud_server.account() as environment:
            os.environ |= environment
            title = f"two servers over the adapters of AWS, {rounds} rounds of kills"
            return _play(CloudServer, 2, TALKS, rounds, seed, _between, title)
    except emulators.Missing as missing:
        sys.stdout.write(f"{missing}\n")
        return MISSING


def _between(servers: Sequence[AnyServer], random: Random) -> None:
    Event().wait(random.uniform(0.1, 2.5))
    for server in random.choice([servers[:1], servers[1:], servers]):
        server.kill()
        Event().wait(random.choice([0, 0, 0.2]))
        server.start()


def _play(
    server: type[AnyServer], count: int, plan: Plan, rounds: int, seed: int,
    between: Callable[[Sequence[AnyServer], Random], None], title: str,
) -> int:  # fmt: skip
    began, random = time.monotonic(), Random(seed)
    os.environ |= {"STRIPE_SECRET": "whsec_of_the_senders", "STEPLESS_API_KEY": API_KEY}
    with tempfile.TemporaryDirectory(prefix="stepless-senders-") as name:
        folder = Path(name)
        ports = free_ports(count)
        servers = [server(folder, port) for port in ports]
        children: list[int] = []
        try:
            for one in servers:
                one.start()
            if plan is TALKS:
                _publish(ports[0])
            children = [fork(lambda n=n: _send(n, ports, folder, plan, seed)) for n in range(1, SENDERS + 1)]  # type: ignore[misc]
            for _ in range(rounds):
                between(servers, random)
            (folder / "over").touch()
            faults = [number for number, child in enumerate(children, 1) if os.waitpid(child, 0)[1]]
            children = []
            for one in servers:
                one.kill()
            store = store_in(os.environ) if server is CloudServer else SqliteStore(str(folder / "runs.db"))
            if not faults:
                _bring_to_rest(servers[0], store)
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            for one in servers:
                one.kill()
        if faults:
            sys.stdout.write(f"the senders {faults} failed\n")
            return 1
        done = _account(store, folder, f"{title}, {time.monotonic() - began:.0f} s, seed {seed}")
        if isinstance(store, SqliteStore):
            store.close()
        return done


def _publish(port: int) -> None:
    for rule in RULES:
        there, headers = f"http://127.0.0.1:{port}/workflows/talks-{rule}", {"Authorization": f"Bearer {API_KEY}"}
        answer = httpx.put(there, json=document(rule), headers=headers, timeout=START_S)
        if answer.status_code != 201:
            raise RuntimeError(answer.text)


def _send(number: int, ports: Sequence[int], folder: Path, plan: Plan, seed: int) -> None:
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    sender = Sender(number, urls, folder / f"told-{number}", plan, Random(f"{seed} {number}"))
    sender.send_until((folder / "over").exists)


def _account(store: Store, folder: Path, title: str) -> int:
    runs = Runs(store)
    rows = {str(number): row_of(told_in(folder / f"told-{number}"), runs) for number in range(1, SENDERS + 1)}
    whole, at_once = sum(rows.values(), Row()), runs.at_once()
    live = sum(runs.still_live().values())
    sys.stdout.write(f"{title}\n{len(runs.heads)} runs, of which {live} wait; keys with two runs at once: {len(at_once)}\n\n")
    sys.stdout.write(f"{table(rows)}\n\n")
    for fault in [*whole.lost[:20], *whole.doubled[:20], *at_once[:20]]:
        sys.stdout.write(f"fault: {fault}\n")
    good = not (whole.lost or whole.doubled or at_once) and whole.answered == whole.read + whole.unread + whole.kept
    sys.stdout.write(f"lost {len(whole.lost)}, doubled {len(whole.doubled)}\n")
    return 0 if good and whole.answered else 1


def _bring_to_rest(server: AnyServer, store: Store) -> None:
    """Serves the runs until none is due soon or leased to a process that was killed, and none has a signal that it could read."""
    server.start()
    deadline = time.monotonic() + REST_S
    while not _rests(store):
        if time.monotonic() > deadline:
            raise TimeoutError(f"runs are still due after {REST_S} seconds")
        Event().wait(0.5)
    server.kill()


def _rests(store: Store) -> bool:
    if store.list_due(int(SystemClock().now_ms()) + SOON_MS, limit=1):
        return False
    return all(
        head.owner is None and not (head.status == "paused" and store.read_inbox(head.run_id)) for head in heads_in(store)
    )


if __name__ == "__main__":
    actions: Mapping[str, Callable[[int, int], int]] = {"dev": dev, "pair": pair, "cloud": cloud}
    action, number, *rest = sys.argv[1:]
    sys.exit(actions[action](int(number), int(rest[0]) if rest else Random().randrange(1_000_000)))
