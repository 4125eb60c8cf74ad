"""Keeps a folder of workflows published: the whole folder at the start, then every file that is saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stepless.cli.dev.modules import Modules
from stepless.cli.dev.schedule_lines import schedule_lines
from stepless.cli.reach.files import DOCUMENT_SUFFIXES, documents_in, read_source, registers_functions
from stepless.cli.terminal.complaints import print_error, print_findings, summary
from stepless.compile import compile_document
from stepless.errors import ConfigError, DocumentRefused, SteplessError
from stepless.limits import MAX_WATCHED_FILES
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.nodes.function import signatures
from stepless.runtime.service import Service
from stepless.runtime.verbs.fitting import too_long

FileStates = Mapping[str, tuple[int, int]]
"""The watched files by path, each with its modification time and size: a change of either means that the file was saved."""


@dataclass(frozen=True, slots=True)
class Served:
    """A published workflow and its webhooks."""

    file: str
    workflow_id: str
    number: int
    hooks: Sequence[Mapping[str, JSON]]


@dataclass(frozen=True, slots=True)
class Attempted:
    """The result of publishing a file: its findings or its error, and what is served (None when the file was refused)."""

    text: str
    findings: tuple[Finding, ...]
    fault: SteplessError | None
    served: Served | None


class Folder:
    """Publishes every valid file, and reports the findings of the others as `validate` does. A published version is served until
    a newer one is published. Loaded functions stay until their module is loaded again."""

    def __init__(self, path: Path, modules: Modules, service: Service, target_timeout_s: int) -> None:
        self._path = path
        self._modules = modules
        self._service = service
        self._target_timeout_s = target_timeout_s
        self._served: dict[Path, Served] = {}
        self._reported: dict[Path, object] = {}  # the last report about each file
        self._broken = False  # modules could not be loaded: the next file that is saved may fix it
        self._handled: FileStates = {}
        self._settling: FileStates | None = None

    @property
    def served(self) -> list[Served]:
        return [self._served[path] for path in sorted(self._served)]

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

    # -- watching -----------------------------------------------------------------------------------------------------

    @property
    def settling(self) -> bool:
        """Whether the last scan found a change that the next scan may confirm."""
        return self._settling is not None

    def scan(self) -> FileStates:
        """The files as they are now, documents first, at most MAX_WATCHED_FILES. Must stay cheap: it is called several times a
        second for as long as the server runs."""
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
        """Each path with a function that returns its state: the documents by name, then the modules, in one pass over the
        folder."""
        modules: dict[str, Callable[[], os.stat_result]] = {}
        try:
            with os.scandir(self._path) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            listed = []  # the folder is gone or being replaced: the next scan finds it
        folder = os.path.realpath(self._path)
        for entry in listed:
            suffix = os.path.splitext(entry.name)[1]
            if suffix in DOCUMENT_SUFFIXES:
                yield entry.path, entry.stat
            elif suffix == ".py":
                path = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(folder, entry.name)
                modules[path] = entry.stat
        for path in self._modules.files():
            modules.setdefault(path, partial(os.stat, path))
        yield from sorted(modules.items())

    def _documents(self) -> list[Path]:
        """The documents of the folder. A file that is served stays in the list, whatever it contains now."""
        try:
            return sorted({*documents_in(self._path), *(path for path in self._served if path.is_file())})
        except OSError:
            return []  # a file is being replaced, or the folder is gone: the next scan finds it

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
            if path in changed or reloaded:
                self._publish(path, only_changes=path not in changed)
        for gone in before.keys() - seen.keys():
            self._forget(Path(gone))

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
        result is the same as before."""
        former, result = self._served.get(path), self._attempt(path)
        report = (result.findings, str(result.fault), result.served and result.served.number)
        if only_changes and self._reported.get(path) == report:
            return
        self._reported[path] = report
        print_findings(result.findings, str(path), result.text)
        if result.fault is not None:
            print_error(result.fault, str(path))
        if result.served is None:
            why = summary(result.findings) or "1 error"
            stays = f"; version {former.number} stays published" if former is not None else ""
            sys.stderr.write(f"{path}: not published, {why}{stays}\n")
            return
        self._served[path] = result.served
        if not quietly:
            same = former is not None and former.number == result.served.number
            change = "still" if same else "published as"
            print(f"{path}: {result.served.workflow_id} {change} version {result.served.number}", flush=True)
            for line in schedule_lines(self._service, result.served.workflow_id):
                print(line, flush=True)
        self._warn_of_same_id(path, result.served)

    def _attempt(self, path: Path) -> Attempted:
        text = ""
        try:
            source = read_source(path)
            text = source.text
            published = self._service.publish(source.document, functions=signatures())
        except DocumentRefused as error:
            return Attempted(text or getattr(error, "text", ""), tuple(error.findings), None, None)
        except SteplessError as error:
            return Attempted(text, (), error, None)
        graph = compile_document(source.document, KINDS)
        hooks = [source.document["nodes"][node.id]["with"] for node in graph.root.nodes if node.kind is KINDS["webhook"]]
        version = published.version
        warnings = (*published.warnings, *too_long(graph, self._target_timeout_s, Severity.WARNING))
        return Attempted(text, warnings, None, Served(path.name, version.workflow_id, version.number, hooks))

    def _warn_of_same_id(self, path: Path, served: Served) -> None:
        for other, also in self._served.items():
            if other != path and also.workflow_id == served.workflow_id:
                sys.stderr.write(f"{path}: warning: {other} also has the id {served.workflow_id}; the file saved last is used\n")

    def _forget(self, path: Path) -> None:
        served = self._served.pop(path, None)
        self._reported.pop(path, None)
        if served is not None:
            print(f"{path}: deleted; {served.workflow_id} stays published as version {served.number}", flush=True)
