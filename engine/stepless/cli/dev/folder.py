"""A folder of workflows that is kept published: at first all of it, then whatever is saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stepless.cli.dev.modules import Modules
from stepless.cli.reach.files import DOCUMENT_SUFFIXES, documents_in, read_source, registers_functions
from stepless.cli.terminal.complaints import print_findings, summary, tell
from stepless.compile import compile_document
from stepless.errors import ConfigError, DocumentRefused, SteplessError
from stepless.limits import MAX_WATCHED_FILES
from stepless.model.findings import Finding, Severity
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.nodes.function import signatures
from stepless.runtime.service import Service
from stepless.runtime.verbs.fitting import too_long

Look = Mapping[str, tuple[int, int]]
"""The paths of the files that count, each with what tells its states apart: time and size."""


@dataclass(frozen=True, slots=True)
class Served:
    """A workflow that is published, and its webhooks."""

    file: str
    workflow_id: str
    number: int
    hooks: Sequence[Mapping[str, JSON]]


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a file: what is to be said of it, and what is served, None when it was refused."""

    text: str
    findings: tuple[Finding, ...]
    fault: SteplessError | None
    served: Served | None


class Folder:
    """Publishes what can be, and tells what is wrong with the rest as `validate` does. A version that was published stays until
    a better one comes; functions that were loaded stay until the module loads again."""

    def __init__(self, path: Path, modules: Modules, service: Service, target_timeout_s: int) -> None:
        self._path = path
        self._modules = modules
        self._service = service
        self._target_timeout_s = target_timeout_s
        self._served: dict[Path, Served] = {}
        self._news: dict[Path, object] = {}  # what was told of each file last
        self._broken = False  # modules could not be loaded: whatever is saved next may have been the reason
        self._handled: Look = {}
        self._settling: Look | None = None

    @property
    def served(self) -> list[Served]:
        return [self._served[path] for path in sorted(self._served)]

    def publish_all(self) -> None:
        """For the beginning: of what is published nothing is said yet. A module that does not load is told, and loads when it is
        mended."""
        try:
            self._modules.load()
        except ConfigError as error:
            self._broken = True
            tell(error)
        self._handled = self.look()
        for path in self._documents():
            self._publish(path, quietly=True)

    # -- watching -----------------------------------------------------------------------------------------------------

    @property
    def settling(self) -> bool:
        """Whether the last look saw something that the next one may find saved."""
        return self._settling is not None

    def look(self) -> Look:
        """The files as they are now, documents first; of more than MAX_WATCHED_FILES the first ones. Costs as little as can be:
        this is done for as long as the server runs."""
        found: dict[str, tuple[int, int]] = {}
        for path, stat in self._watched():
            try:
                state = stat()
            except OSError:
                continue  # it is just being replaced: the next look sees
            found[path] = (state.st_mtime_ns, state.st_size)
            if len(found) == MAX_WATCHED_FILES:
                break
        return found

    def _watched(self) -> Iterator[tuple[str, Callable[[], os.stat_result]]]:
        """Paths with what answers their state: the documents by name, then the modules, in one pass over the folder."""
        modules: dict[str, Callable[[], os.stat_result]] = {}
        try:
            with os.scandir(self._path) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            listed = []  # the folder is gone, or just being replaced: the next look sees
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
        """A file that is served stays one of them, whatever it holds now."""
        try:
            return sorted({*documents_in(self._path), *(path for path in self._served if path.is_file())})
        except OSError:
            return []  # a file is just being replaced, or the folder is gone: the next look sees

    def take(self, seen: Look) -> None:
        """Does what a look asks for, once two looks in a row agree: what is still being written has not been saved."""
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
                self._publish(path, only_news=path not in changed)
        for gone in before.keys() - seen.keys():
            self._forget(Path(gone))

    def _reload(self, changed: Sequence[Path], before: Look) -> bool:
        """Whether functions were loaded again. A file that is watched only since it was loaded has not been saved."""
        known = self._modules.files()
        saved = [path for path in changed if str(path) in before or str(path) not in known]
        if not any(self._broken or str(path) in known or registers_functions(path) for path in saved):
            return False
        self._broken = True
        try:
            self._modules.reload()
        except ConfigError as error:
            tell(error)
            sys.stderr.write("The functions that were loaded before stay.\n")
            return False
        self._broken = False
        saved_names = ", ".join(path.name for path in saved)
        print(f"{saved_names}: loaded again; what starts from now on calls the new code", flush=True)
        return True

    # -- publishing ---------------------------------------------------------------------------------------------------

    def _publish(self, path: Path, *, quietly: bool = False, only_news: bool = False) -> None:
        """`quietly` says nothing of a success, `only_news` nothing that was said before."""
        former, judged = self._served.get(path), self._judge(path)
        news = (judged.findings, str(judged.fault), judged.served and judged.served.number)
        if only_news and self._news.get(path) == news:
            return
        self._news[path] = news
        print_findings(judged.findings, str(path), judged.text)
        if judged.fault is not None:
            tell(judged.fault, str(path))
        if judged.served is None:
            why = summary(judged.findings) or "1 error"
            stays = f"; version {former.number} stays" if former is not None else ""
            sys.stderr.write(f"{path}: not published, {why}{stays}\n")
            return
        self._served[path] = judged.served
        if not quietly:
            same = former is not None and former.number == judged.served.number
            word = "still" if same else "published as"
            print(f"{path}: {judged.served.workflow_id} {word} version {judged.served.number}", flush=True)
        self._tell_rivals(path, judged.served)

    def _judge(self, path: Path) -> Judged:
        text = ""
        try:
            source = read_source(path)
            text = source.text
            published = self._service.publish(source.document, functions=signatures())
        except DocumentRefused as error:
            return Judged(text or getattr(error, "text", ""), tuple(error.findings), None, None)
        except SteplessError as error:
            return Judged(text, (), error, None)
        graph = compile_document(source.document, KINDS)
        hooks = [source.document["nodes"][node.id]["with"] for node in graph.root.nodes if node.kind is KINDS["webhook"]]
        version = published.version
        warnings = (*published.warnings, *too_long(graph, self._target_timeout_s, Severity.WARNING))
        return Judged(text, warnings, None, Served(path.name, version.workflow_id, version.number, hooks))

    def _tell_rivals(self, path: Path, served: Served) -> None:
        for other, also in self._served.items():
            if other != path and also.workflow_id == served.workflow_id:
                sys.stderr.write(f"{path}: warning: {other} has the id {served.workflow_id} too; the one saved last counts\n")

    def _forget(self, path: Path) -> None:
        served = self._served.pop(path, None)
        self._news.pop(path, None)
        if served is not None:
            print(f"{path}: gone; {served.workflow_id} stays published as version {served.number}", flush=True)
