"""Looks for what keeps people out of a page, with axe-core, which the console installs for its tests."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from node import ROOT

SOURCE = ROOT / "console/node_modules/axe-core/axe.min.js"


@lru_cache(1)
def _source() -> str:
    return SOURCE.read_text("utf-8")


def violations(page: Any, where: str) -> list[str]:
    """Every rule of axe that the page breaks, each with its elements; `where` is part of each line. The page's transitions are
    over when it is looked at."""
    page.evaluate("() => Promise.all(document.getAnimations().map(one => one.finished.catch(() => null)))")
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(_source())  # over the protocol of the browser's tools: the page's own policy allows no foreign script
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{where}: {one['id']} ({one['impact']}): {one['help']}: {'; '.join(node['html'][:160] for node in one['nodes'][:4])}"
        for one in found["violations"]
    ]
