"""Settings for every test: the tier, the order, the garbage collector, Hypothesis, and that SQLite connections are closed."""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tiers import TIERS, tier_of

# A busy machine must not make a test fail, and an example that failed once must fail again on every machine.
settings.register_profile("stepless", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("stepless")


# -- the tier -----------------------------------------------------------------------------------------------------------

HERE = Path(__file__).parent


@cache
def folder_of(path: Path) -> str | None:
    """The folder of tests/ that a file is in. Kept, because a file has many tests."""
    return path.relative_to(HERE).parts[0] if HERE in path.parents else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks a test that says no tier with that of its folder, so that `-m` can choose by it."""
    marked = {marker.name for marker in item.iter_markers()}
    if marked.isdisjoint(TIERS) and (folder := folder_of(item.path)) is not None:
        try:
            item.add_marker(tier_of(folder, marked))
        except LookupError as error:
            raise pytest.UsageError(*error.args) from error


# -- the order --------------------------------------------------------------------------------------------------------


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """After the shuffle: long tests begin first, so that at the end no process waits for another, and of these the stories, which
    wait much, and then those of the browser, which each process starts once. Files whose tests are steps of one story keep their
    order."""
    items.sort(key=lambda item: tuple(item.get_closest_marker(name) is None for name in ("long", "story", "browser")))
    stories: dict[Path, list[int]] = {}
    for place, item in enumerate(items):
        if item.get_closest_marker("story") is not None:
            stories.setdefault(item.path, []).append(place)
    for places in stories.values():
        steps = sorted((items[place] for place in places), key=lambda item: item.reportinfo()[1] or 0)
        for place, item in zip(places, steps, strict=True):
            items[place] = item


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The collector of garbage does not look through the tests while they come, nor later: they stay. Then it runs after 20,000
    new objects instead of 700: looking more often took a seventh of the time of all tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, *gc.get_threshold()[1:])
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Prints the seed: `-q` hides the plug-in's own header, and the seed of a run that is killed must be known, too."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.verbosity < 0 and (seed := seed_of(session.config)) is not None:
        reporter.write_line(f"random order: --randomly-seed={seed}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    if exitstatus == pytest.ExitCode.TESTS_FAILED and (seed := seed_of(config)) is not None:
        terminalreporter.write_line(f"to repeat this order: --randomly-seed={seed}")


def seed_of(config: pytest.Config) -> int | None:
    """None without pytest-randomly, and in a process of pytest-xdist, which prints nothing."""
    shuffles = config.pluginmanager.has_plugin("randomly") and not hasattr(config, "workerinput")
    return config.getoption("randomly_seed") if shuffles else None


# -- SQLite -----------------------------------------------------------------------------------------------------------


class Connections:
    """Every SQLite connection that this process has opened and not closed, with the test that was running."""

    def __init__(self) -> None:
        self._opened: list[tuple[sqlite3.Connection, str]] = []

    def heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "sqlite3.connect/handle" and isinstance(arguments[0], sqlite3.Connection):
            self._opened = [*self.left(), (arguments[0], os.environ.get("PYTEST_CURRENT_TEST", "before the first test"))]

    def left(self) -> list[tuple[sqlite3.Connection, str]]:
        return [(connection, test) for connection, test in self._opened if is_open(connection)]


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        return connection.in_transaction is not None
    except sqlite3.ProgrammingError:
        return False


@pytest.fixture(scope="session", autouse=True)
def connections() -> Iterator[None]:
    """Names the test that left a connection open. CPython warns of it only from 3.13 on, and in the test during which the
    garbage collector happens to run."""
    opened = Connections()
    sys.addaudithook(opened.heard)
    yield
    left = opened.left()
    for connection, _ in left:
        connection.close()
    assert sorted(test for _, test in left) == []
