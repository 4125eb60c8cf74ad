"""Translates `<block.path>`, `<variable.name>`, `<loop.currentItem>` and `{{NAME}}` to references of documents.

References are resolved as in Sim, by normalized names. A reference that Sim would not resolve stays text; a reference to a value
that does not exist yet reads as empty. Both become findings. Text that only looks like a reference of a document (`{{`, `${x}`,
`<x.y>`) is escaped so that it stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from stepless.expressions.references import ROOTS
from stepless.imports.escaping import MARK, escaped_mark
from stepless.imports.sim.choices import CONDITION
from stepless.imports.sim.export import Block, Export
from stepless.imports.sim.findings import Report
from stepless.imports.sim.names import ENV_NAME, compared, unique, word
from stepless.imports.sim.outputs import place_of
from stepless.imports.sim.wiring import Wiring
from stepless.limits import MAX_REFERENCE_STEPS
from stepless.model.json import JSON, Path

_STEP: Final = r"\.[^.\[\]<>=!&|+*/%,;(){}'\"?:\n]+|\[[0-9]{1,9}\]"
SHAPE: Final = re.compile(rf"<(?P<root>[^\W\d](?:[\w -]*\w)?)(?P<path>(?:{_STEP})*)>")
_STEPS: Final = re.compile(r"\.([^.\[\]]+)|\[([0-9]+)\]")
_ENV: Final = re.compile(r"\{\{\s*([^{}\s]{1,128})\s*\}\}")
_WRITABLE: Final = re.compile(r"[\w-]+")
_ITERATION: Final[Mapping[str, str]] = {
    "index": "index", "iteration": "index", "currentItem": "item", "currentitem": "item", "item": "item", "items": "items",
}  # fmt: skip
_BETWEEN_ITERATIONS: Final = ("index",)
_ESCAPES: Final[Mapping[str, str]] = {
    "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "<": "\\x3c", "$": "\\x24",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a text: its block and its path in the export. `between_iterations`: the text is the test of a loop."""

    block: Block
    path: str
    between_iterations: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """The translation of a reference."""

    root: str
    steps: Path

    @property
    def plain(self) -> bool:
        """Whether it can be written between `<` and `>` as a whole."""
        return len(self.steps) <= MAX_REFERENCE_STEPS and all(isinstance(s, int) or _WRITABLE.fullmatch(s) for s in self.steps)

    def expression(self) -> str:
        """Returns the reference in an expression. Steps that cannot be written between `<` and `>` follow in brackets."""
        space = next((place for place, s in enumerate(self.steps) if isinstance(s, str) and not _WRITABLE.fullmatch(s)), None)
        space = min(len(self.steps) if space is None else space, MAX_REFERENCE_STEPS)
        inner = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps[:space])
        outer = "".join(f"[{step if isinstance(step, int) else quoted(step)}]" for step in self.steps[space:])
        return f"<{self.root}{inner}>{outer}"

    def template(self) -> str:
        return self.expression() if self.plain else f"{{{{ {self.expression()} }}}}"


@dataclass(frozen=True, slots=True)
class Unread:
    """A reference that reads no value; `code` is the finding's. `literal`: it stays text; otherwise it reads as empty."""

    code: str
    literal: bool = False


_EMPTY: Final = frozenset(Unread(code) for code in (
    "sim_output_without_equivalent", "sim_reference_not_upstream", "sim_inner_block_read",
))  # fmt: skip


