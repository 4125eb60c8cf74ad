"""Implements `import`: converts a workflow of another tool into a document, and lists what cannot be converted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from stepless.cli.terminal.error_output import finding_documents, print_findings, summary
from stepless.cli.terminal.formatting import put_json
from stepless.compile import parse
from stepless.compile.reading.write_yaml import write_yaml
from stepless.errors import DocumentRefused, InvalidRequest
from stepless.imports import TOOLS
from stepless.model.json import JSON
from stepless.runtime.wiring.single_run import read_document

_SHOWN_LINES_BYTES: Final = 500_000  # in larger files, finding the lines of findings is too slow


def import_(arguments: argparse.Namespace) -> int:
    """`stepless import TOOL FILE`: findings are warnings and go to standard error. With --json, document and findings are one
    object on standard output. Raises `InvalidRequest` if the file is not an export."""
    data = read_document(arguments.file)
    tool = TOOLS[arguments.tool]
    imported = tool.convert(_export(data, arguments.file, tool.name))
    text = data.decode() if len(data) <= _SHOWN_LINES_BYTES else ""
    if arguments.out is not None:
        _write(Path(arguments.out), write_yaml(imported.document))
    if arguments.json:
        findings = finding_documents(imported.findings, text)
        put_json({"file": arguments.file, "document": imported.document, "findings": findings})
        return 0
    if arguments.out is None:
        sys.stdout.write(write_yaml(imported.document))
    print_findings(imported.findings, arguments.file, text)
    if imported.findings:
        sys.stderr.write(f"{arguments.file}: {summary(imported.findings)}\n")
    return 0


def _export(data: bytes, file: str, tool: str) -> Mapping[str, JSON]:
    try:
        return parse(data, syntax="json")
    except DocumentRefused as error:
        fault = error.findings[0]
        place = f"{file}: {fault.path}" if fault.path else file
        message, mend = f"this is not an export of {tool}: {fault.message}", f"give the JSON file that {tool} writes as an export"
        raise InvalidRequest(message, code=f"no_{tool.lower()}_export", place=place, mend=mend) from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"the file cannot be written: {error.strerror or error}"
        raise InvalidRequest(message, code="file_not_written", place=str(path), mend="check the path") from error
