"""What a page owes to all who use it, as a tool like Lighthouse looks for it: contrast and names (axe), a title and a language,
an order of the focus that can be followed, targets that can be hit, nothing that moves while it loads, nothing that scrolls
sideways."""

from __future__ import annotations

from typing import Any, Final

from axe import violations

LEAST_TARGET_PX: Final = 24
GOOD_SHIFT: Final = 0.1  # of the score of cumulative layout shift: what Lighthouse takes for good
MOST_SHIFT: Final = 0.02
MOST_STOPS: Final = 400  # of Tab on one page
# Runs before the page's own scripts: what moved without a person having pressed something is in `shifts`.
WATCH: Final = """
window.shifts = [];
new PerformanceObserver(list => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts.push([one.value, one.sources.map(source => {
    const node = source.node;
    const name = node instanceof Element ? `${node.tagName.toLowerCase()}.${node.getAttribute('class')}` : String(node);
    return `${name} ${source.previousRect.x},${source.previousRect.y} to ${source.currentRect.x},${source.currentRect.y}`;
  })]);
}).observe({type: 'layout-shift', buffered: true});
"""
_TARGETS: Final = """least => {
  const shown = element => element.checkVisibility({checkOpacity: false, checkVisibilityCSS: true});
  const found = [];
  const all = 'a[href], button, input, select, textarea, summary, [role=button], [role=tab], [role=menuitem], [role=option]';
  for (const element of document.querySelectorAll(all)) {
    const held = element.closest('label') ?? element;
    const {width, height} = held.getBoundingClientRect();
    const isWhole = element.parentElement.textContent.trim() === element.textContent.trim();
    const alone = getComputedStyle(element).display !== 'inline' || isWhole;
    if (!shown(element) || width === 0 || element.disabled || (width >= least && height >= least)) continue;
    if (element.matches('a') && !alone) continue;  // a link in a sentence is as high as its line
    if (element.matches('.react-flow__attribution *')) continue;
    found.push(`${Math.round(width)} x ${Math.round(height)}: ${element.outerHTML.slice(0, 120)}`);
  }
  return found;
}"""
_STOP: Final = """() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  window.stops ??= new Map();
  if (!window.stops.has(element)) window.stops.set(element, window.stops.size);
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  const label = element.closest('label');
  const rings = [element, label].filter(one => one !== null).map(one => getComputedStyle(one));
  return {
    number: window.stops.size - 1 === window.stops.get(element) ? window.stops.get(element) : -1,
    html: element.outerHTML.slice(0, 120),
    seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
    ring: rings.some(one => (one.outlineStyle !== 'none' && one.outlineWidth !== '0px') || one.boxShadow !== 'none')
      || element.matches('input, textarea, select'),
    index: element.tabIndex,
  };
}"""


def faults(page: Any, where: str, most_shift: float = MOST_SHIFT) -> list[str]:
    """Everything that is wrong with a page as it stands, a sentence each. The page was opened with the script `WATCH`."""
    found = violations(page, where)
    title, language = page.evaluate("[document.title.trim(), document.documentElement.lang]")
    if not title or title == "Stepless":
        found.append(f"{where}: the title of the page does not say what it is: {title!r}")
    if not language:
        found.append(f"{where}: the page names no language")
    shifts = page.evaluate("window.shifts")
    if sum(value for value, _ in shifts) > most_shift:
        found.append(f"{where}: moves while it loads: {shifts}")
    if (width := page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")) > 0:
        found.append(f"{where}: scrolls sideways by {width} px")
    found += [f"{where}: is smaller than {LEAST_TARGET_PX} px: {one}" for one in page.evaluate(_TARGETS, LEAST_TARGET_PX)]
    return [*found, *_focus(page, where)]


def _focus(page: Any, where: str) -> list[str]:
    """Walks the page by Tab: each stop is seen and marked, none comes twice, and the walk ends outside of the page."""
    page.evaluate("() => { document.activeElement?.blur(); window.stops = new Map(); }")
    found = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop = page.evaluate(_STOP)
        if stop is None:
            return found
        if stop["number"] < 0:
            return found if found else _returned(page, where)
        if stop["index"] > 0:
            found.append(f"{where}: has an order of its own: {stop['html']}")
        if not stop["seen"]:
            found.append(f"{where}: has the focus and is not seen: {stop['html']}")
        elif not stop["ring"]:
            found.append(f"{where}: does not show that it has the focus: {stop['html']}")
    return [*found, f"{where}: has more than {MOST_STOPS} stops"]


def _returned(page: Any, where: str) -> list[str]:
    """Of a walk that came to an element for a second time: it is a trap unless that was the first one, after all others."""
    first = page.evaluate("() => window.stops.get(document.activeElement) === 0")
    return [] if first else [f"{where}: the focus does not leave: {page.evaluate('document.activeElement.outerHTML')[:120]}"]
