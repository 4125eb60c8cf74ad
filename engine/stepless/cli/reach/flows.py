"""Reads workflows in Python: compiles the flows of a file, with their refusals and warnings at lines of this file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from stepless.cli.reach.files import Source, documents_in, imports_flows, load_file, load_functions, read_source
from stepless.cli.reach.tree import files_in
from stepless.cli.terminal.error_output import print_findings, print_remarks
from stepless.compile.suggest import did_you_mean, listed
from stepless.errors import InvalidRequest, NotFound
from stepless.model.findings import Finding

if TYPE_CHECKING:
    from types import ModuleType

    from stepless.flow import Flow, FlowRefused, Remark
    from stepless.flow.compiler.explaining import Explanation
    from stepless.flow.flows import Former

SUFFIX: Final = ".py"


def split_name(given: str) -> tuple[str, str]:
    """Splits `refund.py:refund` into the file and the name of a workflow in it, which is empty if none is named."""
    file, colon, name = given.rpartition(":")
    return (file, name) if colon and file.endswith(SUFFIX) else (given, "")


def sources_among(paths: Sequence[str]) -> list[str]:
    """Returns the files as given; for a folder, its documents and its Python files with workflows."""
    return [str(file) for path in paths for file in (sources_in(Path(path)) if Path(path).is_dir() else [path])]


def sources_in(folder: Path) -> list[Path]:
    """Returns the documents and the Python files with workflows, of a folder and its subfolders, by path. Raises `InvalidRequest`
    (folder_too_large)."""
    return sorted([*documents_in(folder), *(path for path in files_in(folder, (SUFFIX,)) if imports_flows(path))])


def load_functions_of(paths: Sequence[str], modules: str | None) -> None:
    """Loads the functions of each folder among the paths, with those of its subfolders. Raises `ConfigError`."""
    for path in paths:
        if Path(path).is_dir():
            load_functions(Path(path), modules, subfolders=True)


def is_python(given: str | os.PathLike[str]) -> bool:
    return split_name(os.fspath(given))[0].endswith(SUFFIX)


def read_sources(given: str, modules: str | None = None, former: Former | None = None) -> list[Source]:
    """Returns the workflow of a document; of a Python file its workflows, or the one that is named (`refund.py:refund`), after
    loading the modules of its folder. `former`, for publishing, is as in `compiled`.

    Raises `FlowRefused` with every fault of every workflow that is read, `Refused` if the file is not a document,
    `InvalidRequest` if it cannot be read, has no workflow or none of the name, and what `load_functions` raises.
    """
    if not is_python(given):
        return [read_source(given)]
    file, name = split_name(given)
    _check_file(file)
    load_functions(Path(file).parent, modules)
    return compiled(file, _chosen(file, name, flows_of(file)), former)


def one_source(given: str, modules: str | None = None, former: Former | None = None) -> Source:
    """Returns the only workflow of a file, or the one that is named; see `read_sources`. Raises `InvalidRequest` if there are
    more."""
    file, name = split_name(given)
    if is_python(given) and not name and Path(file).is_file():
        load_functions(Path(file).parent, modules)
        if len(flows := flows_of(file)) > 1:
            names = listed([flow.__name__ for flow in flows], len(flows))
            message = f"the file has {len(flows)} workflows: {names}"
            raise InvalidRequest(message, code="usage", place=file, mend=f"name one: {file}:{flows[0].__name__}")
    return read_sources(given, modules, former)[0]


def explanations(given: str, modules: str | None = None) -> Iterator[Explanation]:
    """Yields line by line what becomes of each workflow of a Python file, or of the one that is named. Raises as `read_sources`
    does, but for what is refused, which is told of its line."""
    file, name = split_name(given)
    _check_file(file)
    load_functions(Path(file).parent, modules)
    for flow in _chosen(file, name, flows_of(file)):
        found = flow.explain()
        functions = [replace(one, file=_place(one.file, file)) for one in found.functions]
        lifted = [replace(one, file=_place(one.file, file)) for one in found.lifted]
        refused, warnings = (_placed(remarks, file) for remarks in (found.refused, found.warnings))
        yield replace(found, functions=functions, lifted=lifted, refused=refused, warnings=warnings)


def _check_file(file: str) -> None:
    if not Path(file).is_file():
        raise InvalidRequest("it cannot be read: no such file", code="file_not_read", place=file, mend="check the path")


def flows_of(file: str | os.PathLike[str]) -> list[Flow[..., object]]:
    """Returns the workflows that a Python file defines, in the order of their lines; not those that it imports."""
    from stepless.flow import Flow

    module = load_file(Path(file))
    own = {id(flow): flow for flow in vars(module).values() if isinstance(flow, Flow) and _is_of(flow, module)}
    return sorted(own.values(), key=lambda flow: flow.function.__code__.co_firstlineno)


def compiled(file: str, flows: Iterable[Flow[..., object]], former: Former | None = None) -> list[Source]:
    """Returns the documents of workflows of one file. With `former` they are to be published: see `Flow.compile`. Raises
    `FlowRefused` with the faults of all, and what `former` raises."""
    from stepless.flow import FlowRefused, Remark

    found: list[Source] = []
    refused: list[Remark] = []
    named: dict[str, str] = {}
    for flow in flows:
        if flow.id in named:
            message = f"`{flow.__name__}` has the id `{flow.id}`, as `{named[flow.id]}` has"
            line = flow.function.__code__.co_firstlineno
            refused.append(Remark(os.path.basename(file), line, "workflow_id_taken", message, "Choose another id"))
        named.setdefault(flow.id, flow.__name__)
        try:
            made = flow.compile(former=former)
        except FlowRefused as error:
            refused += error.findings
        else:
            found.append(Source(file, "", made.document, tuple(_placed(made.warnings, file)), made.graph))
    if refused:
        raise FlowRefused(sorted(_placed(dict.fromkeys(refused), file)))
    return found


def matched_with(source: Source, former: Former) -> Source:
    """Returns the workflow with the ids that its nodes had in the newest version, if it is one in Python. The ids of other
    documents are their author's."""
    if not source.is_flow:
        return source
    from stepless.flow import matched

    newest = former(str(source.document["id"]))
    document = source.document if newest is None else matched(source.document, newest)
    return source if document == source.document else replace(source, document=document, graph=None)


