"""What numbers can find in the looks of a page: what leaves the window, type outside of the scale, raw marks, wrong plurals."""

from __future__ import annotations

from typing import Final

# A function of the page, which returns a text for each fault.
FAULTS: Final = r"""() => {
  const found = new Set();
  const sizes = [12, 13, 14, 16, 20];
  const weights = ['400', '600'];
  const things = 'runs|failures|groups|nodes|findings|events|instances|versions|turns|questions|conflicts|errors|keys|items';
  const plural = new RegExp(`\\b1 (${things})\\b`);
  const apart = '.hidden, svg, .react-flow__viewport, .react-flow__attribution, .cm-editor';
  const shown = one => one.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
  const name = one => `${one.tagName.toLowerCase()}.${[...one.classList].join('.')}`;
  const rolls = one => {
    for (let at = one.parentElement; at; at = at.parentElement)
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) found.add(`scrolls sideways by ${page.scrollWidth - page.clientWidth}`);
  for (const one of document.querySelectorAll('body *')) {
    if (!shown(one) || one.closest(apart)) continue;
    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
    const outside = box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
    if (outside && !rolls(one)) found.add(`leaves the window: ${name(one)}`);
    const texts = [...one.childNodes].filter(node => node.nodeType === 3 && node.data.trim() !== '');
    if (texts.length === 0) continue;
    const own = texts.map(node => node.data).join(' '), begin = own.slice(0, 60);
    const size = Math.round(parseFloat(style.fontSize) * 10) / 10;
    if (!sizes.includes(size)) found.add(`type of ${size}: ${name(one)}`);
    if (!weights.includes(style.fontWeight)) found.add(`weight ${style.fontWeight}: ${name(one)}`);
    const code = one.closest('pre, code, textarea, .json, .event-row') !== null;
    if (!code && /`[^`]+`/.test(own)) found.add(`raw marks: ${name(one)}: ${begin}`);
    if (!code && /undefined|NaN|null\b|\[object/.test(own)) found.add(`says ${begin}`);
    if (plural.test(own)) found.add(`plural: ${begin}`);
    const over = one.scrollWidth - one.clientWidth;
    if (style.overflowX === 'visible' && style.display !== 'inline' && over > 1)
      found.add(`is wider than its box by ${over}: ${name(one)}: ${begin}`);
  }
  return [...found];
}"""
