"""Prints what became of each line of a workflow in Python: for people as columns with notes, for programs as JSON."""

from __future__ import annotations

import shutil
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from stepless.cli.terminal.error_output import counted, remark_documents
from stepless.cli.terminal.formatting import cut, in_colour
from stepless.model.json import JSON

if TYPE_CHECKING:
    from stepless.flow.compiler.explaining import Explained, Explanation, Lifted

_WIDEST: Final = 200
_WHAT: Final = 11
_COLOURS: Final[Mapping[str, str]] = {"lifted": "33", "refused": "31", "unreachable": "2"}


def explained_lines(explanation: Explanation) -> Iterator[str]:
    """Yields the lines for people: the number, what became of it, its nodes and the source, then why."""
    wide = min(_WIDEST, shutil.get_terminal_size((80, 24)).columns)
    for number, function in enumerate(explanation.functions):
        yield f"{function.file}: {function.function}" if number else f"{function.file}: the workflow {explanation.workflow}"
        yield from _function(function, explanation, wide)
        yield ""
    nodes = sum(len(line.nodes) for function in explanation.functions for line in function.lines)
    counts = [f"{nodes} node{'s' if nodes != 1 else ''}", f"{len(explanation.lifted)} lifted"]
    counts += [count for count in (counted(explanation.refused, "error"), counted(explanation.warnings, "warning")) if count]
    yield f"{explanation.workflow}: {', '.join(counts)}{' (not compiled)' if explanation.refused else ''}"


def _function(function: Explained, explanation: Explanation, wide: int) -> Iterator[str]:
    nodes = min(max(8, wide // 5), max((len(", ".join(line.nodes)) for line in function.lines), default=0))
    digits = len(str(function.lines[-1].number)) if function.lines else 1
    left = digits + 2 + _WHAT + 2 + nodes + 2
    notes = _notes(function, explanation)
    for line in function.lines:
        named = cut(", ".join(line.nodes), nodes)
        text = cut(line.text.rstrip().expandtabs(4), max(20, wide - left))
        head = f"{line.number:>{digits}}  {_painted(line.what)}  {named:<{nodes}}  "
        yield f"{head}{text}".rstrip()
        for note in notes.get(line.number, ()):
            for part in textwrap.wrap(note, max(20, wide - digits - 4), break_on_hyphens=False):
                yield f"{'':>{digits}}  | {part}"


def _painted(what: str) -> str:
    padded, colour = f"{what:<{_WHAT}}", _COLOURS.get(what)
    return f"\x1b[{colour}m{padded}\x1b[0m" if colour and in_colour() else padded


def _notes(function: Explained, explanation: Explanation) -> dict[int, list[str]]:
    """What is said beneath a line, by its number: of a block beneath its last."""
    found: dict[int, list[str]] = defaultdict(list)
    for one in explanation.lifted:
        if one.file == function.file:
            found[one.lines[1]].append(_lifted(one))
    for remarks, word in ((explanation.refused, "error"), (explanation.warnings, "warning")):
        for remark in remarks:
            if remark.file == function.file:
                found[remark.line].append(f"{word}: {remark.message} [{remark.code}]. {remark.mend}")
    return found


def _lifted(one: Lifted) -> str:
    lines = f" of lines {one.lines[0]} to {one.lines[1]}" if one.lines[1] > one.lines[0] else ""
    facts = [f"{word} {', '.join(names)}" for word, names in (("reads", one.reads), ("leaves", one.leaves)) if names]
    if one.exits:
        facts.append(f"goes on by {' or '.join(one.exits)}")
    into = f" in the node {one.node}" if one.node else " when nothing is refused"
    return f"{one.form}{lines}{into}{''.join(f'; {fact}' for fact in facts)}. Why: {one.why}"


def explained_document(explanation: Explanation, file: str) -> dict[str, JSON]:
    """Returns an explanation as JSON."""
    functions: list[JSON] = [
        {"file": function.file, "function": function.function, "lines": [
            {"line": line.number, "source": line.text, "what": line.what or None, "nodes": list(line.nodes)}
            for line in function.lines
        ]} for function in explanation.functions
    ]  # fmt: skip
    lifted: list[JSON] = [
        {"node": one.node or None, "form": one.form, "file": one.file, "lines": list(one.lines), "reads": list(one.reads),
         "leaves": list(one.leaves), "exits": list(one.exits), "why": one.why} for one in explanation.lifted
    ]  # fmt: skip
    findings = [*remark_documents(explanation.refused, "error"), *remark_documents(explanation.warnings, "warning")]
    return {
        "file": file, "workflow": explanation.workflow, "sound": not explanation.refused, "functions": functions,
        "lifted": lifted, "findings": findings,
    }
