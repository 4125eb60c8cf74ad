"""Holds one node during its conversion: its parameters, which of them were used, and functions that translate its texts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from stepless.imports.n8n.export import Block
from stepless.imports.n8n.findings import Report
from stepless.imports.n8n.references import References
from stepless.imports.n8n.templates import Templates
from stepless.imports.sim.names import word
from stepless.imports.sim.reference_translation import Unread
from stepless.imports.sim.values import Unreadable
from stepless.limits import MAX_FUNCTION_NAME_CHARACTERS
from stepless.model.json import JSON

Node: TypeAlias = dict[str, Any]
_OPTIONS: Final = "options"
_MOST_PARTS: Final = 4  # levels of parts of parts


@dataclass(slots=True)
class Site:
    """`id` is the node's. A converter takes the parameters that it converts; `warn_unused` reports all others."""

    block: Block
    id: str
    references: References
    report: Report
    _taken: set[str] = field(default_factory=set)

    @property
    def templates(self) -> Templates:
        return Templates(self.block, self.references)

    @property
    def has_input(self) -> bool:
        return bool(self.references.wiring.into[self.block.name]) or self.block.name in self.references.wiring.starts

    # -- parameters ---------------------------------------------------------------------------------------------------

    def take(self, *names: str) -> JSON:
        """Returns the first of the named parameters that has a value; None if none has. Marks all of them as used."""
        self._taken.update(names)
        return next((self.block.params[name] for name in names if self.block.params.get(name) is not None), None)

    def option(self, name: str) -> JSON:
        """Returns one of the options of the node; marks it as used."""
        self._taken.add(f"{_OPTIONS}.{name}")
        options = self.block.params.get(_OPTIONS)
        return options.get(name) if isinstance(options, dict) else None

    def rows(self, *names: str) -> list[dict[str, JSON]]:
        """Returns the rows of a table, which stand in a list of the only entry of the parameter."""
        given = self.take(*names)
        lists = [value for value in given.values() if isinstance(value, list)] if isinstance(given, dict) else []
        return [row for row in (lists[0] if lists else []) if isinstance(row, dict)]

    def reset(self) -> None:
        """Marks all parameters as unused, so that the node can be converted in another way."""
        self._taken.clear()

    def warn_unused(self, kind: str) -> None:
        """Reports every parameter that was not used and has a value."""
        options = self.block.params.get(_OPTIONS)
        given = {name: value for name, value in self.block.params.items() if name != _OPTIONS}
        given |= {f"{_OPTIONS}.{name}": value for name, value in (options if isinstance(options, dict) else {}).items()}
        for name, value in given.items():
            if name not in self._taken and value not in (None, "", [], {}, False):
                self.warn("n8n_field_ignored", name, field=name, kind=kind, detail=value)

    def arguments(self) -> dict[str, JSON]:
        """Returns all parameters, for a function that does the work of the node: with its input, and with its parts by their
        sort."""
        made = {name: self.value(value, name) for name, value in self.block.params.items() if value not in (None, {}, [])}
        if self.has_input and "input" not in made:
            made["input"] = self.input()
        return made | self._parts(self.block, _MOST_PARTS)

    def _parts(self, block: Block, levels: int) -> dict[str, JSON]:
        parts: dict[str, JSON] = {}
        for edge in self.references.wiring.parts.get(block.name, ()) if levels else ():
            part = self.references.export.blocks[edge.source]
            entry: dict[str, JSON] = {"type": part.type, "name": part.name}
            if part.params:
                entry["parameters"] = Templates(self.block, self.references).value(dict(part.params), f"{part.path}.parameters")
            listed = parts.setdefault(edge.sort, [])
            assert isinstance(listed, list)
            listed.append(entry | self._parts(part, levels - 1))
        return parts

    # -- texts --------------------------------------------------------------------------------------------------------

    def value(self, value: JSON, name: str = "") -> JSON:
        """Returns any JSON value with its expressions translated; `name` is its parameter."""
        return self.templates.value(value, self.path(name))

    def text(self, value: JSON, name: str = "") -> str:
        """Returns the value of a text parameter with its expressions translated."""
        made = self.value(value, name)
        return made if isinstance(made, str) else "" if made is None else json.dumps(made, ensure_ascii=False)

    def json(self, value: JSON, name: str) -> JSON:
        """Returns the value of a parameter that may be JSON text; a text that is none is reported, and stays text."""
        if not isinstance(value, str):
            return self.value(value, name)
        try:
            return self.templates.json(value, self.path(name))
        except Unreadable as error:
            self.warn("n8n_field_unreadable", name, field=name, detail=error)
            return self.value(value, name)

    def expression(self, value: JSON, name: str) -> str:
        return self.templates.expression(value, self.path(name))

    def input(self) -> JSON:
        """Returns the value that the node gets, as a template."""
        read = self.references.current(self.block)
        return None if isinstance(read, Unread) else read.template()

    def input_expression(self) -> str:
        read = self.references.current(self.block)
        return "null" if isinstance(read, Unread) else read.expression()

    # -- findings -----------------------------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        return f"{self.block.path}.parameters.{name}" if name.partition(".")[0] in self.block.params else self.block.path

    def warn(self, code: str, where: str = "", /, **facts: Any) -> None:
        """Reports a finding about the node, or about one of its parameters."""
        self.report.add(code, self.path(where), at=self.id, **facts)


def call_name(*parts: str) -> str:
    """Returns the name of the function that does the work of a node without an equivalent kind; the author registers it."""
    words = [word(part.rpartition(".")[2]) for part in parts if part]
    return ".".join(["n8n", *words])[:MAX_FUNCTION_NAME_CHARACTERS].rstrip(".")
