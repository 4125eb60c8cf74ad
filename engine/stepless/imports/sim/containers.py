"""Loops and parallels: how often a body runs. The export says it up to three times; the executor's own map counts first."""

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

_SETTINGS: Final = (  # everything that a container's field, map or data may say, with the names that mean the same
    ("loopType", "type"), ("iterations", "count"), ("forEachItems", "collection"), ("whileCondition",), ("doWhileCondition",),
    ("parallelType",), ("distribution", "collection"), ("batchSize",),
)  # fmt: skip
_UNSET_LOOP: Final = 1_000  # turns of a loop whose number cannot be read, in the executor
_UNSET_PARALLEL: Final = 1


def container(site: Site, body: Node) -> Node:
    """A loop or parallel around `body`, which may still grow."""
    said = _Settings(site)
    mode = _loop_mode(site, said) if site.block.type == "loop" else _parallel_mode(site, said)
    said.tell_stale()
    site.leave(site.block.type)
    return {"type": site.block.type, "with": {**mode, "body": body}}


class _Settings:
    """The settings of one container: the map's, else those beside the block, else its fields."""

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

    def tell_stale(self) -> None:
        """Fields of the block that say something else than what counts."""
        for names in _SETTINGS:
            for name in names:
                value = self._site.take(name)
                if value is not None and str(self._used.get(name, value)) != str(value):
                    self._site.ignored(name, self._site.block.type, f"{value}, where {self._used[name]} counts")


def _loop_mode(site: Site, said: _Settings) -> dict[str, JSON]:
    match said.get("loopType"):
        case "forEach":
            return {"items": _items(site, said.get("forEachItems", "collection"))}
        case "while":
            return {"while": site.test(said.get("whileCondition"), "whileCondition", "while", between_turns=True)}
        case "doWhile" if said.get("doWhileCondition") is not None:
            return {"do_while": site.test(said.get("doWhileCondition"), "doWhileCondition", "doWhile", between_turns=True)}
    return _times(site, said.get("iterations", "count"))


def _times(site: Site, given: JSON) -> dict[str, JSON]:
    times = _count(site, given, _UNSET_LOOP)
    if isinstance(times, int) and times > DEFAULT_MAX_ITERATIONS:
        return {"times": min(times, MAX_ITERATIONS), "max_iterations": min(times, MAX_ITERATIONS)}
    return {"times": times}


def _parallel_mode(site: Site, said: _Settings) -> dict[str, JSON]:
    sort = said.get("parallelType")
    if sort == "collection" or (sort is None and said.get("distribution") is not None):
        mode: dict[str, JSON] = {"items": _items(site, said.get("distribution", "collection"))}
    else:
        mode = {"branches": _branches(site, said.get("count"))}
    window = whole_number(said.get("batchSize"))
    return {**mode, "window": window} if window is not None and window < DEFAULT_WINDOW else mode


def _branches(site: Site, given: JSON) -> JSON:
    return 0 if given in (0, "0") and given is not False else _count(site, given, _UNSET_PARALLEL)


def _count(site: Site, given: JSON, unset: int) -> JSON:
    """A number, or the expression that a reference comes to."""
    number = whole_number(given)
    if number is not None:
        return number
    if isinstance(given, str) and (expression := _reference(site, given)) is not None:
        return f"int({expression})"
    site.tell("sim_loop_count", node=site.id, told="it is missing" if given is None else repr(given), used=unset)
    return unset


def _items(site: Site, given: JSON) -> JSON:
    """A list or object with references in it, or an expression."""
    told = "nothing is given"
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
            items, told = None, f"{given!r}: {error}"
        if isinstance(items, list | dict):
            return site.value(items)
        told = told if items is None else f"{items!r} is neither a list nor an object"
    site.tell("sim_items_missing", node=site.id, told=told)
    return []


def _reference(site: Site, text: str) -> str | None:
    """The expression for a text that is one reference; `[]` for one that reads as empty, None for any other text."""
    match = SHAPE.fullmatch(text.strip())
    if match is None:
        return None
    read = site.references.found(site.place(""), match)
    if isinstance(read, Read):
        return read.expression()
    return None if read.literal else "null"


def _literal(text: str) -> str | None:
    """A list in single quotes, which is no JSON, but is read there, and is an expression here."""
    try:
        compile_expression(text.strip(), lambda name: False)
    except ExpressionError:
        return None
    return text.strip() if text.strip()[:1] in ("[", "{") else None
