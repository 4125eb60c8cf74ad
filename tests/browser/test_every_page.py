"""Every page, and what is open over it, in both themes and at 320 px: axe finds nothing, nothing scrolls sideways, and no page
has an error of its own. The scenes are those that `make console-looks` takes pictures of."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe import violations
from draft_site import DraftSite
from windows import AS_FORM, WITH_TOKEN, Windows

sys.path.append(str(Path(__file__).parent))

from looks import GO, REST, SITES, THEMES, Scene, scenes

WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 320, "height": 640}
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module", params=["usual", "empty"])
def look(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, DraftSite]]:
    kind = str(request.param)
    made = SITES[kind](tmp_path_factory.mktemp(kind))
    yield kind, made
    made.close()


def shown(page: Any, scene: Scene, size: dict[str, int]) -> None:
    page.set_viewport_size(size)
    for dialog in page.locator("dialog[open]").all():
        dialog.evaluate("one => one.close()")
    page.evaluate(GO, "/there-is-no-such-page")
    page.evaluate(GO, scene.address)
    page.wait_for_selector(scene.ready)
    page.evaluate(REST)
    if scene.act is not None:
        scene.act(page)


def test_axe_finds_nothing_on_any_page_and_none_scrolls_sideways(windows: Windows, look: tuple[str, DraftSite]) -> None:
    kind, site = look
    scope = windows.bare()
    scope.add_init_script(";".join((WITH_TOKEN.format(site.administrator().token), AS_FORM)))
    page = windows.tab(scope, f"{site.url}/console/", ".bar")
    found, seen = [], 0
    for scene in scenes(kind, site):
        for size in (WIDE, NARROW):
            if size is NARROW and min(scene.sizes) > 640:
                continue
            shown(page, scene, size)
            for theme in THEMES if size is WIDE else ("light",):
                page.emulate_media(color_scheme=theme)
                found += violations(page, f"{scene.name} {size['width']} {theme}")
            if (wide := page.evaluate(SIDEWAYS)) > 0:
                found.append(f"{scene.name} {size['width']}: scrolls sideways by {wide} px")
            seen += 1
    assert found == []
    assert seen >= 20
