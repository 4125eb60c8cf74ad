"""A measurement: one case, one variant, several repetitions, with wall and CPU seconds and further figures."""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

LEAST_ROUNDS = 3
Once = Callable[[], float]  # runs one repetition; returns the seconds of its measured part


@dataclass
class Sample:
    """`wall` and `cpu` hold the seconds of each repetition; `units` is what one repetition is divided by (nodes, runs).
    `facts` are further figures, by name with their unit last."""

    case: str
    variant: str
    n: int
    units: int
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    error: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.wall)

    @property
    def unit_us(self) -> float:
        """Microseconds per unit."""
        return self.median / self.units * 1e6

    @property
    def spread(self) -> tuple[float, float]:
        """The fastest and the slowest repetition over the median."""
        return min(self.wall) / self.median, max(self.wall) / self.median

    def line(self) -> str:
        return json.dumps(asdict(self))


def read(text: str) -> Iterator[Sample]:
    """The samples among the lines that a process printed."""
    for line in text.splitlines():
        if line.startswith('{"case"'):
            yield Sample(**json.loads(line))


def interleaved(
    case: str, n: int, units: int, variants: Mapping[str, Once], repeat: int, seconds: float, *, warm: bool = True
) -> list[Sample]:
    """Measures variants in turn, so that a busy machine affects all of them. With `warm` the first
    round is not counted. Stops after `repeat` rounds, or after
    LEAST_ROUNDS if those take longer than `seconds`."""
    samples = {name: Sample(case, name, n, units) for name in variants}
    until = time.perf_counter() + seconds
    for round_ in range(0 if warm else 1, repeat + 1):
        for name, once in variants.items():
            gc.collect()
            cpu = time.process_time()
            took = once()
            if round_:
                samples[name].wall.append(took)
                samples[name].cpu.append(time.process_time() - cpu)
        if round_ >= (LEAST_ROUNDS if warm else 1) and time.perf_counter() > until:
            break
    return list(samples.values())


def cpu_ratio(above: Sample, below: Sample) -> float:
    """`ratio` in CPU time, which depends less on other processes of the machine."""
    return statistics.median(above.cpu) / above.units / (statistics.median(below.cpu) / below.units)


def ratio(above: Sample, below: Sample) -> float:
    """How much longer `above` takes per unit, by the medians."""
    return above.unit_us / below.unit_us


def paired_ratio(above: Sample, below: Sample) -> float:
    """The median of the ratios of two repetitions that ran one after the other: what slows the machine for a while affects both
    of a pair."""
    return statistics.median(_pairs(above, below))


def ratio_spread(above: Sample, below: Sample) -> tuple[float, float]:
    """The smallest and largest ratio of two repetitions that ran one after the other."""
    each = _pairs(above, below)
    return min(each), max(each)


def _pairs(above: Sample, below: Sample) -> list[float]:
    scale = below.units / above.units
    return [a / b * scale for a, b in zip(above.wall, below.wall, strict=False)]


def find(samples: Sequence[Sample], case: str, variant: str, n: int | None = None) -> Sample | None:
    """The successful sample of a case; the largest n unless one is named."""
    found = [s for s in samples if s.case == case and s.variant == variant and s.wall and n in (None, s.n)]
    return max(found, key=lambda sample: sample.n, default=None)
