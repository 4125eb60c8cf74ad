"""Implements `validate`, `compile`, `schema` and `graph`: check and draw a workflow without running it."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from stepless.cli.graph.drawing import dot, mermaid, nodes_and_edges
from stepless.cli.graph.svg import svg
from stepless.cli.reach.files import Refused, load_functions, read_source
from stepless.cli.reach.flows import (
    explanations,
    is_python,
    load_functions_of,
    one_source,
    print_source,
    read_sources,
    refusal_of,
    remarks_of,
    sources_among,
    split_name,
)
from stepless.cli.terminal.error_output import (
    counted,
    error_document,
    finding_documents,
    print_error,
    print_findings,
    print_remarks,
    remark_documents,
    summary,
)
from stepless.cli.terminal.explained_lines import explained_document, explained_lines
from stepless.cli.terminal.field_docs import described
from stepless.cli.terminal.formatting import put_json, say
from stepless.compile import check_document, compile_document, json_schema
from stepless.compile.reading.write_yaml import write_yaml
from stepless.errors import DocumentRefused, InvalidRequest, SteplessError
from stepless.flow import FlowRefused, Remark
from stepless.model.findings import Finding, Severity
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.signature import Callables
from stepless.nodes import KINDS
from stepless.nodes.function import signatures
from stepless.runtime.verbs.publication.attempt_fit import too_long
from stepless.runtime.verbs.publication.clock_warnings import clock_warnings
from stepless.runtime.verbs.publication.environment import unset_names
from stepless.runtime.wiring.stores import system_clock

_DRAWN: Final[Mapping[str, Callable[[Graph], str]]] = {"mermaid": mermaid, "dot": dot, "svg": svg}


def validate(arguments: argparse.Namespace) -> int:
    """Shows every finding of every file. Calls of functions are checked if any function is registered."""
    files = sources_among(arguments.files)
    if not files:
        raise InvalidRequest("no workflow found", code="file_not_read", place=", ".join(arguments.files), mend="give a file")
    load_functions_of(arguments.files, arguments.modules)
    return 2 if sum([not _is_sound(file, arguments) for file in files]) else 0


def _is_sound(file: str, arguments: argparse.Namespace) -> bool:
    """Prints the findings of a file; returns whether there are none but warnings."""
    try:
        if is_python(file):
            return _is_sound_in_python(file, arguments)
        functions = signatures() if load_functions(Path(file).parent, arguments.modules) else None
        source = read_source(file)
        text, findings = source.text, _findings(source.document, functions, arguments.target_timeout)
    except Refused as error:
        text, findings = error.text, error.findings
    except SteplessError as error:
        if arguments.json:
            put_json({"file": file, "sound": False, "error": error_document(error)})
        else:
            print_error(error, file)
        return False
    sound = _has_no_error(findings)
    if arguments.json:
        put_json({"file": file, "sound": sound, "findings": finding_documents(findings, text)})
    else:
        print_findings(findings, file, text)
        print(f"{file}: {summary(findings) or 'fine'}")
    return sound


def _is_sound_in_python(file: str, arguments: argparse.Namespace) -> bool:
    """Like `_is_sound`, of the workflows in a Python file: what the compiler refuses, and what a publication would."""
    refused: list[Remark] = []
    warned: list[Remark] = []
    try:
        for source in read_sources(file, arguments.modules):
            findings = _findings(source.document, signatures(), arguments.target_timeout)
            refused += refusal_of(source, (each for each in findings if each.severity is Severity.ERROR)).findings
            warned += remarks_of(source, (each for each in findings if each.severity is not Severity.ERROR))
    except FlowRefused as error:
        refused += error.findings
    if arguments.json:
        remarks = [*remark_documents(refused, "error"), *remark_documents(warned, "warning")]
        put_json({"file": file, "sound": not refused, "findings": remarks})
    else:
        print_remarks(refused)
        print_remarks(warned, "warning")
        counts = [count for count in (counted(refused, "error"), counted(warned, "warning")) if count]
        print(f"{file}: {', '.join(counts) or 'fine'}")
    return not refused


def compile_(arguments: argparse.Namespace) -> int:
    """Prints the documents of the workflows in a Python file; warnings go to standard error. What it prints is published as any
    other document is, but it calls the functions of the module."""
    file, _ = split_name(arguments.file)
    if not is_python(file):
        mend = "give a Python file, or print a published workflow with `stepless workflows show`"
        raise InvalidRequest("only workflows in Python are compiled", code="usage", place=file, mend=mend)
    if arguments.explain:
        return _explain(arguments)
    for number, source in enumerate(read_sources(arguments.file, arguments.modules)):
        print_source(source, ())
        if arguments.json:
            put_json(source.document)
        else:
            print("---\n" * (number > 0) + write_yaml(source.document), end="")
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    """Prints line by line what was compiled, lifted or refused, and why; returns 2 if anything was refused."""
    refused = False
    for number, explanation in enumerate(explanations(arguments.file, arguments.modules)):
        if arguments.json:
            put_json(explained_document(explanation, arguments.file))
        else:
            say([""] * (number > 0))
            say(explained_lines(explanation))
        refused = refused or bool(explanation.refused)
    return 2 if refused else 0


def _findings(document: Mapping[str, JSON], functions: Callables | None, target_timeout_s: int) -> tuple[Finding, ...]:
    try:
        graph = compile_document(document, KINDS, functions=functions)
    except DocumentRefused:
        return check_document(document, KINDS, functions=functions)  # the warnings too
    unset = unset_names(document, os.environ.get)
    clocks = clock_warnings(graph, system_clock().now_ms())
    return (*graph.warnings, *unset, *clocks, *too_long(graph, target_timeout_s, Severity.WARNING))


def _has_no_error(findings: Sequence[Finding]) -> bool:
    return not any(finding.severity is Severity.ERROR for finding in findings)


def schema(arguments: argparse.Namespace) -> int:
    print(json.dumps(described(json_schema(KINDS)), indent=None if arguments.json else 2))
    return 0


def graph(arguments: argparse.Namespace) -> int:
    source = one_source(arguments.file)
    try:
        compiled = compile_document(source.document, KINDS)
    except DocumentRefused as error:
        raise Refused(error, source.file, source.text) from error
    if arguments.json:
        put_json(nodes_and_edges(compiled))
    else:
        print(_DRAWN[arguments.format](compiled), end="")
    return 0
