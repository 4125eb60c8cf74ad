"""Keeps a folder of workflows published: the whole folder at the start, then every file that is saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stepless.cli.dev.draft_files import DraftFiles
from stepless.cli.dev.modules import Modules
from stepless.cli.dev.schedule_lines import schedule_lines
from stepless.cli.reach.files import DOCUMENT_SUFFIXES, Source, read_source, registers_functions
from stepless.cli.reach.flows import compiled, flows_of, is_python, refusal_of, remarks_of, sources_in
from stepless.cli.reach.tree import tree
from stepless.cli.terminal.error_output import counted, print_error, print_findings, print_remarks, summary
from stepless.errors import ConfigError, DocumentRefused, InvalidRequest, SteplessError, TransientError
from stepless.flow import FlowRefused, Remark
from stepless.limits import MAX_WATCHED_FILES
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON
from stepless.model.stored.version_metadata import Attached
from stepless.nodes.function import signatures
from stepless.runtime.service import Service
from stepless.runtime.verbs.publication.attempt_fit import too_long
from stepless.runtime.verbs.publication.publishing import Published

FileStates = Mapping[str, tuple[int, int]]
"""The watched files by path, each with its modification time and size: a change of either means that the file was saved."""


@dataclass(frozen=True, slots=True)
class Served:
    """A published workflow and its webhooks. `inputs` is the schema of what a start by hand takes, None if that is anything."""

    file: str
    workflow_id: str
    number: int
    hooks: Sequence[Mapping[str, JSON]]
    inputs: JSON = None


@dataclass(frozen=True, slots=True)
class Attempted:
    """The result of publishing a file: its findings or its error, and what is served (None when the file was refused)."""

    text: str
    findings: tuple[Finding, ...]
    fault: SteplessError | None
    served: Served | None
    remarks: tuple[Remark, ...] = ()  # warnings about a source in Python


OnRead = Callable[[Path, str], None]


class Folder:
    """Publishes every valid file, and reports the findings of the others as `validate` does. A published version is served until
    a newer one is published. Loaded functions stay until their module is loaded again."""

    def __init__(self, path: Path, modules: Modules, service: Service, target_timeout_s: int) -> None:
        self._path = path
        self.files = DraftFiles(path)
        self.on_read: OnRead | None = None  # of every document that can be read, also one that is refused
        self._modules = modules
        self._service = service
        self._target_timeout_s = target_timeout_s
        self._served: dict[Path, tuple[Served, ...]] = {}  # of a Python file there may be several
        self._reported: dict[Path, object] = {}  # the last report about each file
        self._broken = False  # modules could not be loaded: the next file that is saved may fix it
        self._handled: FileStates = {}
        self._settling: FileStates | None = None

    @property
    def served(self) -> list[Served]:
        return [served for path in sorted(self._served) for served in self._served[path]]

    def publish_all(self) -> None:
        """Loads the modules and publishes every document, at the start. Prints errors and findings, but no line for a success. A
        module that fails to load is reported, and loaded again when a file is saved."""
        try:
            self._modules.load()
        except ConfigError as error:
            self._broken = True
            print_error(error)
        self._handled = self.scan()
        for path in self._documents():
            self._publish(path, quietly=True)

    def read_all(self) -> None:
        """Calls `on_read` for every document, at the start: they may have been saved while no server ran."""
        for path in self._documents():
            if self.on_read is None or is_python(path):
                continue
            if (text := self.files.read(self.files.name_of(path))) is not None:
                self.on_read(path, text)

    # -- watching -----------------------------------------------------------------------------------------------------

    @property
    def settling(self) -> bool:
        """Whether the last scan found a change that the next scan may confirm."""
        return self._settling is not None

    def scan(self) -> FileStates:
        """Returns the files as they are now, documents first, at most MAX_WATCHED_FILES. Must stay cheap: it is called several
        times a second for as long as the server runs."""
        found: dict[str, tuple[int, int]] = {}
        for path, stat in self._watched():
            try:
                state = stat()
            except OSError:
                continue  # the file is being replaced: the next scan finds it
            found[path] = (state.st_mtime_ns, state.st_size)
            if len(found) == MAX_WATCHED_FILES:
                break
        return found

    def _watched(self) -> Iterator[tuple[str, Callable[[], os.stat_result]]]:
        """Each path with a function that returns its state: the documents, folder by folder, then the modules, in one pass over
        the tree."""
        modules: dict[str, Callable[[], os.stat_result]] = {}
        try:
            listed = tree(self._path, (*DOCUMENT_SUFFIXES, ".py")).files
        except OSError:
            listed = []  # the folder is gone or being replaced: the next scan finds it
        given, folder = os.fspath(self._path), os.path.realpath(self._path)
        for entry in listed:
            if not entry.name.endswith(".py"):
                yield entry.path, entry.stat
            else:
                inside = os.path.relpath(entry.path, given)
                modules[os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(folder, inside)] = entry.stat
        for path in self._modules.files():
            modules.setdefault(path, partial(os.stat, path))
        yield from sorted(modules.items())

    def _documents(self) -> list[Path]:
        """The documents of the folder. A file that is served stays in the list, whatever it contains now."""
        try:
            return sorted({*sources_in(self._path), *(path for path in self._served if path.is_file())})
        except OSError:
            return []  # a file is being replaced, or the folder is gone: the next scan finds it
        except InvalidRequest as error:  # the folder has grown
            print_error(error)
            return sorted(path for path in self._served if path.is_file())

    def apply(self, seen: FileStates) -> None:
        """Reloads and publishes what changed, once two scans in a row are equal: a file that is still being written is not saved
        yet."""
        if seen == self._handled:
            self._settling = None
            return
        if seen != self._settling:
            self._settling = seen
            return
        before, self._handled, self._settling = self._handled, seen, None
        changed = [Path(path) for path in sorted({*before, *seen}) if before.get(path) != seen.get(path)]
        reloaded = self._reload([path for path in changed if path.suffix == ".py"], before)
        for path in self._documents():
            saved = path in changed or path.resolve() in changed  # modules are scanned under their real paths
            if saved or reloaded:
                self._publish(path, only_changes=not saved)
        gone = {Path(name) for name in before.keys() - seen.keys()}
        for path in [path for path in self._served if path in gone or path.resolve() in gone]:
            self._forget(path)

    def _reload(self, changed: Sequence[Path], before: FileStates) -> bool:
        """Reloads the modules if a changed file is one of them; returns whether it did. A file that the scan lists for the first
        time because it was just loaded does not count as saved."""
        known = self._modules.files()
        saved = [path for path in changed if str(path) in before or str(path) not in known]
        if not any(self._broken or str(path) in known or registers_functions(path) for path in saved):
            return False
        self._broken = True
        try:
            self._modules.reload()
        except ConfigError as error:
            print_error(error)
            sys.stderr.write("The functions loaded before stay in use.\n")
            return False
        self._broken = False
        saved_names = ", ".join(path.name for path in saved)
        print(f"{saved_names}: loaded again; nodes that start from now on call the new code", flush=True)
        return True

    # -- publishing ---------------------------------------------------------------------------------------------------

    def _publish(self, path: Path, *, quietly: bool = False, only_changes: bool = False) -> None:
        """Publishes a file and prints the result. `quietly` prints nothing about a success, `only_changes` prints nothing if the
        result is the same as before. While modules cannot be loaded, Python files are not published."""
        former = {served.workflow_id: served for served in self._served.get(path, ())}
        if self._broken and is_python(path):
            sys.stderr.write(f"{path}: not published, a module cannot be loaded{_stay(former)}\n")
            return
        attempts = self._attempts(path)
        if self.on_read is not None and not is_python(path):
            self.on_read(path, attempts[0].text)
        report = [(each.findings, each.remarks, str(each.fault), each.served and each.served.number) for each in attempts]
        if any(isinstance(each.fault, TransientError) for each in attempts):  # the next scan finds the file changed
            self._handled = {name: state for name, state in self._handled.items() if Path(name) not in (path, path.resolve())}
            only_changes = True
        if only_changes and self._reported.get(path) == report:
            return
        self._reported[path] = report
        for attempt in attempts:
            print_findings(attempt.findings, str(path), attempt.text)
            print_remarks(attempt.remarks, "warning")
            if attempt.fault is not None:
                print_error(attempt.fault, str(path))
        now = {attempt.served.workflow_id: attempt.served for attempt in attempts if attempt.served is not None}
        if refused := [attempt for attempt in attempts if attempt.served is None]:
            stay = {id: served for id, served in former.items() if id not in now}
            sys.stderr.write(f"{path}: not published, {_counted(refused)}{_stay(stay)}\n")
            now = former | now
        self._served[path] = tuple(now.values())
        if not now:
            del self._served[path]
        for attempt in attempts:
            if attempt.served is not None:
                self._announce(path, attempt.served, former.get(attempt.served.workflow_id), quietly)
        for gone in former.keys() - now.keys():
            print(f"{path}: {gone} is not in the file any more; it stays published as version {former[gone].number}", flush=True)

    def _announce(self, path: Path, served: Served, former: Served | None, quietly: bool) -> None:
        if not quietly:
            same = former is not None and former.number == served.number
            print(f"{path}: {served.workflow_id} {'still' if same else 'published as'} version {served.number}", flush=True)
            for line in schedule_lines(self._service, served.workflow_id):
                print(line, flush=True)
        self._warn_of_same_id(path, served)

    def _attempts(self, path: Path) -> list[Attempted]:
        """What publishing the workflow of a document, or each of a Python file, results in. A Python file with a refused workflow
        is refused as a whole, so that all faults of its source are shown."""
        if not is_python(path):
            return [self._attempt(path)]
        try:
            return [self._attempt_flow(source) for source in compiled(str(path), flows_of(path), self._newest)]
        except SteplessError as error:
            return [Attempted("", (), error, None)]

    def _attempt_flow(self, source: Source) -> Attempted:
        try:
            published = self._service.publish(source.document, graph=source.graph)
        except DocumentRefused as error:
            return Attempted("", (), refusal_of(source, error.findings), None)
        except SteplessError as error:
            return Attempted("", (), error, None)
        served, warnings = self._published(source, published)
        return Attempted("", (), None, served, tuple(remarks_of(source, warnings)))

    def _newest(self, workflow_id: str) -> Mapping[str, JSON] | None:
        """The document of the newest version of a workflow; None if there is no version."""
        world = self._service.world
        newest = world.store.newest_version(workflow_id)
        return None if newest is None else world.versions.document(workflow_id, newest.hash)

    def _attempt(self, path: Path) -> Attempted:
        text = ""
        try:
            source = read_source(path)
            text = source.text
            attached = Attached(source.text, self.files.layout(self.files.name_of(path)))
            published = self._service.publish(source.document, functions=signatures(), attached=attached)
        except DocumentRefused as error:
            return Attempted(text or getattr(error, "text", ""), tuple(error.findings), None, None)
        except SteplessError as error:
            return Attempted(text, (), error, None)
        served, warnings = self._published(source, published)
        return Attempted(text, warnings, None, served)

    def _published(self, source: Source, published: Published) -> tuple[Served, tuple[Finding, ...]]:
        graph = published.graph
        nodes = source.document["nodes"]
        hooks = [nodes[node.id]["with"] for node in graph.root.nodes if node.kind.name == "webhook"]
        inputs = next((nodes[node.id].get("inputs") for node in graph.root.nodes if node.kind.name == "manual"), None)
        version = published.version
        warnings = (*published.warnings, *too_long(graph, self._target_timeout_s, Severity.WARNING))
        return Served(self.files.name_of(Path(source.file)), version.workflow_id, version.number, hooks, inputs), warnings

    def _warn_of_same_id(self, path: Path, served: Served) -> None:
        for other, also in self._served.items():
            if other != path and any(each.workflow_id == served.workflow_id for each in also):
                sys.stderr.write(f"{path}: warning: {other} also has the id {served.workflow_id}; the file saved last is used\n")

    def _forget(self, path: Path) -> None:
        self._reported.pop(path, None)
        for served in self._served.pop(path, ()):
            print(f"{path}: deleted; {served.workflow_id} stays published as version {served.number}", flush=True)


def _stay(former: Mapping[str, Served]) -> str:
    """`; version 3 stays published`, with the workflows if there are several; empty for none."""
    several = len(former) > 1
    return "".join(f"; version {each.number}{f' of {id}' * several} stays published" for id, each in former.items())


def _counted(refused: Sequence[Attempted]) -> str:
    """Returns a text such as `2 errors, 1 warning`."""
    findings = [finding for attempt in refused for finding in attempt.findings]
    faults = [fault for attempt in refused if isinstance(fault := attempt.fault, FlowRefused)]
    remarks = [remark for fault in faults for remark in fault.findings]
    return summary(findings) or counted(remarks, "error") or "1 error"
