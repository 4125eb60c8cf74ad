"""`validate`, `schema` and `graph`: what can be told about a workflow without running it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from stepless.cli.complaints import summary, tell, tell_findings
from stepless.cli.drawing import dot, mermaid
from stepless.cli.files import Refused, load_functions, read_source
from stepless.compile import check_document, compile_document, json_schema
from stepless.errors import DocumentRefused, SteplessError
from stepless.model.findings import Severity
from stepless.nodes import KINDS
from stepless.nodes.function import names


def validate(arguments: argparse.Namespace) -> int:
    """Shows every finding of every file. Functions are checked where there are any to know."""
    refused = 0
    for file in arguments.files:
        try:
            functions = names() if load_functions(Path(file).parent, arguments.modules) else None
            source = read_source(file)
        except Refused as error:
            tell_findings(error.findings, error.file, error.text)
            print(f"{file}: {summary(error.findings)}")
            refused += 1
            continue
        except SteplessError as error:
            tell(error, file)
            refused += 1
            continue
        findings = check_document(source.document, KINDS, functions=functions)
        tell_findings(findings, file, source.text)
        print(f"{file}: {summary(findings) or 'fine'}")
        refused += any(finding.severity is Severity.ERROR for finding in findings)
    return 2 if refused else 0


def schema(arguments: argparse.Namespace) -> int:
    print(json.dumps(json_schema(KINDS), indent=2))
    return 0


def graph(arguments: argparse.Namespace) -> int:
    source = read_source(arguments.file)
    try:
        compiled = compile_document(source.document, KINDS)
    except DocumentRefused as error:
        raise Refused(error, source.file, source.text) from error
    print({"mermaid": mermaid, "dot": dot}[arguments.format](compiled), end="")
    return 0
