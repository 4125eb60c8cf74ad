"""Converts loops and parallels: how often a body runs. The export has these settings in up to three places; the executor's map
has priority."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stepless.errors import ExpressionError
from stepless.expressions import compile_expression
from stepless.imports.sim.reference_translation import SHAPE, Read
from stepless.imports.sim.site import Node, Site
from stepless.imports.sim.values import Unreadable, read_json, whole_number
from stepless.limits import DEFAULT_MAX_ITERATIONS, DEFAULT_WINDOW, MAX_ITERATIONS
from stepless.model.json import JSON

_SETTINGS: Final = (  # all settings of a container's fields, map or data; names with the same meaning are grouped
    ("loopType", "type"), ("iterations", "count"), ("forEachItems", "collection"), ("whileCondition",), ("doWhileCondition",),
    ("parallelType",), ("distribution", "collection"), ("batchSize",),
)  # fmt: skip
_UNSET_LOOP: Final = 1_000  # how many iterations Sim's executor runs if the number of a loop cannot be read
_UNSET_PARALLEL: Final = 1


def container(site: Site, body: Node) -> Node:
    """Returns a loop or parallel around `body`, to which the caller may still add nodes."""
    settings = _Settings(site)
    mode = _loop_mode(site, settings) if site.block.type == "loop" else _parallel_mode(site, settings)
    settings.report_stale()
    site.warn_unused(site.block.type)
    return {"type": site.block.type, "with": {**mode, "body": body}}


class _Settings:
    """The settings of one container: from the executor's map, else from the block's data, else from its fields."""

    def __init__(self, site: Site) -> None:
        self._site = site
        chosen = site.references.export.subflows.get(site.block.key, {})
        self._sources: tuple[Mapping[str, JSON], ...] = (chosen, site.block.settings, site.block.fields)
        self._used: dict[str, JSON] = {}

    def get(self, *names: str) -> JSON:
        for source in self._sources:
            for name in names:
                if source.get(name) not in (None, "", [], {}):
                    self._used.update(dict.fromkeys(names, source[name]))
                    return source[name]
        return None

    def report_stale(self) -> None:
        """Reports the fields of the block that differ from the settings in use."""
        for names in _SETTINGS:
            for name in names:
                value = self._site.take(name)
                if value is not None and str(self._used.get(name, value)) != str(value):
                    self._site.warn_ignored(name, self._site.block.type, f"{value}, where {self._used[name]} is used")


def _loop_mode(site: Site, settings: _Settings) -> dict[str, JSON]:
    match settings.get("loopType"):
        case "forEach":
            return {"items": _items(site, settings.get("forEachItems", "collection"))}
        case "while":
            return {"while": site.test(settings.get("whileCondition"), "whileCondition", "while", between_iterations=True)}
        case "doWhile" if settings.get("doWhileCondition") is not None:
            test = site.test(settings.get("doWhileCondition"), "doWhileCondition", "doWhile", between_iterations=True)
            return {"do_while": test}
    return _times(site, settings.get("iterations", "count"))


def _times(site: Site, given: JSON) -> dict[str, JSON]:
    times = _count(site, given, _UNSET_LOOP)
    if isinstance(times, int) and times > DEFAULT_MAX_ITERATIONS:
        return {"times": min(times, MAX_ITERATIONS), "max_iterations": min(times, MAX_ITERATIONS)}
    return {"times": times}


def _parallel_mode(site: Site, settings: _Settings) -> dict[str, JSON]:
    sort = settings.get("parallelType")
    if sort == "collection" or (sort is None and settings.get("distribution") is not None):
        mode: dict[str, JSON] = {"items": _items(site, settings.get("distribution", "collection"))}
    else:
        mode = {"branches": _branches(site, settings.get("count"))}
    window = whole_number(settings.get("batchSize"))
    return {**mode, "window": window} if window is not None and window < DEFAULT_WINDOW else mode


def _branches(site: Site, given: JSON) -> JSON:
    return 0 if given in (0, "0") and given is not False else _count(site, given, _UNSET_PARALLEL)


def _count(site: Site, given: JSON, unset: int) -> JSON:
    """A number, or the expression for a reference."""
    number = whole_number(given)
    if number is not None:
        return number
    if isinstance(given, str) and (expression := _reference(site, given)) is not None:
        return f"int({expression})"
    site.warn("sim_loop_count", node=site.id, detail="it is missing" if given is None else repr(given), used=unset)
    return unset


def _items(site: Site, given: JSON) -> JSON:
    """A list or object, which may contain references, or an expression."""
    detail = "it is not set"
    if isinstance(given, str) and given.strip():
        expression = _reference(site, given.strip())
        if expression is not None:
            return expression
    if given is not None:
        try:
            items = read_json(given)
        except Unreadable as error:
            literal = _literal(given)
            if literal is not None:
                return literal
            items, detail = None, f"{given!r}: {error}"
        if isinstance(items, list | dict):
            return site.value(items)
        detail = detail if items is None else f"{items!r} is neither a list nor an object"
    site.warn("sim_items_missing", node=site.id, detail=detail)
    return []


def _reference(site: Site, text: str) -> str | None:
    """The expression for a text that is one reference; `null` for a reference that reads as empty, None for any other text."""
    match = SHAPE.fullmatch(text.strip())
    if match is None:
        return None
    read = site.references.found(site.place(""), match)
    if isinstance(read, Read):
        return read.expression()
    return None if read.literal else "null"


def _literal(text: str) -> str | None:
    """A list or object with single quotes: not JSON, but Sim reads it, and it is a valid expression."""
    try:
        compile_expression(text.strip(), lambda name: False)
    except ExpressionError:
        return None
    return text.strip() if text.strip()[:1] in ("[", "{") else None
