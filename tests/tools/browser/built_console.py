"""The files of the built console, and which of them the editor loads."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

BUILT = Path(__file__).resolve().parents[3] / "engine/stepless/api/console"
NAMED = re.compile(rb"(?:\./|assets/)([\w.-]+\.(?:js|css))\b")  # by a chunk that imports it, at once or later


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def compressed(contents: list[bytes]) -> int:
    return sum(len(gzip.compress(one, 9, mtime=0)) for one in contents)


def shell(built: dict[str, bytes]) -> set[str]:
    """The page itself and what it names."""
    named = re.findall(r'(?:src|href)="/console/(assets/[^"]+)"', built["index.html"].decode())
    return {"index.html", *named}


def of_the_editor(built: dict[str, bytes]) -> set[str]:
    """The shell, and all that the editor loads at any time: not the other pages, which the shell names too."""
    found = shell(built)
    waiting = [name for name in built if Path(name).name.startswith("editor-")]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            named = (f"assets/{one.decode()}" for one in NAMED.findall(built[name]) if name.endswith(".js"))
            waiting.extend(one for one in named if one in built)
    return found
