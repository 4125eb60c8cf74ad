"""Prints errors and findings for people: the place, one sentence and the fix, never a traceback."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence

import yaml

from stepless.errors import DocumentRefused, SteplessError
from stepless.flow import FlowRefused, Remark
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON


def print_error(error: SteplessError, file: str = "", text: str = "") -> None:
    """Writes an error to standard error; for a refused document all findings, each with its line in `file`."""
    if isinstance(error, DocumentRefused):
        print_findings(error.findings, file, text)
        return
    if isinstance(error, FlowRefused):
        print_remarks(error.findings)
        return
    place = error.place or file
    where = f"{place}: " if place else ""
    fix = f"    {_sentence(error.mend)}\n" if error.mend else ""
    sys.stderr.write(f"{where}error: {error.message} [{error.code}]\n{fix}")


def print_findings(findings: Iterable[Finding], file: str = "", text: str = "") -> None:
    """Writes findings to standard error, in their order: `file:line: severity: message [code]`, then the place and the fix."""
    lines = Lines(text)
    for finding in findings:
        line = lines.of(finding.path)
        place = ":".join(part for part in (file, str(line) if line else "") if part)
        where = f"{place}: " if place else ""
        sys.stderr.write(f"{where}{finding.severity.value}: {finding.message} [{finding.code}]\n")
        at = f"at {finding.path}. " if finding.path and not _SYNTAX.match(finding.path) else ""
        if at or finding.mend:
            sys.stderr.write(f"    {at}{_sentence(finding.mend)}\n".replace(" \n", "\n"))


def print_remarks(remarks: Iterable[Remark], severity: str = "") -> None:
    """Writes what the compiler says about a source in Python to standard error, in its order: `file:line: code: message. fix`.
    Warnings name their `severity` before the code."""
    for remark in remarks:
        said = str(remark)
        if severity:
            place = f"{remark.file}:{remark.line}: "
            said = f"{place}{severity}: {said.removeprefix(place)}"
        sys.stderr.write(f"{said}\n")


def summary(findings: Iterable[Finding]) -> str:
    """Returns a text such as `2 errors, 1 warning`."""
    severities = [finding.severity for finding in findings]
    counts = [(severities.count(severity), severity.value) for severity in (Severity.ERROR, Severity.WARNING)]
    return ", ".join(f"{count} {word}{'s' if count > 1 else ''}" for count, word in counts if count)


def _sentence(mend: str) -> str:
    if not mend:
        return ""
    return mend[:1].upper() + mend[1:] + ("" if mend[-1] in ".!?" else ".")


def counted(remarks: Sequence[Remark], severity: str) -> str:
    """Returns a text such as `2 errors`; empty for none."""
    return f"{len(remarks)} {severity}{'s' if len(remarks) > 1 else ''}" if remarks else ""


# -- for programs -----------------------------------------------------------------------------------------------------


def error_document(error: SteplessError, text: str = "") -> dict[str, JSON]:
    """Returns an error in the format of the API; findings have their lines in `text`."""
    document: dict[str, JSON] = {"code": error.code, "message": error.message.partition("\n")[0]}
    if isinstance(error, DocumentRefused):
        document["findings"] = finding_documents(error.findings, text)
    elif isinstance(error, FlowRefused):
        document["message"] = "the source has faults and was not compiled"
        document["findings"] = remark_documents(error.findings, "error")
    facts = {name: value for name, value in error.facts.items() if isinstance(value, str | int | list | dict)}
    return document | {name: said for name, said in (("place", error.place), ("mend", error.mend)) if said} | facts


def finding_documents(findings: Iterable[Finding], text: str = "") -> list[JSON]:
    """Findings as JSON. `line` is null if it is not known."""
    lines = Lines(text)
    return [
        {"severity": finding.severity.value, "code": finding.code, "path": finding.path, "line": lines.of(finding.path) or None,
         "message": finding.message, "mend": finding.mend, "node": finding.node}
        for finding in findings
    ]  # fmt: skip


def remark_documents(remarks: Iterable[Remark], severity: str) -> list[JSON]:
    """Remarks on a source in Python as JSON, in the form of findings, with their file."""
    return [
        {"severity": severity, "code": remark.code, "path": "", "file": remark.file, "line": remark.line,
         "message": remark.message, "mend": remark.mend, "node": None}
        for remark in remarks
    ]  # fmt: skip


# -- lines ------------------------------------------------------------------------------------------------------------

_SYNTAX = re.compile(r"line (\d+)")


class Lines:
    """Finds the line of the value at a dotted path. Best effort: 0 if the line is not known."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root: yaml.Node | None = None
        self._composed = False

    def of(self, path: str) -> int:
        syntax = _SYNTAX.match(path)
        if syntax:
            return int(syntax[1])
        node, line, steps = self._document(), 0, path.split(".")
        while node is not None and steps:
            found = _step(node, steps)
            if found is None:
                break
            line, node, steps = found
        return line

    def _document(self) -> yaml.Node | None:
        if not self._composed and self._text:
            self._composed = True
            try:
                self._root = yaml.compose(self._text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            except (yaml.YAMLError, RecursionError):
                self._root = None
        return self._root


def _step(node: yaml.Node, steps: list[str]) -> tuple[int, yaml.Node, list[str]] | None:
    """One step down, by the longest key that fits (keys may contain dots): its line, its node and the steps that remain."""
    if isinstance(node, yaml.SequenceNode) and steps[0].isdecimal() and int(steps[0]) < len(node.value):
        below = node.value[int(steps[0])]
        return below.start_mark.line + 1, below, steps[1:]
    if isinstance(node, yaml.MappingNode):
        below_by_key = {str(key.value): (key, value) for key, value in node.value}
        for size in range(len(steps), 0, -1):
            found = below_by_key.get(".".join(steps[:size]))
            if found is not None:
                return found[0].start_mark.line + 1, found[1], steps[size:]
    return None
