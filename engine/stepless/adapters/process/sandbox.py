"""Runs each program of the local sandbox in its own process, which the kernel restricts before the process reads the code."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

from stepless.adapters.programs import failure, ran_of, request_of
from stepless.limits import MAX_CODE_OUTPUT_BYTES, MAX_SANDBOXES
from stepless.model.effects.program import Program, Ran

CHILD: Final = Path(__file__).with_name("child.py")
_PIECE_BYTES: Final = 65_536


class ProcessSandbox:
    """Runs at most MAX_SANDBOXES processes at once per event loop. With `unsafe`, code also runs if the kernel has no system call
    filter. Then it still cannot open a file, socket or process, and Python has no function left that deletes, renames or signals;
    but a fault of the interpreter would give it this user's permissions. `script` is what the process runs."""

    def __init__(self, *, unsafe: bool = False, script: Path = CHILD) -> None:
        self._unsafe = unsafe
        self._script = script
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    async def run(self, program: Program) -> Ran:
        """See `Sandbox.run`. The timeout includes the wait for a free slot and the start of the interpreter, about 50 ms."""
        request = json.dumps(request_of(program, unsafe=self._unsafe)).encode()
        slots = self._slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MAX_SANDBOXES))
        try:
            async with asyncio.timeout(program.timeout_ms / 1000), slots:
                reply, status = await _exchange(self._script, request)
        except TimeoutError as error:
            raise failure("code_timeout", f"the code did not end within {program.timeout_ms} ms") from error
        return ran_of(_read(reply, status))


async def _exchange(script: Path, request: bytes) -> tuple[bytes, int]:
    """What the process wrote, and its exit status; a negative status is the signal that killed it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-B", str(script),
        stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={}, cwd="/", start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # the process died; its status gives the reason
            process.stdin.write(request)
            await process.stdin.drain()
            process.stdin.close()
        reply = await _bounded(process)
        return reply, await process.wait()
    finally:
        await _kill_and_reap(process)


async def _bounded(process: Process) -> bytes:
    assert process.stdout is not None
    reply = bytearray()
    while piece := await process.stdout.read(_PIECE_BYTES):
        reply += piece
        if len(reply) > MAX_CODE_OUTPUT_BYTES:
            raise failure("code_output_too_large", f"the code writes more than {MAX_CODE_OUTPUT_BYTES:,} bytes")
    return bytes(reply)


async def _kill_and_reap(process: Process) -> None:
    """Kills the process and its children, and closes its pipes. A child that outlives the process holds its output open."""
    assert process.stdout is not None
    if process.returncode is None or not process.stdout.at_eof():
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    while await process.stdout.read(_PIECE_BYTES):
        continue
    await process.wait()


def _read(reply: bytes, status: int) -> object:
    if status == -signal.SIGKILL:  # not by this process: the machine ran out of memory
        raise failure("code_memory", "the process was killed, usually because the machine ran out of memory")
    if status == -signal.SIGXCPU:
        raise failure("code_timeout", "the code used up its processor time")
    if status < 0:
        raise failure("code_raised", f"the interpreter was killed by {signal.Signals(-status).name}")
    try:
        return json.loads(reply)
    except (ValueError, RecursionError):
        return None
