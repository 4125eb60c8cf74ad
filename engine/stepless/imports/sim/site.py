"""One block while it is converted: its fields, which of them were used, and how its texts are rewritten."""

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
_SAYS_NOTHING: Final[Mapping[str, JSON]] = {"memoryType": "none", "startWorkflow": "manual", "language": "javascript"}
_KEPT_CHARACTERS: Final = MAX_EXPRESSION_CHARACTERS // 4  # of an untranslated test, escapes not counted


@dataclass(slots=True)
class Site:
    """`id` is the node's. What is taken from the fields is the converter's to carry over; `leave` tells of all the rest."""

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
        """The first of the fields that says something, None when none does. All count as used."""
        self._taken.update(names)
        return next((self.block.fields[name] for name in names if name in self.block.fields), None)

    def take_rest(self) -> dict[str, JSON]:
        """Every field that is not used yet."""
        rest = {name: value for name, value in self.block.fields.items() if name not in self._taken and not _of_editor(name)}
        self._taken.update(rest)
        return rest

    def retake(self) -> None:
        """Forgets what was taken: the block is converted in another way."""
        self._taken.clear()

    def leave(self, kind: str) -> None:
        """Tells of every field that was not used."""
        for name, value in self.take_rest().items():
            if _SAYS_NOTHING.get(name) != value:
                self.ignored(name, kind, value)

    def ignored(self, name: str, kind: str, value: JSON) -> None:
        self.tell("sim_field_ignored", name, field=name, kind=kind, told=value)

    # -- texts --------------------------------------------------------------------------------------------------------

    def value(self, value: JSON, name: str = "") -> JSON:
        """Any JSON with its references rewritten; `name` is the field that it stands in."""
        return self.references.value(self.place(name), value)

    def text(self, value: JSON, name: str = "") -> str:
        """What a field of text holds, with its references rewritten: a reference that is all of it is text as well."""
        if isinstance(value, str):
            return self.references.as_text(self.place(name), value)
        return "" if value is None else json.dumps(self.value(value, name), ensure_ascii=False)

    def test(self, source: JSON, name: str, title: str, *, between_turns: bool = False) -> str:
        """A JavaScript test as an expression. One that cannot be translated becomes an expression that raises when it is
        reached: then its node fails, and no way is taken by guess."""
        text = source.strip() if isinstance(source, str) else ""
        place = self.place(name, between_turns=between_turns)
        names = Names(lambda found: self.references.found(place, found), self.references.variable)
        try:
            translation = translate(text, names)
            compile_expression(translation.text, self.references.known)
        except (Untranslated, ExpressionError) as error:
            told = error.message if isinstance(error, ExpressionError) else str(error)
            self.tell("sim_condition_untranslated", name, name=title, told=told, source=text or "(empty)")
            return f"json({quoted(f'not translated: {text[:_KEPT_CHARACTERS]}'[:_KEPT_CHARACTERS])})"
        if translation.loose:
            self.tell("sim_condition_loose", name, name=title)
        return translation.text

    def place(self, name: str, *, between_turns: bool = False) -> Place:
        return Place(self.block, self.path(name), between_turns)

    # -- findings -----------------------------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        return f"{self.block.path}.subBlocks.{name}" if name in self.block.fields else self.block.path

    def tell(self, code: str, where: str = "", /, **facts: Any) -> None:
        """A finding about the block, or about one of its fields."""
        self.report.tell(code, self.path(where), at=self.id, **facts)


def _of_editor(name: str) -> bool:
    return name.startswith(_EDITOR_FIELDS)


def call_name(*parts: str) -> str:
    """The name of the function that an author registers for something that has no equivalent."""
    return ".".join(["sim", *(word(part) for part in parts if part)])[:MAX_FUNCTION_NAME_CHARACTERS].rstrip(".")
