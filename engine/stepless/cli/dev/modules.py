"""Loads the author's modules that register functions, and reloads them when they change."""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

from stepless.cli.reach.files import load_functions
from stepless.nodes.function import MODULES_VARIABLE, replacing_registrations

_FOREIGN: Final = ("site-packages", "dist-packages")


class Modules:
    """The Python files of a folder and its subfolders, the modules of `--modules` and STEPLESS_MODULES, and what they import from
    the same places. `load` and `reload` raise `ConfigError` with file and line."""

    def __init__(self, folder: Path, named: str | None) -> None:
        self._folder = folder
        self._named = named
        names = f"{named or ''},{os.environ.get(MODULES_VARIABLE, '')}".split(",")
        self._tops = {name.strip().partition(".")[0] for name in names if name.strip()}
        self._files: frozenset[str] = frozenset()
        self._known = 0  # the size of `sys.modules` when `files` last searched it

    def load_named(self) -> None:
        """Loads the modules of `--modules` and STEPLESS_MODULES, without those of the folder."""
        load_functions(None, self._named)

    def load(self) -> None:
        self._known = 0
        load_functions(self._folder, self._named, subfolders=True)

    def reload(self) -> None:
        """Imports all modules again, because one may use what another defines. If an import fails, the former modules and their
        functions stay in use. A call in progress ends with the code that it started with."""
        before = self._own()
        for name in before:
            del sys.modules[name]
        importlib.invalidate_caches()
        try:
            with replacing_registrations(before):
                self.load()
        except BaseException:
            for name in self._own():
                del sys.modules[name]
            sys.modules.update(before)
            raise

    def files(self) -> frozenset[str]:
        """Returns the files of the loaded modules. Computed again when `sys.modules` has changed in size."""
        known = len(sys.modules)
        if known != self._known:
            self._known = known
            self._files = frozenset(module.__file__ for module in self._own().values() if module.__file__)
        return self._files

    def _own(self) -> dict[str, ModuleType]:
        return {name: module for name, module in list(sys.modules.items()) if self._is_own(name, module)}

    def _is_own(self, name: str, module: ModuleType) -> bool:
        top = name.partition(".")[0]
        file = getattr(module, "__file__", None)
        if not file or top in ("stepless", "__main__"):
            return False
        if top in self._tops:
            return True
        try:
            parts = _resolved(file).relative_to(_resolved(str(self._folder))).parts
        except ValueError:
            return False
        return not any(part in _FOREIGN or part.startswith(".") for part in parts)


@cache
def _resolved(file: str) -> Path:
    return Path(file).resolve()
