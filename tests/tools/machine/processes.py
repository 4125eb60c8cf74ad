"""Runs `stepless` as a child process, with small workflows for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Timer

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 60

HELLO = """
id: hello
nodes:
  start: {type: manual}
  greet: {type: transform, after: start, with: {value: "Hello, <start.name>!"}}
"""

ASKING = """
id: asking
nodes:
  start: {type: manual}
  boss:
    type: approval
    after: start
    with: {message: "Pay <start.amount>?", fields: {limit: {type: integer}, note: {type: string}}}
  pay: {type: transform, after: boss.approved, with: {value: {paid: <start.amount>, limit: <boss.limit>}}}
  deny: {type: transform, after: boss.rejected, with: {value: denied}}
"""


class Child:
    """A `stepless` process whose output is read line by line; it is killed after `life_s` seconds, by default as long
    as any test may take."""

    def __init__(self, *arguments: str, folder: Path, environment: dict[str, str], life_s: float = PATIENCE_S) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "stepless", *arguments], cwd=folder, text=True, env={**os.environ, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._watchdog = Timer(life_s, self.process.kill)
        self._watchdog.start()
        self.said: list[str] = []

    def until(self, text: str) -> str:
        """Reads up to the line that contains `text`, and returns that line."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if text in line:
                return line
        raise AssertionError(f"{text!r} was never printed. The output:\n{''.join(self.said)}")

    def answer(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """The exit code; the rest of the output is in `said`."""
        assert self.process.stdout is not None
        self.said += self.process.stdout
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.process.wait(PATIENCE_S)
        self._watchdog.cancel()
