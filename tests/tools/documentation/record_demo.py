"""Records `make demo` as an animated SVG: docs/images/demo.svg, the picture of the README.

    .venv/bin/python tests/tools/documentation/record_demo.py > docs/images/demo.svg

Every line is printed by the real demo, and appears after the time that it took there. Long pauses are shortened, and lines that
came at once are drawn apart, so that a reader can follow. The picture is plain SVG with CSS animations: it needs no script, plays
inside an `<img>`, follows the colour scheme of the reader, and shows the last screen to those who prefer reduced motion.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

ROOT: Final = Path(__file__).resolve().parents[3]
COMMAND: Final = "$ make demo"
ROWS, COLUMNS = 20, 100  # of the screen
LINE_PX, COLUMN_PX, MARGIN_PX = 19, 7.8, 16
SHORTEST_S, LONGEST_S, LAST_S = 0.12, 1.5, 6.0  # between two lines; and how long the last screen stays
KINDS: Final = (  # of lines, by how they begin; the first that fits
    ("command", re.compile(r"\$ ")),
    ("kill", re.compile(r".*SIGKILL|.* is dead")),
    ("chapter", re.compile(r"\d\. |All checks passed")),
    ("check", re.compile(r"  ✓ ")),
    ("event", re.compile(r" +\d+  ")),
)
STYLE: Final = """\
:root{--back:#f6f8fa;--edge:#d0d7de;--text:#57606a;--strong:#1f2328;--good:#116329;--bad:#b3261e}
@media (prefers-color-scheme:dark){
:root{--back:#0d1117;--edge:#30363d;--text:#9198a1;--strong:#f0f6fc;--good:#56d364;--bad:#ff7b72}}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--text);white-space:pre}
.command,.chapter{fill:var(--strong);font-weight:600}.check{fill:var(--good)}.kill{fill:var(--bad);font-weight:600}
@media (prefers-reduced-motion:reduce){text,g{animation:none!important}}"""


class Line(NamedTuple):
    """A printed line, and the seconds since the line before."""

    text: str
    after_s: float


def recorded() -> Iterator[Line]:
    """What the demo prints. Raises CalledProcessError if one of its checks fails."""
    command = [sys.executable, str(ROOT / "examples" / "demo.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine"), "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as demo:
        assert demo.stdout is not None
        before = time.monotonic()
        for text in demo.stdout:
            now = time.monotonic()
            yield Line(text.rstrip("\n"), now - before)
            before = now
    if demo.returncode:
        raise subprocess.CalledProcessError(demo.returncode, command)


def drawn(lines: Sequence[Line]) -> str:
    """The picture of lines that appear one after the other, at the bottom of a screen that scrolls, again and again."""
    shown = [Line(COMMAND, 0.0), *lines]
    times: list[float] = []
    for line in shown:
        times.append((times[-1] if times else 0.0) + min(max(line.after_s, SHORTEST_S), LONGEST_S))
    total = times[-1] + LAST_S
    width, height = round(COLUMNS * COLUMN_PX) + 2 * MARGIN_PX, ROWS * LINE_PX + 2 * MARGIN_PX
    scrolled = max(0, len(shown) - ROWS)
    rules = [STYLE, f"g{{animation:scroll {total:.1f}s step-end infinite;transform:translateY({-scrolled * LINE_PX}px)}}"]
    steps = [
        f"{_percent(when, total)}{{transform:translateY({-(at + 1) * LINE_PX}px)}}" for at, when in enumerate(times[ROWS:])
    ]
    rules.append(f"@keyframes scroll{{0%{{transform:none}}{''.join(steps)}}}")
    texts = []
    for at, (line, when) in enumerate(zip(shown, times, strict=True)):
        if not line.text:
            continue
        rules.append(f"@keyframes l{at}{{0%{{opacity:0}}{_percent(when, total)}{{opacity:1}}}}")
        y = MARGIN_PX + (at + 1) * LINE_PX - 5
        style = f"animation:l{at} {total:.1f}s step-end infinite"
        texts.append(f'<text class="{kind_of(line.text)}" x="{MARGIN_PX}" y="{y}" style="{style}">{escape(line.text)}</text>')
    inner = ROWS * LINE_PX
    screen = f'<svg x="0" y="{MARGIN_PX}" width="{width}" height="{inner}" viewBox="0 {MARGIN_PX} {width} {inner}">'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
        "<title>make demo: a run waits for approval, its server is killed and started again, and the run completes</title>",
        "<style>", *rules, "</style>",
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" fill="var(--back)" stroke="var(--edge)"/>',
        screen, "<g>", *texts, "</g>", "</svg>", "</svg>", "",
    ])  # fmt: skip


def kind_of(text: str) -> str:
    """The class of a line: how it is coloured."""
    return next((kind for kind, pattern in KINDS if pattern.match(text)), "plain")


def _percent(when: float, total: float) -> str:
    return f"{100 * when / total:.2f}%"


if __name__ == "__main__":
    sys.stdout.write(drawn(list(recorded())))