def print_source(source: Source, findings: Iterable[Finding]) -> None:
    """Writes what is to be said about a workflow to standard error, at lines of its file: the compiler's warnings too."""
    if source.is_flow:
        print_remarks(remarks_of(source, findings), "warning")
    else:
        print_findings(findings, source.file, source.text)


def remarks_of(source: Source, findings: Iterable[Finding]) -> list[Remark]:
    """Returns the compiler's warnings about a workflow in Python and other findings, each once, by line."""
    from stepless.flow import remarks_on

    return sorted({*source.remarks, *_placed(remarks_on(source.document, findings), source.file)})


def refusal_of(source: Source, findings: Iterable[Finding]) -> FlowRefused:
    """Returns the refusal of the document of a workflow in Python, at lines of its file."""
    from stepless.flow import FlowRefused, remarks_on

    return FlowRefused(_placed(remarks_on(source.document, findings), source.file))


def _chosen(file: str, name: str, flows: Sequence[Flow[..., object]]) -> Sequence[Flow[..., object]]:
    if not flows:
        mend = "write `@workflow(\"…\")` above an `async def` of this file"
        raise InvalidRequest("the file has no workflow", code="unknown_workflow", place=file, mend=mend)
    chosen = [flow for flow in flows if name in ("", flow.__name__, flow.id)]
    if not chosen:
        names = [flow.__name__ for flow in flows]
        mend = did_you_mean(name, names) or f"it has {listed(names, len(names))}"
        raise NotFound(f"the file has no workflow `{name}`", code="unknown_workflow", place=file, mend=mend)
    return chosen


def _is_of(flow: Flow[..., object], module: ModuleType) -> bool:
    return flow.function.__module__ == module.__name__


def _placed(remarks: Iterable[Remark], file: str) -> list[Remark]:
    """The remarks with the path of their file as it was given; those on other files, of parts, keep theirs."""
    return [replace(remark, file=_place(remark.file, file)) for remark in remarks]


def _place(found: str, file: str) -> str:
    parts, own = PurePath(os.path.abspath(file)).parts, PurePath(found).parts
    return file if parts[-len(own):] == own else found
