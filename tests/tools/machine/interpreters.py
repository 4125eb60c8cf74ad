"""`make test-pythons`: the whole suite, with warnings as errors, on each installed CPython from 3.11 on.

    python tests/tools/machine/interpreters.py UV [pytest's own arguments]

It uses the newest release of each minor version, and 3.11.2, the oldest supported release. Each gets a separate environment
in .tools/pythons, from the lock. The exit status is 1 if one fails, or if there is no interpreter.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
OLDEST = (3, 11, 2)
PATIENCE_S = 20
_NAME = re.compile(r"python3(\.\d+)?")
_PLACES = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "~/.pyenv/versions/*/bin", "~/.local/share/uv/python/*/bin")
_ASK = """
import sys
facts = [sys.implementation.name, sys.version_info.releaselevel, *sys.version_info[:3], sys.prefix == sys.base_prefix]
print(*facts, sys.executable, sep="\\n")
"""


class Interpreter(NamedTuple):
    version: tuple[int, int, int]
    path: str

    @property
    def name(self) -> str:
        return ".".join(map(str, self.version))


def candidates(variables: Mapping[str, str]) -> Iterator[Path]:
    """Programs with the name of a Python 3, on the path and in the folders of the usual installers."""
    home = Path(variables.get("HOME", "/"))
    places = [*variables.get("PATH", "").split(os.pathsep), *(place.replace("~", str(home)) for place in _PLACES)]
    for place in dict.fromkeys(filter(os.path.isabs, places)):
        for folder in sorted(Path("/").glob(place.lstrip("/"))):
            yield from (path for path in sorted(folder.glob("python3*")) if _NAME.fullmatch(path.name))


def asked(path: Path) -> Interpreter | None:
    """The version that a program reports; None unless it is a released CPython, and not a virtual environment."""
    try:
        done = subprocess.run([path, "-I", "-c", _ASK], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match done.stdout.splitlines():
        case ["cpython", "final", major, minor, patch, "True", executable]:
            return Interpreter((int(major), int(minor), int(patch)), executable)
    return None


def chosen(found: Iterable[Interpreter]) -> list[Interpreter]:
    """The newest release of each minor version, and the oldest supported one; oldest first, each once."""
    newest: dict[tuple[int, ...], Interpreter] = {}
    for one in sorted(found, reverse=True):
        if one.version >= OLDEST:
            newest.setdefault(one.version if one.version == OLDEST else one.version[:2], one)
    return sorted({one.version: one for one in newest.values()}.values())


def tested(uv: str, interpreter: Interpreter, arguments: Sequence[str]) -> bool:
    """Whether the suite passes on an interpreter; its output goes to the terminal."""
    environment = Path(".tools", "pythons", interpreter.name)
    variables = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(environment), "UV_PYTHON_DOWNLOADS": "never"}
    made = subprocess.run([uv, "sync", "--frozen", "--quiet", "--python", interpreter.path], cwd=ROOT, env=variables, check=False)
    if made.returncode != 0:
        return False
    suite = [environment / "bin" / "python", "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(suite, cwd=ROOT, check=False).returncode == 0


def report(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    uv, *arguments = sys.argv[1:]
    interpreters = chosen(filter(None, map(asked, candidates(os.environ))))
    report("found: " + (", ".join(f"{one.name} ({one.path})" for one in interpreters) or "none"))
    passed: dict[str, bool] = {}
    for one in interpreters:
        report(f"\nCPython {one.name}")
        passed[one.name] = tested(uv, one, arguments)
    for name, well in passed.items():
        report(f"{'passed' if well else 'FAILED'}  CPython {name}")
    return 0 if passed and all(passed.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
