"""Translates what n8n expressions read (`$json`, `$('X').item.json`, `$node["X"].json`, `$env.NAME`) to references of documents.

A reference that reads no value becomes a finding, and reads as empty. Code around references is translated by the importer of
Sim.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

from stepless.errors import ExpressionError
from stepless.expressions import compile_expression
from stepless.expressions.references import ROOTS
from stepless.imports.n8n.export import Block, Export
from stepless.imports.n8n.findings import Report
from stepless.imports.n8n.wiring import CHOICES, Wiring
from stepless.imports.sim.javascript import Names, Untranslated, translate
from stepless.imports.sim.names import slug
from stepless.imports.sim.reference_translation import Read, Unread, quoted
from stepless.limits import MAX_EXPRESSION_CHARACTERS
from stepless.model.json import Path
from stepless.model.kind import ERROR

_STRING: Final = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`"""
_ITEM: Final = r"\.(?:item|first\(\)|last\(\)|all\(\)\[0\])\.json\b"
_READ: Final = re.compile(
    rf"""(?P<string>{_STRING})
    | (?P<root>
        \$json\b | \$input{_ITEM}
      | \$(?:node\[\s*|\(\s*)(?P<quote>["'])(?P<name>(?:\\.|(?!(?P=quote)).)+)(?P=quote)\s*(?:\]\.json\b|\){_ITEM})
      | \$node\.(?P<word>\w+)\.json\b
      | \$env\.(?P<env>[A-Za-z_]\w*) | \$(?:execution\.id|workflow\.id|workflow\.name|runIndex|itemIndex)\b
      | \$now(?:\.toISO\(\))?(?!\s*[.\w])
    )
    (?P<steps>(?:\s*\??\.\s*(?!length\b)(?![A-Za-z_$][\w$]*\s*\()[A-Za-z_$][\w$]*
      | \s*(?:\?\.)?\[\s*(?:'[^'\\\n]*'|"[^"\\\n]*"|[0-9]{{1,9}})\s*\])*)""",
    re.VERBOSE | re.DOTALL,
)
_STEP: Final = re.compile(r"""\.\s*([A-Za-z_$][\w$]*)|\[\s*(?:'([^']*)'|"([^"]*)"|([0-9]+))\s*\]""")
_PASSING: Final = frozenset({*CHOICES, "noOp", "wait", "respondToWebhook"})
_HTTP: Final = "httpRequest"
_PLACE: Final = "n8n_"  # the name under which the translator sees a reference
_KEPT_CHARACTERS: Final = MAX_EXPRESSION_CHARACTERS // 4  # of untranslated code, before escaping
EMPTY: Final = Unread("n8n_output_without_equivalent")


