"""Looks for what keeps people out of a page, with axe-core, which the console installs for its tests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from node import ROOT

SOURCE = ROOT / "console/node_modules/axe-core/axe.min.js"


@lru_cache(1)
def _source() -> str:
    return SOURCE.read_text("utf-8")


def violations(page: Any, where: str, rules: Mapping[str, bool] | None = None, *, inside: str = "html") -> list[str]:
    """Every rule of axe that the page breaks, each with its elements; `where` is part of each line. `rules`, by name, leave rules
    out (False), or are the only ones (True). `inside` selects the element that is looked at, with all in it. The page's
    transitions are over when it is looked at."""
    page.evaluate("() => Promise.all(document.getAnimations().map(one => one.finished.catch(() => null)))")
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(_source())  # over the protocol of the browser's tools: the page's own policy allows no foreign script
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": {}}
    for name, wanted in (rules or {}).items():
        if wanted:
            options.setdefault("runOnly", []).append(name)
        else:
            options["rules"][name] = {"enabled": False}
    found = page.evaluate("([inside, options]) => axe.run(inside, options)", [inside, options])
    return [
        f"{where}: {one['id']} ({one['impact']}): {one['help']}: {'; '.join(node['html'][:160] for node in one['nodes'][:4])}"
        for one in found["violations"]
    ]
