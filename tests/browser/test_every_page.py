"""Every page, and what is open over it, in both themes and at 320 px: axe finds nothing, nothing scrolls sideways, and no page
has an error of its own. The scenes are those that `make console-looks` takes pictures of.

What one look has seen, the next need not see again: behind an open dialog is a page that another scene has, the themes differ in
colours alone, and the colours of a narrow page are those of the wide one. `make check-pages` looks at everything with every rule.
"""

from __future__ import annotations

import os
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
WHOLE = os.environ.get("STEPLESS_PAGES") == "whole"
COLOURS = "color-contrast"
LOOKS: dict[tuple[int, str], dict[str, bool]] = {
    (1280, "light"): {}, (1280, "dark"): {COLOURS: True}, (320, "light"): {COLOURS: False},
}  # fmt: skip
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


def faults_of(page: Any, scene: Scene, width: int, theme: str) -> list[str]:
    where = f"{scene.name} {width} {theme}"
    if WHOLE:
        return violations(page, where)
    inside = "dialog[open]" if page.locator("dialog[open]").count() else "html"
    return violations(page, where, LOOKS[width, theme], inside=inside)


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
                found += faults_of(page, scene, size["width"], theme)
            if (wide := page.evaluate(SIDEWAYS)) > 0:
                found.append(f"{scene.name} {size['width']}: scrolls sideways by {wide} px")
            seen += 1
    assert found == []
    assert seen >= 20


FAINT = """one => {
  const line = one.appendChild(document.createElement('p'));
  Object.assign(line.style, {color: '#777', background: '#888'});
  line.textContent = 'can hardly be read';
  line.id = 'planted';
}"""
NAMELESS = "one => { one.appendChild(document.createElement('button')).id = 'planted'; }"
PLANTED = ((FAINT, WIDE, "light"), (FAINT, WIDE, "dark"), (NAMELESS, WIDE, "light"), (NAMELESS, NARROW, "light"))


@pytest.mark.parametrize("look", ["empty"], indirect=True)
@pytest.mark.parametrize("name", ["workflows", "workflows-new"])
def test_a_planted_fault_is_found(windows: Windows, look: tuple[str, DraftSite], name: str) -> None:
    kind, site = look
    scope = windows.bare()
    scope.add_init_script(";".join((WITH_TOKEN.format(site.administrator().token), AS_FORM)))
    page = windows.tab(scope, f"{site.url}/console/", ".bar")
    [scene] = [one for one in scenes(kind, site) if one.name == name]
    for plant, size, theme in PLANTED:
        shown(page, scene, size)
        page.emulate_media(color_scheme=theme)
        assert faults_of(page, scene, size["width"], theme) == []
        page.locator("dialog[open], main").last.evaluate(plant)
        assert len(faults_of(page, scene, size["width"], theme)) == 1
        page.locator("#planted").evaluate("one => one.remove()")


WATCH = """() => {
  const wanted = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
  const within = document.querySelector('dialog[open]') ?? document;
  window.unreached = new Set([...within.querySelectorAll(wanted)].filter(one =>
    !one.disabled && one.tabIndex >= 0 && one.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})));
  window.unmarked = new Set();
  window.watching?.abort();
  window.watching = new AbortController();
  document.addEventListener('focusin', ({target}) => {
    window.unreached.delete(target);
    const {outlineStyle, boxShadow} = getComputedStyle(target);
    if (outlineStyle === 'none' && boxShadow === 'none') window.unmarked.add(target);
  }, {signal: window.watching.signal});
  document.activeElement?.blur();
  return window.unreached.size;
}"""
LEFT = """() => [...window.unreached, ...window.unmarked].filter(one => one.isConnected)
  .map(one => one.outerHTML.slice(0, 160))"""
SPARE = 12  # places that a browser stops at by itself: lists that scroll, and its own bars


def walked(page: Any) -> list[str]:
    """Goes over what is shown by Tab: what it does not come to, or where it does not show that it is there."""
    count = page.evaluate(WATCH)
    assert count >= 2
    for _ in range(count + SPARE):
        page.keyboard.press("Tab")
    left: list[str] = page.evaluate(LEFT)
    return left


def by_tab(page: Any, name: str, role: str = "link") -> None:
    """Goes on by Tab to what has this name, and presses Enter there."""
    wanted = page.get_by_role(role, name=name).first
    wanted.wait_for()
    for _ in range(200):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"{name} is not reached by Tab")


@pytest.mark.parametrize("look", ["usual"], indirect=True)
def test_a_person_without_a_mouse_comes_to_every_page_and_to_all_that_is_on_it(
    windows: Windows, look: tuple[str, DraftSite]
) -> None:
    _, site = look
    scope = windows.bare(viewport=WIDE)
    scope.add_init_script(";".join((WITH_TOKEN.format(site.administrator().token), AS_FORM)))
    page = windows.tab(scope, f"{site.url}/console/", ".rows-space .row")
    missed: list[tuple[str, list[str]]] = []

    def comes_to(what: str, ready: str) -> None:
        page.wait_for_selector(ready)
        page.evaluate(REST)
        if left := walked(page):
            missed.append((what, left))

    comes_to("runs", ".rows-space .row")
    by_tab(page, "Workflows")
    comes_to("workflows", ".fleet-table")
    by_tab(page, "New workflow", "button")
    comes_to("new workflow", "dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")
    assert page.evaluate("document.activeElement.textContent") == "New workflow", "the focus is where it was"
    by_tab(page, "Split invoices")
    comes_to("workflow", ".figures")
    for name, ready in OF_A_WORKFLOW:
        by_tab(page, name)
        comes_to(name, ready)
    by_tab(page, "Approvals")
    comes_to("approvals", ".question")
    by_tab(page, "Errors")
    comes_to("errors", ".group")
    by_tab(page, "Rerun…", "button")
    comes_to("rerun of a group", "dialog[open]")
    page.keyboard.press("Escape")
    by_tab(page, "Runs")
    page.wait_for_selector(".rows-space .row")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector(".run-title")
    comes_to("graph", ".react-flow__node")
    for name, ready in TABS:
        by_tab(page, name, "tab")
        comes_to(name, ready)
    assert missed == []


OF_A_WORKFLOW = (
    ("Versions", ".versions"), ("Schedules", ".schedules"), ("Webhooks", ".hooks, .empty-page"), ("Start", ".start form"),
)  # fmt: skip
TABS = (
    ("Timeline", ".timeline-row"), ("Events", ".event-row"), ("Values", ".json"), ("Cost", ".costs"),
    ("Compare", ".run-view > *"),
)  # fmt: skip
