"""Where the time of a node (W1) and of a run (W6) goes, by layer, as Markdown. See docs/understand/measurements/performance.md.

    python -m benchmarks.profile                    every case
    python -m benchmarks.profile "W1, memory" 20    one case, for 20 seconds

Two measurements. The time per unit comes from undisturbed repetitions, in turns with the floor. Its division comes from
samples: a timer interrupts the process every 0.3 ms or so, and the innermost frame with a layer receives the sample. A call of
C code, such as a statement of SQLite, counts for the frame that made it. The interpreter handles a signal at its next call or
return, so a sample may move on by one call, some tenths of a microsecond. Samples in frames of no layer are the unexplained
rest.
"""

from __future__ import annotations

import gc
import itertools
import linecache
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

from benchmarks import cases, layers
from benchmarks.engine import Engine
from benchmarks.floor import Journal
from benchmarks.sample import Once, Sample, interleaved, paired_ratio

PROFILES: Final[Mapping[str, tuple[str, bool]]] = {  # the case, and whether it is on SQLite
    "W1, memory": ("W1", False),
    "W1, SQLite": ("W1", True),
    "W6 alone, SQLite": ("W6 latency", True),
    "W6 50 at once, SQLite": ("W6 throughput", True),
}
SECONDS: Final = 8.0
TICK_S: Final = 0.000_3
REPEAT: Final = 60


class Sampler:
    """Counts samples by layer while it is on. One at a time, in the main thread: it uses SIGALRM."""

    def __init__(self) -> None:
        self.layers: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._known: dict[CodeType, layers.Layer | None] = {}
        self.collector_s = 0.0
        self._collects_since = 0.0

    @contextmanager
    def on(self) -> Iterator[None]:
        gc.callbacks.append(self._collected)
        former = signal.signal(signal.SIGALRM, self._take)
        signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, former)
            gc.callbacks.remove(self._collected)

    def _collected(self, phase: str, info: Mapping[str, int]) -> None:
        now = time.perf_counter()
        if phase == "start":
            self._collects_since = now
        else:
            self.collector_s += now - self._collects_since

    def _take(self, number: int, frame: FrameType | None) -> None:
        first = frame
        while frame is not None:
            code = frame.f_code
            layer = self._known[code] if code in self._known else self._known.setdefault(code, layers.of(code))
            if layer is not None:
                self.layers[layer.name(partial(linecache.getline, code.co_filename, frame.f_lineno))] += 1
                return
            frame = frame.f_back
        if first is not None:
            self.unknown[f"{first.f_code.co_filename}:{first.f_code.co_name}"] += 1


def measured(name: str, seconds: float) -> tuple[Sample, Sample, Sampler]:
    """The engine, the floor, and the samples of the engine."""
    case_name, on_disk = PROFILES[name]
    case = cases.CASES[case_name](cases.SIZES[case_name])
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "floor.db", "NORMAL") if on_disk else None
        engine = Engine(case.document, Path(folder) / "engine.db" if on_disk else None)
        bare: Once = partial(cases.run_bare, case, journal, itertools.count())
        ours: Once = partial(case.ours, engine)
        floor, whole = interleaved(name, 1, case.units, {"floor": bare, "engine": ours}, REPEAT, seconds / 2)
        sampler = Sampler()
        until = time.perf_counter() + seconds
        engine.during = sampler.on
        while time.perf_counter() < until:
            ours()
        engine.close()
        if journal is not None:
            journal.close()
    return whole, floor, sampler


def table(name: str, whole: Sample, floor: Sample, sampler: Sampler) -> Iterator[str]:
    """Markdown. Every row is a layer's part of the measured time per unit; together they are that time."""
    unit = "run" if name.startswith("W6") else "node"
    scale = whole.n * 3 if name.startswith("W6 alone") else 1  # the case counts nodes, three to a run
    us, floor_us = whole.unit_us * scale, floor.unit_us * scale
    unknown = sum(sampler.unknown.values())
    total = sum(sampler.layers.values()) + unknown
    yield f"**{name}**: {us:.1f} µs per {unit}; the floor {floor_us:.1f}; {paired_ratio(whole, floor):.2f} times, by pairs"
    yield ""
    yield f"| layer | µs per {unit} | % | |"
    yield "|---|---|---|---|"
    for layer, purpose in layers.PURPOSES.items():
        share = sampler.layers[layer] / total
        if share >= 0.0005:
            yield f"| {layer} | {us * share:.1f} | {100 * share:.1f} | {purpose} |"
    yield f"| unexplained | {us * unknown / total:.1f} | {100 * unknown / total:.1f} | frames of no layer |"
    yield f"| **together** | **{us:.1f}** | **100** | {total:,} samples |"
    yield ""


def main() -> int:
    chosen = sys.argv[1:2] or list(PROFILES)
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    for name in chosen:
        whole, floor, sampler = measured(name, seconds)
        print("\n".join(table(name, whole, floor, sampler)), flush=True)
        for place, number in sampler.unknown.most_common(5):
            print(f"<!-- unexplained: {place} {number} -->")
    return 0


if __name__ == "__main__":
    sys.exit(main())
