"""Fixtures for tests in a real browser: Debian's Chromium, windows of several people, and `stepless dev` for them."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from chromium import ABSENT, CHROMIUM, chromium
from draft_site import KEY, DraftSite, Person
from example_drafts import REFUND, REFUND_FILE
from windows import WITH_TOKEN, Windows

HERE = Path(__file__).parent
LIMIT_MS = 30_000
SITE_LIFE_S = 3_600  # of the server that all tests of a process share


@cache
def is_here(path: Path) -> bool:
    """Whether a file is in this folder. Kept, because all files of the suite are asked for, and a file has many tests."""
    return HERE in path.parents


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder needs the browser, takes long, and leaves pipes of the browser to the garbage collector."""
    for item in items:
        if is_here(item.path):
            item.add_marker(pytest.mark.long)
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            if not CHROMIUM.exists():
                item.add_marker(pytest.mark.skip(reason=ABSENT))


class Started:
    """The browser of a process, from the first test that needs it until the next test is of another folder: starting it takes as
    long as most tests, and Playwright's loop would be in the way of tests with a loop of their own."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._browser: Any = None

    def browser(self) -> Any:
        if self._browser is None:
            self._browser = self._stack.enter_context(chromium())
        return self._browser

    def close(self) -> None:
        self._stack.close()
        self._browser = None


STARTED = Started()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
    try:
        yield
    finally:
        if nextitem is None or HERE not in nextitem.path.parents:
            STARTED.close()


@pytest.fixture
def browser() -> Any:
    """Each test opens contexts of its own."""
    return STARTED.browser()


@pytest.fixture(scope="session")
def draft_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftSite]:
    """A server for all tests of a process: each test opens drafts of its own, told apart by their ids. A test that kills the
    server starts it again."""
    made = DraftSite(tmp_path_factory.mktemp("site"), life_s=SITE_LIFE_S)
    yield made
    made.close()


@pytest.fixture
def windows(browser: Any) -> Iterator[Windows]:
    """Opens windows. No page may have an error, or break its content security policy."""
    made = Windows(browser, LIMIT_MS)
    yield made
    made.close()
    assert made.faults == []


@pytest.fixture(scope="module")
def people(draft_site: DraftSite) -> tuple[Person, Person]:
    return draft_site.person("ada"), draft_site.person("bo")


@pytest.fixture
def file_site(tmp_path: Path) -> Iterator[DraftSite]:
    """A server over a folder with one workflow in a file, `refund.yaml`, of which a draft is open."""
    (tmp_path / "refund.yaml").write_text(REFUND_FILE)
    made = DraftSite(tmp_path)
    made.client.post("/drafts/refund", json={"from": "version"}).raise_for_status()
    yield made
    made.close()


@pytest.fixture
def page(windows: Windows) -> Any:
    """A window that is signed in with the key of the servers, at no address yet."""
    scope = windows.bare()
    scope.add_init_script(WITH_TOKEN.format(KEY))
    made = scope.new_page()
    windows.watch(made)
    return made


@pytest.fixture
def workflow(request: pytest.FixtureRequest) -> str:
    """The id of a draft that no other test uses."""
    name: str = request.node.name
    return "".join(letter if letter.isalnum() else "-" for letter in name.removeprefix("test_"))[:60].strip("-")


@pytest.fixture
def refund(draft_site: DraftSite, workflow: str) -> str:
    draft_site.open(workflow, {**REFUND, "id": workflow})
    return workflow
