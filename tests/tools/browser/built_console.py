"""The files of the built console, and which of them a page loads."""

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


def at_once(built: dict[str, bytes], page: str) -> set[str]:
    """The shell, and what is loaded with the chunk of a page before it can run: what it imports at once, styles, its worker."""
    loading = re.compile(rb"import\(\W?\./(%b-[\w-]+\.js)\W?\).{0,200}?__vite__mapDeps\(\[([\d,]*)\]" % page.encode())
    found = shell(built)
    asked = [(name, one) for name in found if name.endswith(".js") for one in loading.finditer(built[name])]
    assert len(asked) == 1, f"the shell loads the page {page} in {len(asked)} places"
    (name, one), = asked
    listed = re.search(rb"m\.f=\[(.*?)\]", built[name])
    assert listed is not None
    names = re.findall(r'"(assets/[^"]+)"', listed[1].decode())
    found.update(names[int(place)] for place in one[2].split(b","))
    assert f"assets/{one[1].decode()}" in found
    workers = {found_in.decode() for each in found for found_in in re.findall(rb"assets/worker-[\w-]+\.js", built[each])}
    return found | workers


def at_any_time(built: dict[str, bytes], page: str) -> set[str]:
    """The shell, and all that a page loads at any time: not the other pages, which the shell names too."""
    first = shell(built)
    found = set(first)
    waiting = list(at_once(built, page) - first)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            named = (f"assets/{one.decode()}" for one in NAMED.findall(built[name]) if name.endswith(".js"))
            waiting.extend(one for one in named if one in built)
    return found
