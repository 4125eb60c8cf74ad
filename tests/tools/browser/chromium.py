"""Debian's Chromium for tests, figures and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WHOLE = Path("/usr/bin/chromium")
SHELL = Path("/usr/bin/chromium-headless-shell")  # the same without windows and menus: a third less CPU time
CHROMIUM = SHELL if SHELL.exists() else WHOLE
ABSENT = f"neither {SHELL} nor {WHOLE} is here: install Debian's package chromium-headless-shell"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


@contextmanager
def chromium(*flags: str, path: Path = CHROMIUM) -> Iterator[Any]:
    """A started browser of Playwright's synchronous interface."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(path), args=[*FLAGS, *flags])
        try:
            yield started
        finally:
            started.close()
