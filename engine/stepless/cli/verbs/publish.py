"""`publish` and `workflows show`: publish workflows and print them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from stepless.cli.reach.files import documents_among, load_functions, read_source
from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.complaints import error_document, finding_documents, print_error, print_findings, summary
from stepless.cli.terminal.showing import put_json, when
from stepless.compile import check_document
from stepless.compile.reading.write_yaml import write_yaml
from stepless.errors import DocumentRefused, InvalidRequest, SteplessError
from stepless.model.findings import Finding, Severity
from stepless.nodes import KINDS
from stepless.nodes.function import signatures

_HASH: Final = 12  # characters of a hash that are shown
_CREATED: Final = 201


def publish(arguments: argparse.Namespace) -> int:
    """Publishes every valid file and prints the errors of the others; returns 2 if any was refused."""
    files = documents_among(arguments.files)
    if not files:
        raise InvalidRequest("no workflow found", code="file_not_read", place=", ".join(arguments.files), mend="give a file")
    refused = 0
    with opened(arguments, create=True) as gateway:
        for file in files:
            refused += not _publish(gateway, file, arguments)
    return 2 if refused else 0


def _publish(gateway: Gateway, file: str, arguments: argparse.Namespace) -> bool:
    """Publishes a file; returns whether it is published now."""
    text = ""
    try:
        functions = signatures() if load_functions(Path(file).parent, arguments.modules) else None
        source = read_source(file)
        text = source.text
        findings = check_document(source.document, KINDS, functions=functions)
        if any(finding.severity is Severity.ERROR for finding in findings):
            raise DocumentRefused(findings)
        kind = "application/json" if file.endswith(".json") else "application/yaml"
        headers = {"content-type": kind}
        answer = gateway.answer("PUT", "workflows", str(source.document["id"]), content=text.encode(), headers=headers)
    except SteplessError as error:
        if error.code in ("unreachable", "no_stepless", "unauthorized"):
            raise  # the next file would fail the same way
        _print_refusal(error, file, getattr(error, "text", text), arguments)
        return False
    version, state = answer.json(), "published" if answer.status_code == _CREATED else "unchanged"
    findings = (*findings, *_warnings_there(version.pop("warnings"), findings))
    if arguments.json:
        warnings = finding_documents(findings, text)
        put_json({**version, "file": file, "state": state, "warnings": warnings})
    else:
        print_findings(findings, file, text)
        print(f"{version['id']}  version {version['version']}  {_short(version)}  {state}", flush=True)
    return True


def _warnings_there(warnings: Sequence[Mapping[str, Any]], known: Sequence[Finding]) -> Iterator[Finding]:
    """The server's warnings that this machine does not give: the server has its own environment."""
    seen = {(finding.code, finding.path) for finding in known}
    for each in warnings:
        if (each["code"], each["path"]) not in seen:
            yield Finding(each["code"], each["path"], each["message"], each["mend"], each["node"], severity=Severity.WARNING)


def _print_refusal(error: SteplessError, file: str, text: str, arguments: argparse.Namespace) -> None:
    if arguments.json:
        put_json({"file": file, "state": "refused", "error": error_document(error, text)})
        return
    print_error(error, file, text)
    counted = f", {summary(error.findings)}" if isinstance(error, DocumentRefused) else ""
    print(f"{file}: not published{counted}", flush=True)


def _short(version: Mapping[str, Any]) -> str:
    return str(version["hash"]).removeprefix("sha256:")[:_HASH]


def show(arguments: argparse.Namespace) -> int:
    number = [] if arguments.version is None else ["versions", str(arguments.version)]
    with opened(arguments) as gateway:
        version = gateway.ask("GET", "workflows", arguments.workflow, *number)
    if arguments.json:
        put_json(version)
    else:
        print(f"# {version['id']} version {version['version']}, {version['hash']}, published {when(version['published_at'])}")
        print(write_yaml(version["document"]), end="")
    return 0
