"""Holds one block during its conversion: its fields, which of them were used, and functions that rewrite its texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from stepless.errors import ExpressionError
from stepless.expressions import compile_expression
from stepless.imports.sim.export import Block
from stepless.imports.sim.findings import Report
from stepless.imports.sim.javascript import Names, Untranslated, translate
from stepless.imports.sim.names import word
from stepless.imports.sim.reference_translation import Place, References, quoted
from stepless.limits import MAX_EXPRESSION_CHARACTERS, MAX_FUNCTION_NAME_CHARACTERS
from stepless.model.json import JSON

Node: TypeAlias = dict[str, Any]

_EDITOR_FIELDS: Final = (
    "webhookUrlDisplay", "triggerInstructions", "triggerSave", "samplePayload", "scheduleInfo", "triggerConfig", "webhookId",
    "triggerPath", "setupScript",
)  # fmt: skip
_DEFAULTS: Final[Mapping[str, JSON]] = {"memoryType": "none", "startWorkflow": "manual", "language": "javascript"}
_KEPT_CHARACTERS: Final = MAX_EXPRESSION_CHARACTERS // 4  # of an untranslated test, before escaping


@dataclass(slots=True)
class Site:
    """`id` is the node's. A converter takes the fields that it converts; `warn_unused` reports all others."""

    block: Block
    id: str
    references: References
    report: Report
    _taken: set[str] = field(default_factory=set)

    @property
    def has_input(self) -> bool:
        return bool(self.references.wiring.into[self.block.key])

    # -- fields -------------------------------------------------------------------------------------------------------

    def take(self, *names: str) -> JSON:
        """Returns the first of the named fields that has a value; None if none has. Marks all of them as used."""
        self._taken.update(names)
        return next((self.block.fields[name] for name in names if name in self.block.fields), None)

    def take_rest(self) -> dict[str, JSON]:
        """Returns all fields that are not used yet; marks them as used."""
        rest = {name: value for name, value in self.block.fields.items() if name not in self._taken and not _of_editor(name)}
        self._taken.update(rest)
        return rest

    def reset(self) -> None:
        """Marks all fields as unused, so that the block can be converted in another way."""
        self._taken.clear()

    def warn_unused(self, kind: str) -> None:
        """Reports every field that was not used, except defaults."""
        for name, value in self.take_rest().items():
            if _DEFAULTS.get(name) != value:
                self.warn_ignored(name, kind, value)

    def warn_ignored(self, name: str, kind: str, value: JSON) -> None:
        self.warn("sim_field_ignored", name, field=name, kind=kind, detail=value)

    # -- texts --------------------------------------------------------------------------------------------------------

    def value(self, value: JSON, name: str = "") -> JSON:
        """Returns any JSON value with its references rewritten; `name` is its field."""
        return self.references.value(self.place(name), value)

    def text(self, value: JSON, name: str = "") -> str:
        """Returns the value of a text field with its references rewritten. The result is text, even if the value is one
        reference."""
        if isinstance(value, str):
            return self.references.as_text(self.place(name), value)
        return "" if value is None else json.dumps(self.value(value, name), ensure_ascii=False)

    def test(self, source: JSON, name: str, title: str, *, between_iterations: bool = False) -> str:
        """Returns a JavaScript test as an expression. A test that cannot be translated becomes an expression that raises: its
        node fails, and the run does not take a guessed exit."""
        text = source.strip() if isinstance(source, str) else ""
        place = self.place(name, between_iterations=between_iterations)
        names = Names(lambda found: self.references.found(place, found), self.references.variable)
        try:
            translation = translate(text, names)
            compile_expression(translation.text, self.references.known)
        except (Untranslated, ExpressionError) as error:
            detail = error.message if isinstance(error, ExpressionError) else str(error)
            self.warn("sim_condition_untranslated", name, name=title, detail=detail, source=text or "(empty)")
            return f"json({quoted(f'not translated: {text[:_KEPT_CHARACTERS]}'[:_KEPT_CHARACTERS])})"
        if translation.loose:
            self.warn("sim_condition_loose", name, name=title)
        return translation.text

    def place(self, name: str, *, between_iterations: bool = False) -> Place:
        return Place(self.block, self.path(name), between_iterations)

    # -- findings -----------------------------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        return f"{self.block.path}.subBlocks.{name}" if name in self.block.fields else self.block.path

    def warn(self, code: str, where: str = "", /, **facts: Any) -> None:
        """Reports a finding about the block, or about one of its fields."""
        self.report.add(code, self.path(where), at=self.id, **facts)


def _of_editor(name: str) -> bool:
    return name.startswith(_EDITOR_FIELDS)


def call_name(*parts: str) -> str:
    """Returns the name of the function that replaces a block or tool without an equivalent; the author registers it."""
    return ".".join(["sim", *(word(part) for part in parts if part)])[:MAX_FUNCTION_NAME_CHARACTERS].rstrip(".")
