"""A command on a terminal of its own, whose questions are answered."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def talk(
    command: list[str], answers: Mapping[str, str], *, folder: Path, variables: Mapping[str, str], seconds: float
) -> tuple[int, str, list[str]]:
    """The exit code, all that was said, and the questions in order. An answer is typed when what was said since the last one
    ends with the question, `answers` from a pattern to what is typed."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(command, cwd=folder, env=dict(variables), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said, begin, asked, deadline = "", 0, [], monotonic() + seconds
    try:
        while chunk := _read(ours, deadline):
            said += chunk
            for question, typed in answers.items():
                if re.search(f"(?:{question})\\s*$", ESCAPES.sub("", said[begin:])):
                    asked.append(question)
                    begin = len(said)
                    os.write(ours, f"{typed}\n".encode())
                    break
        return running.wait(max(1, deadline - monotonic())), ESCAPES.sub("", said).replace("\r\n", "\n"), asked
    finally:
        running.kill()
        running.wait()
        os.close(ours)


def _read(terminal: int, deadline: float) -> str:
    """The next output; "" at its end, which Linux answers with an error."""
    ready, _, _ = select.select([terminal], [], [], max(0, deadline - monotonic()))
    if not ready:
        raise TimeoutError("the command neither asks nor ends")
    try:
        return os.read(terminal, 65_536).decode("utf-8", "replace")
    except OSError:
        return ""