@dataclass(slots=True)
class References:
    """Rewrites the texts of one export. `env` collects the environment variables that are read. `kept` maps blocks in a loop that
    the loop's test reads to the variables that keep their outputs."""

    export: Export
    wiring: Wiring
    variables: Mapping[str, str]  # normalized name → name in the document
    report: Report
    env: set[str] = field(default_factory=set)
    kept: dict[str, str] = field(default_factory=dict)
    _blocks: dict[str, Block] = field(default_factory=dict)
    _known: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._known = frozenset((*ROOTS, *self.wiring.ids.values()))
        for key in self.wiring.ids:
            self._blocks.setdefault(compared(self.export.blocks[key].name), self.export.blocks[key])

    def known(self, name: str) -> bool:
        """Returns whether the compiler would read `<name>` as a reference."""
        return name in self._known

    # -- texts --------------------------------------------------------------------------------------------------------

    def value(self, place: Place, value: JSON) -> JSON:
        """Returns any JSON value, with all its texts rewritten."""
        if isinstance(value, str):
            return self.text(place, value)
        if isinstance(value, list):
            return [self.value(place, item) for item in value]
        return {key: self.value(place, item) for key, item in value.items()} if isinstance(value, dict) else value

    def text(self, place: Place, text: str) -> JSON:
        """Returns a text as a template; None if the text is one reference that reads as empty."""
        whole = SHAPE.fullmatch(text.strip())
        if whole is not None and self.found(place, whole) in _EMPTY:
            return None
        return self._rewritten(text, lambda start: self._piece(place, text, start))

    def as_text(self, place: Place, text: str) -> str:
        """Returns a text as a template whose result is always text; values that are not text become JSON."""
        whole = SHAPE.fullmatch(text.strip())
        if whole is None:
            written = self.text(place, text)
            return written if isinstance(written, str) else ""
        read = self.found(place, whole)
        if isinstance(read, Read):
            return f"{{{{ str({read.expression()}) }}}}"
        return self._untouched(text, text.index("<"))[0] if read.literal else ""

    def as_it_is(self, text: str) -> str:
        """Returns a text without references: everything in it that looks like one is escaped."""
        return self._rewritten(text, lambda start: self._untouched(text, start))

    def untouched(self, value: JSON) -> JSON:
        """Returns any JSON value, with all its texts escaped."""
        if isinstance(value, str):
            return self.as_it_is(value)
        if isinstance(value, list):
            return [self.untouched(item) for item in value]
        return {key: self.untouched(item) for key, item in value.items()} if isinstance(value, dict) else value

    def _rewritten(self, text: str, piece: Callable[[int], tuple[str, int]]) -> str:
        pieces: list[str] = []
        at = 0
        while (mark := MARK.search(text, at)) is not None:
            pieces.append(text[at : mark.start()])
            written, at = piece(mark.start())
            pieces.append(written)
        return "".join([*pieces, text[at:]])

    def _piece(self, place: Place, text: str, start: int) -> tuple[str, int]:
        """The translation of the mark at `start`, and the position after it."""
        found = SHAPE.match(text, start)
        if found is not None:
            read = self.found(place, found)
            if isinstance(read, Read):
                return read.template(), found.end()
            return (self._untouched(text, start)[0] if read.literal else ""), found.end()
        named = _ENV.match(text, start)
        if named is not None and ENV_NAME.fullmatch(named[1]):
            return self.variable(named[1]), named.end()
        return self._untouched(text, start)

    def _untouched(self, text: str, start: int) -> tuple[str, int]:
        """The mark at `start`, escaped if the compiler would read it, and the position after it."""
        return escaped_mark(text, start, self.known)

    def variable(self, name: str) -> str:
        """Returns `${NAME}`; adds the name to `env`."""
        self.env.add(name)
        return f"${{{name}}}"

    def mentions(self, text: str) -> Iterator[str]:
        """Yields the references and environment variables in a text, as they are written in it."""
        for found in re.finditer(rf"{SHAPE.pattern}|{_ENV.pattern}", text):
            if self._knows(found["root"]) if found["root"] is not None else ENV_NAME.fullmatch(found[3]):
                yield found[0]

    def _knows(self, root: str) -> bool:
        return compared(root) in self._blocks or compared(root) in ("variable", "loop", "parallel")

    # -- resolving references -----------------------------------------------------------------------------------------

    def found(self, place: Place, match: re.Match[str]) -> Read | Unread:
        """Resolves a match of SHAPE. Reports a finding if it reads no value, or a value of another shape."""
        steps = tuple(int(index) if index else name for name, index in _STEPS.findall(match["path"]))
        read = self.read(place, match["root"], steps)
        if isinstance(read, Unread) and (steps or not read.literal):
            self.report.add(read.code, place.path, at=self.wiring.ids.get(place.block.key), text=match[0])
        named = self._blocks.get(compared(match["root"]))
        if isinstance(read, Read) and steps[:1] == ("results",) and named is not None and named.is_container:
            self.report.add("sim_results_reshaped", place.path, at=self.wiring.ids.get(place.block.key), text=match[0])
        return read

    def read(self, place: Place, root: str, steps: Path) -> Read | Unread:
        name = compared(root)
        if name == "variable":
            return self._variable(steps)
        if name in ("loop", "parallel"):
            return self._iteration(place, name, steps)
        block = self._blocks.get(name)
        return Unread("sim_unknown_reference", literal=True) if block is None else self._block(place, block, steps)

    def _variable(self, steps: Path) -> Read | Unread:
        name = self.variables.get(compared(str(steps[0]))) if steps else None
        return Unread("sim_unknown_reference", literal=True) if name is None else Read("workflow", (name, *steps[1:]))

    def _iteration(self, place: Place, sort: str, steps: Path) -> Read | Unread:
        field = _ITERATION.get(str(steps[0])) if steps else None
        if place.between_iterations and sort == "loop":
            return Read("loop", (field,)) if field in _BETWEEN_ITERATIONS else Unread("sim_output_without_equivalent")
        if not any(owner.type == sort for owner in self._around(place.block)):
            return Unread("sim_reference_outside_container", literal=True)
        return Unread("sim_output_without_equivalent") if field is None else Read(sort, (field, *steps[1:]))

    def _around(self, block: Block) -> Iterator[Block]:
        owner = self.wiring.parents[block.key]
        while owner is not None:
            yield self.export.blocks[owner]
            owner = self.wiring.parents[owner]

    def _block(self, place: Place, block: Block, steps: Path) -> Read | Unread:
        if block in self._around(place.block) and block.is_container:
            field = _ITERATION.get(str(steps[0])) if steps else None
            iteration = Read(self.wiring.ids[block.key], (field or "", *steps[1:]))
            return iteration if field is not None else Unread("sim_output_without_equivalent")
        if block.role == CONDITION and self.wiring.runs(block.key) and (passed := self._passed(block, steps)) is not block:
            return self._block(place, passed, steps)
        inner = place_of(block, steps, inside=self.wiring.parents[block.key] is not None)
        if inner is None:
            return Unread("sim_output_without_equivalent")
        if place.between_iterations and self.wiring.parents[block.key] == place.block.key and self.wiring.runs(block.key):
            return Read("workflow", (self._keep(place, block), *inner))
        return self._visible(place.block, block, inner)

    def _passed(self, block: Block, steps: Path) -> Block:
        """The block whose output a condition passes on: the source of its first edge, through a chain of conditions. The
        condition itself for its own output."""
        while block.role == CONDITION and place_of(block, steps, inside=False) is not None and steps[:1] != ("error",):
            wires = self.wiring.into[block.key]
            if not wires:
                break
            block = self.export.blocks[wires[0].source]
        return block

    def _keep(self, place: Place, block: Block) -> str:
        """The variable that keeps the output of a block inside a loop for the loop's test."""
        if block.key not in self.kept:
            name = unique(f"{word(block.name)}_kept", {*self.variables.values(), *self.kept.values()})
            self.kept[block.key] = name
            owner = self.wiring.ids[place.block.key]
            self.report.add("sim_turn_value_kept", place.path, at=owner, node=owner, name=block.name, variable=name)
        return self.kept[block.key]

    def _visible(self, reader: Block, block: Block, steps: Path) -> Read | Unread:
        """Searches from the reader outwards for the block, or for a container of the block."""
        if not self.wiring.runs(block.key) or not self.wiring.runs(reader.key):
            return Unread("sim_reference_not_upstream")
        inside = {self.wiring.parents[key]: key for key in [block.key, *(owner.key for owner in self._around(block))]}
        current = reader.key
        while (owner := self.wiring.parents[current]) not in inside:
            current = owner or current
        seen = inside[owner]
        if seen == current or not self.wiring.is_upstream(seen, current):
            return Unread("sim_reference_not_upstream")
        iterations: Path = ()
        while seen != block.key:
            iterations = (*iterations, 0 if self.export.blocks[seen].type == "parallel" else -1)
            seen = inside[seen]
            kept = [self.kept[key] for key in self.wiring.bodies[self.wiring.parents[seen]] if key in self.kept]
            if not self.wiring.is_only_leaf(seen) or kept not in ([], [self.kept.get(seen)]):
                return Unread("sim_inner_block_read")
            iterations = (*iterations, *kept)  # its output is then that of the `set` node, an object with this variable
        return Read(self.wiring.ids[inside[owner]], (*iterations, *steps))


def quoted(text: str) -> str:
    """Returns a text as a literal of an expression, without references."""
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\u{ord(character):04x}" if ord(character) < ord(" ") else character
