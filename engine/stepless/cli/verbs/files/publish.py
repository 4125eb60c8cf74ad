"""Implements `publish`, `workflows show` and `drafts pull`: publish workflows, print them, bring a draft into a file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from json import dumps
from pathlib import Path
from typing import Any, Final

from stepless.cli.reach.files import Source, load_functions, read_source
from stepless.cli.reach.flows import (
    is_python,
    load_functions_of,
    print_source,
    read_sources,
    refusal_of,
    remarks_of,
    sources_among,
)
from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.error_output import counted, error_document, finding_documents, print_error, remark_documents, summary
from stepless.cli.terminal.formatting import put_json, when
from stepless.compile import check_document
from stepless.compile.patching import patched
from stepless.compile.reading.write_yaml import write_yaml
from stepless.errors import DocumentRefused, InvalidRequest, SteplessError
from stepless.flow import FlowRefused
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON
from stepless.model.signature import Callables
from stepless.nodes import KINDS
from stepless.nodes.function import signatures

_HASH: Final = 12  # characters of a hash that are shown
_CREATED: Final = 201
_THE_SAME_FOR_ALL: Final = ("unreachable", "no_stepless", "unauthorized")  # errors that the next file would have, too


def publish(arguments: argparse.Namespace) -> int:
    """Publishes every valid file and prints the errors of the others; returns 2 if any was refused."""
    files = sources_among(arguments.files)
    if not files:
        raise InvalidRequest("no workflow found", code="file_not_read", place=", ".join(arguments.files), mend="give a file")
    load_functions_of(arguments.files, arguments.modules)
    refused = 0
    with opened(arguments, create=True) as gateway:
        for file in files:
            refused += not _publish(gateway, file, arguments)
    return 2 if refused else 0


def _publish(gateway: Gateway, file: str, arguments: argparse.Namespace) -> bool:
    """Publishes the workflow of a file, or the workflows of a Python file; returns whether all are published now."""
    text = ""
    try:
        if is_python(file):
            sources = read_sources(file, arguments.modules, partial(_newest, gateway))
            return sum(not _publish_flow(gateway, source, arguments) for source in sources) == 0
        loaded = signatures() if load_functions(Path(file).parent, arguments.modules) else None
        source = read_source(file)
        text = source.text
        findings = _checked(source, loaded)
        kind = "application/json" if file.endswith(".json") else "application/yaml"
        _put(gateway, source, text.encode(), kind, findings, arguments)
    except SteplessError as error:
        if error.code in _THE_SAME_FOR_ALL:
            raise
        _print_refusal(error, file, getattr(error, "text", text), arguments)
        return False
    return True


def _publish_flow(gateway: Gateway, source: Source, arguments: argparse.Namespace) -> bool:
    """Publishes one workflow of a Python file. Its nodes keep the ids that they had in the newest version."""
    warnings = source.graph.warnings if source.graph is not None else ()
    try:
        _put(gateway, source, dumps(source.document).encode(), "application/json", warnings, arguments)
    except SteplessError as error:
        if error.code in _THE_SAME_FOR_ALL:
            raise
        refused = refusal_of(source, error.findings) if isinstance(error, DocumentRefused) else error
        _print_refusal(refused, source.file, "", arguments)
        return False
    return True


def _newest(gateway: Gateway, workflow: str) -> Mapping[str, JSON] | None:
    """The document of the newest version of a workflow; None if it was never published."""
    try:
        found: Mapping[str, JSON] = gateway.ask("GET", "workflows", workflow)["document"]
    except SteplessError as error:
        if error.code == "unknown_workflow":
            return None
        raise
    return found


def _checked(source: Source, functions: Callables | None) -> Sequence[Finding]:
    """The warnings about a document. Raises `DocumentRefused` with them if it has errors."""
    findings = check_document(source.document, KINDS, functions=functions)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise DocumentRefused(findings)
    return findings


def _put(
    gateway: Gateway, source: Source, content: bytes, kind: str, findings: Sequence[Finding], arguments: argparse.Namespace
) -> None:
    """Sends a document, and prints the version that it is now."""
    headers = {"content-type": kind}
    answer = gateway.answer("PUT", "workflows", str(source.document["id"]), content=content, headers=headers)
    version, state = answer.json(), "published" if answer.status_code == _CREATED else "unchanged"
    findings = (*findings, *_warnings_there(version.pop("warnings"), findings))
    if arguments.json:
        warnings = (
            remark_documents(remarks_of(source, findings), "warning") if source.is_flow
            else finding_documents(findings, source.text)
        )
        put_json({**version, "file": source.file, "state": state, "warnings": warnings})
    else:
        print_source(source, findings)
        print(f"{version['id']}  version {version['version']}  {_short(version)}  {state}", flush=True)


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
    count = f", {summary(error.findings)}" if isinstance(error, DocumentRefused) else ""
    if isinstance(error, FlowRefused):
        count = f", {counted(error.findings, 'error')}"
    print(f"{file}: not published{count}", flush=True)


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


def pull(arguments: argparse.Namespace) -> int:
    """Writes what a draft says into a file. Of a file that exists, only the lines change that say something else; its comments
    stay. A new file gets the text of the draft."""
    path = Path(arguments.file)
    query = {"seq": arguments.seq}
    with opened(arguments) as gateway:
        if path.exists():
            source = read_source(path)
            if source.document.get("id") != arguments.workflow:
                message = f"the file is of another workflow: {source.document.get('id')!r}"
                raise InvalidRequest(message, code="id_mismatch", place=arguments.file, mend="give the file of this workflow")
            found = gateway.ask("GET", "drafts", arguments.workflow, "document", query=query)
            former, text = source.text, patched(source.text, found["document"])
        else:
            found = gateway.ask("GET", "drafts", arguments.workflow, "yaml", query=query)
            former, text = None, found["text"]
    if text != former:
        _write(path, text)
    state = "new" if former is None else "unchanged" if text == former else "changed"
    if arguments.json:
        put_json({"workflow": arguments.workflow, "file": arguments.file, "seq": found["seq"], "state": state})
    else:
        print(f"{arguments.file}: {state}, as of item {found['seq']} of the draft", flush=True)
    return 0


def _write(path: Path, text: str) -> None:
    """Replaces the file at once: a program that reads it sees the former text or the new one."""
    new = path.with_name(f".{path.name}.stepless-new")
    try:
        new.write_bytes(text.encode())
        if path.exists():
            os.chmod(new, path.stat().st_mode & 0o777)
        os.replace(new, os.path.realpath(path))
    except OSError as error:
        mend = "give another file"
        raise InvalidRequest(str(error.strerror), code="file_not_written", place=str(path), mend=mend) from error