@dataclass(frozen=True, slots=True)
class Written(Read):
    """A value that is an expression of its own."""

    text: str = ""

    @property
    def plain(self) -> bool:
        return False

    def expression(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Code:
    """Translated code: one reference (`read`), or an expression, or why there is none."""

    expression: str
    read: Read | Unread | None = None


@dataclass(slots=True)
class References:
    """Resolves references for the nodes of one export. `env` collects the environment variables that are read."""

    export: Export
    wiring: Wiring
    report: Report
    env: set[str] = field(default_factory=set)

    def known(self, name: str) -> bool:
        """Returns whether the compiler would read `<name>` as a reference."""
        return name in ROOTS or name in self.wiring.ids.values()

    def variable(self, name: str) -> str:
        """Returns `${NAME}`; adds the name to `env`."""
        self.env.add(name)
        return f"${{{name}}}"

    # -- code ---------------------------------------------------------------------------------------------------------

    def code(self, block: Block, path: str, source: str) -> Code:
        """Returns the translation of the code of one `{{ … }}`. Code without a translation becomes an expression that raises: its
        node fails, and the run does not go on with a guessed value."""
        reads: list[Read | Unread] = []

        def placed(found: re.Match[str]) -> str:
            if found["string"] is not None:
                return json.dumps(found[0][1:-1]) if found[0].startswith("`") and "${" not in found[0] else found[0]
            if found["env"] is not None and not found["steps"]:
                return f"{{{{{found['env']}}}}}"
            reads.append(self._found(block, path, found))
            return f" <{_PLACE}{len(reads) - 1}> "

        text = _READ.sub(placed, source.strip().removesuffix(";"))
        if len(reads) == 1 and text.strip() == f"<{_PLACE}0>":
            return Code("" if isinstance(reads[0], Unread) else reads[0].expression(), reads[0])
        at = self.wiring.ids.get(block.name)
        names = Names(lambda found: _placed(found["root"], reads), self.variable)
        try:
            translation = translate(text, names)
            compile_expression(translation.text, self.known)
        except (Untranslated, ExpressionError) as error:
            detail = error.message if isinstance(error, ExpressionError) else str(error)
            self.report.add("n8n_expression_untranslated", path, at=at, source=source.strip(), detail=detail, node=at)
            return Code(f"json({quoted(f'not translated: {source.strip()[:_KEPT_CHARACTERS]}')})")
        if translation.loose:
            self.report.add("n8n_expression_loose", path, at=at, source=source.strip())
        return Code(translation.text)

    def _found(self, block: Block, path: str, found: re.Match[str]) -> Read | Unread:
        """What a match of _READ reads. Reports a finding if it reads no value."""
        steps = tuple(int(step[3]) if step[3] else next(filter(None, step[:3]), "") for step in _STEP.findall(found["steps"]))
        root = found["root"]
        name = found["name"] if found["name"] is not None else found["word"]
        if name is not None:
            read = self._named(block, re.sub(r"\\(.)", r"\1", name), steps, found[0], path)
        elif root.startswith(("$json", "$input")):
            read = self.current(block, steps, found[0], path)
        else:
            return self._own(block, root)
        if isinstance(read, Unread):
            self.report.add(read.code, path, at=self.wiring.ids.get(block.name), text=found[0].strip())
        return read

    def _own(self, block: Block, root: str) -> Read:
        match root.removeprefix("$"):
            case "execution.id":
                return Read("run", ("id",))
            case "workflow.id":
                return Written("", (), quoted(slug(self.export.name)))
            case "workflow.name":
                return Written("", (), quoted(self.export.name))
            case "runIndex":
                return Written("", (), "0") if self.wiring.parents.get(block.name) is None else Read("loop", ("index",))
            case "itemIndex":
                return Written("", (), "0")
        return Written("", (), "now()")

    # -- places -------------------------------------------------------------------------------------------------------

    def current(self, block: Block, steps: Path = (), text: str = "$json", path: str = "") -> Read | Unread:
        """Returns the value that a node gets, or a part of it."""
        wires = self.wiring.into.get(block.name, ())
        if block.name in self.wiring.starts and not wires:
            return self._item(self.wiring.parents[block.name], steps)
        if len(wires) != 1:
            return Read("input", steps)
        source = self.export.blocks[wires[0].source]
        if wires[0].exit == ERROR:
            return Read(self.wiring.ids[source.name], ("error", *steps))
        if source.type in _PASSING or not source.enabled:
            return self.current(source, steps, text, path)
        return self._output(source, steps, text, path or block.path)

    def _item(self, loop: str | None, steps: Path) -> Read:
        """A part of the item of an iteration. n8n puts a value that it has split out under the name of its field."""
        wires = self.wiring.into.get(loop or "", ())
        source = self.export.blocks[wires[0].source] if len(wires) == 1 else None
        if source is not None and source.type == "splitOut":
            options = source.params.get("options")
            given = options.get("destinationFieldName") if isinstance(options, dict) else None
            name = given or str(source.params.get("fieldToSplitOut")).rpartition(".")[2]
            steps = steps[1:] if steps[:1] == (name,) else steps
        return Read("loop", ("item", *steps))

    def _named(self, block: Block, name: str, steps: Path, text: str, path: str) -> Read | Unread:
        source = self.export.blocks.get(name)
        if source is None or name not in self.wiring.ids:
            return Unread("n8n_reference_unknown")
        around = list(self._around(block.name))
        if name in around:
            return self._item(name, steps) if around[0] == name else Read(self.wiring.ids[name], ("item", *steps))
        if not self.wiring.runs(name):
            return Unread("n8n_reference_not_upstream")
        owner, seen = self.wiring.parents[name], block.name
        while self.wiring.parents[seen] != owner:
            outer = self.wiring.parents[seen]
            if outer is None:
                return Unread("n8n_inner_node_read")
            seen = outer
        if not self.wiring.is_upstream(name, seen):
            return Unread("n8n_reference_not_upstream")
        if source.type in _PASSING or not source.enabled:
            return self.current(source, steps, text, path)
        return self._output(source, steps, text, path)

    def _around(self, name: str) -> list[str]:
        found, owner = [], self.wiring.parents[name]
        while owner is not None:
            found.append(owner)
            owner = self.wiring.parents[owner]
        return found

    def _output(self, source: Block, steps: Path, text: str, path: str) -> Read | Unread:
        """A part of the output of a node, where the kind of the document has it."""
        name = self.wiring.ids[source.name]
        if source.is_trigger:
            return _of_trigger(name, source, steps)
        if source.is_loop:
            self.report.add("n8n_loop_results", path, at=name, text=text.strip(), node=name)
        if source.type != _HTTP:
            return Read(name, steps)
        response = response_options(source)
        if response.get("fullResponse") is True:
            if steps[:1] == ("statusMessage",):
                return EMPTY
            return Read(name, ("status", *steps[1:])) if steps[:1] == ("statusCode",) else Read(name, steps)
        if steps[:1] == ("data",) and response.get("responseFormat") == "text":
            return Read(name, ("body", *steps[1:]))
        if steps[:1] == ("data",) and "responseFormat" not in response:
            self.report.add("n8n_http_text", path, at=name, text=text.strip(), body=f"<{name}.body>")
        return Read(name, ("body", *steps))


def response_options(block: Block) -> dict[str, object]:
    """Reads the options of an HTTP Request for its response."""
    inner: object = block.params.get("options")
    for name in ("response", "response"):
        inner = inner.get(name) if isinstance(inner, dict) else None
    return dict(inner) if isinstance(inner, dict) else {}


def _of_trigger(name: str, source: Block, steps: Path) -> Read | Unread:
    if source.type == "webhook" and steps[:1] not in ((), ("body",), ("headers",), ("query",)):
        return EMPTY
    if source.type in ("scheduleTrigger", "cron"):
        return Read(name, ("scheduled_at",)) if steps == ("timestamp",) else Read(name, ()) if not steps else EMPTY
    return Read(name, steps)


def _placed(root: str, reads: list[Read | Unread]) -> Read | Unread:
    place = root.removeprefix(_PLACE)
    if root.startswith(_PLACE) and place.isdecimal() and int(place) < len(reads):
        found = reads[int(place)]
        return found if isinstance(found, Read) else EMPTY
    return Unread("", literal=True)
