"""Servers of peers: a process that ends with the measurement, and free ports on loopback.

Runs in the peer's environment: only the standard library may be imported here.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

START_S, STEP_S, STOP_S = 40.0, 0.2, 2.0


def free_ports(count: int) -> list[int]:
    """Ports that are free now, each another."""
    taken = [socket.socket() for _ in range(count)]
    try:
        for each in taken:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in taken]
    finally:
        for each in taken:
            each.close()


@contextmanager
def server(command: Sequence[str], log: Path, variables: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended with the block. It stays in the process group of the measurement, which is killed as a group when
    its time limit is over."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=dict(variables))
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def answered(process: subprocess.Popen[bytes], log: Path, attempt: Callable[[], Awaitable[object]]) -> None:
    """Repeats `attempt` until it raises nothing. Raises RuntimeError with the end of the log if the server ends or is not
    ready within START_S."""
    failure: Exception | None = None
    for _ in range(int(START_S / STEP_S)):
        if process.poll() is not None:
            break
        try:
            await attempt()
        except Exception as error:  # whatever the peer's client raises while its server starts
            failure = error
            await asyncio.sleep(STEP_S)
        else:
            return
    raise RuntimeError(f"the server did not start: {failure!r}: {_end_of(log)}")


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-300:]
