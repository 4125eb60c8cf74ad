"""How a process of the engine configures the garbage collector while it starts. Each test uses a new interpreter, since the
settings last until its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ENGINE = Path(__file__).parents[2] / "engine"
STARTS = """
import gc
from stepless.collector import paused_collector
before = gc.get_freeze_count()  # CPython's own, from 3.12 on
with paused_collector():
    kept = [[] for _ in range(1_000)]
    print(gc.isenabled(), gc.get_freeze_count() > before)
print(gc.isenabled(), gc.get_freeze_count() > before + 1_000)
"""
FAILS = """
import gc
from stepless.collector import paused_collector
before = gc.get_freeze_count()
try:
    with paused_collector():
        raise ValueError
except ValueError:
    print(gc.isenabled(), gc.get_freeze_count() - before)
"""


def said(source: str) -> list[str]:
    return subprocess.run([sys.executable, "-c", source], cwd=ENGINE, capture_output=True, text=True, check=True).stdout.split()


def test_what_a_start_makes_is_looked_past_from_then_on() -> None:
    assert said(STARTS) == ["False", "False", "True", "True"]


def test_a_start_that_fails_leaves_the_collector_as_it_was() -> None:
    assert said(FAILS) == ["True", "0"]


RESTS = """
import gc
from stepless.collector import resting_collector
with resting_collector():
    print(gc.isenabled())
print(gc.isenabled())
first, second = resting_collector(), resting_collector()  # of two threads
first.__enter__()
second.__enter__()
second.__exit__(None, None, None)
print(gc.isenabled())
first.__exit__(None, None, None)
print(gc.isenabled())
gc.disable()
with resting_collector():
    pass
print(gc.isenabled())
"""


def test_the_collector_rests_inside_a_block_and_goes_on_behind_it_unless_it_was_off() -> None:
    assert said(RESTS) == ["False", "True", "False", "True", "False"]


SERVES = """
import gc
from stepless.collector import serving_collector
threshold, before = gc.get_threshold(), gc.get_freeze_count()
kept = [[] for _ in range(1_000)]
try:
    with serving_collector():
        print(gc.get_threshold()[0] > threshold[0], gc.get_freeze_count() > before + 1_000)
        raise ValueError
except ValueError:
    print(gc.get_threshold() == threshold, gc.get_freeze_count())
"""


def test_a_server_looks_past_what_its_start_made_until_it_stops() -> None:
    assert said(SERVES) == ["True", "True", "True", "0"]
