"""Reads documents, inputs and function modules from disk."""

from __future__ import annotations

import ast
import importlib
import os
import re
import sys
import traceback
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from stepless.cli.reach.tree import files_in
from stepless.compile import parse
from stepless.compile.reading.strict_json import strict_json
from stepless.compile.suggest import did_you_mean
from stepless.errors import ConfigError, DocumentRefused
from stepless.limits import MAX_DOCUMENT_BYTES, MAX_INPUT_BYTES
from stepless.model.json import JSON
from stepless.nodes.function import MODULES_VARIABLE, load_modules
from stepless.runtime.wiring.single_run import read_document

if TYPE_CHECKING:
    from stepless.flow import Remark
    from stepless.model.graph import Graph

DOCUMENT_SUFFIXES = (".yaml", ".yml", ".json")
_INSIDE: Final = ("stepless.runtime", "stepless.adapters", "stepless.api", "stepless.cli")
_NODES: Final = re.compile(rb"""(?:^|[{,])\s*["']?nodes["']?\s*:""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """A document with its file. `text` is kept to find the lines of findings. Of a workflow in Python the file is its module,
    `text` is empty, `remarks` are the compiler's warnings, and `graph` is that of the document."""

    file: str
    text: str
    document: Mapping[str, JSON]
    remarks: tuple[Remark, ...] = ()
    graph: Graph | None = None

    @property
    def is_flow(self) -> bool:
        """Whether the document was compiled from this file."""
        return self.file.endswith(".py")


class Refused(DocumentRefused):
    """A document was refused; `file` and `text` are where it came from."""

    def __init__(self, error: DocumentRefused, file: str, text: str) -> None:
        super().__init__(error.findings)
        self.file = file
        self.text = text


def read_source(path: str | os.PathLike[str]) -> Source:
    """Returns a document from a file. Raises `Refused` if the file is not a document, `InvalidRequest` if it cannot be read."""
    data = read_document(path)
    text = data.decode("utf-8", "replace")
    file = os.fspath(path)
    try:
        return Source(file, text, parse(data, syntax="json" if file.endswith(".json") else None))
    except DocumentRefused as error:
        raise Refused(error, file, text) from error


def documents_in(folder: Path) -> list[Path]:
    """Returns the documents of a folder and its subfolders, by path. Other YAML and JSON files are ignored. Raises
    `InvalidRequest` (folder_too_large)."""
    return [path for path in sorted(files_in(folder, DOCUMENT_SUFFIXES)) if path.is_file() and _is_meant_as_workflow(path)]


def _is_meant_as_workflow(path: Path) -> bool:
    """Whether a file has `nodes`, or an `id` and a key that resembles `nodes`. In a file with a syntax error, a key `nodes` is
    enough, so that the error is reported."""
    with path.open("rb") as file:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    if b"node" not in data.lower():
        return False
    try:
        document = parse(data, syntax="json" if path.suffix == ".json" else None)
    except DocumentRefused:
        return _NODES.search(data) is not None
    return "nodes" in document or ("id" in document and any(did_you_mean(key, ("nodes",)) for key in document))


def read_inputs(text: str | None, place: str = "-i") -> JSON:
    """Returns the value of `-i` (or of the option in `place`): JSON, `@file`, or `-` for standard input; an empty object without
    it. Raises `InvalidRequest`."""
    if text is None:
        return {}
    if text == "-":
        text, place = sys.stdin.read(MAX_INPUT_BYTES + 1), "standard input"
    elif text.startswith("@"):
        place = text[1:]
        return strict_json(read_document(place), "the file", place=place, mend="give a JSON file in UTF-8")
    mend = "give JSON like '{\"amount\": 40}', @file.json, or - to read standard input"
    return strict_json(text, "this", place=place, mend=mend)


# -- function modules -------------------------------------------------------------------------------------------------


def load_functions(folder: Path | None, modules: str | None, *, subfolders: bool = False) -> bool:
    """Imports the modules that register functions: those of `modules` (comma-separated) and STEPLESS_MODULES, and every Python
    file of `folder` that imports Stepless. With `subfolders` also those of its subfolders, as modules of packages:
    `orders/steps.py` is `orders.steps`, as it is on AWS. Returns whether there was any. Raises `ConfigError` with file and
    line."""
    if modules:
        place_on_path(Path.cwd())
        load_modules(modules.split(","))
    load_modules()
    files = _modules_of(folder, subfolders=subfolders) if folder is not None else []
    for path in files:
        load_file(path, folder if subfolders else None)
    return bool(modules or files or os.environ.get(MODULES_VARIABLE))


def _modules_of(folder: Path, *, subfolders: bool) -> list[Path]:
    files = sorted(files_in(folder, (".py",)) if subfolders else folder.glob("*.py"))
    return [path for path in files if registers_functions(path) and (path.parent == folder or not _is_part_of_a_deployment(path))]


def _is_part_of_a_deployment(path: Path) -> bool:
    """Whether a file imports the inside of Stepless, as the Lambda functions of a project do: it is no module of an author."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return False  # its import reports what is wrong
    return any(name.startswith(_INSIDE) for node in tree.body for name in _imported(node))


def place_on_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def registers_functions(path: Path) -> bool:
    """Returns whether a file imports Stepless. Other Python files of the folder (a setup script, tests) are ignored."""
    if path.name.startswith(("test_", "conftest")):
        return False
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return b"stepless" in path.read_bytes()  # its import reports what is wrong
    except OSError:
        return False
    return any(name.split(".")[0] == "stepless" for node in tree.body for name in _imported(node))


def imports_flows(path: Path) -> bool:
    """Returns whether a Python file may have workflows: it imports `stepless.flow` and decorates a coroutine with a `workflow`.
    One with a syntax error may, too, if it has both words: its import reports the error."""
    if path.name.startswith(("test_", "conftest")):
        return False
    try:
        data = path.read_bytes()
    except OSError:
        return False
    if b"stepless" not in data or b"workflow" not in data:
        return False
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return True
    names = {alias.asname or alias.name for node in ast.walk(tree) for alias in _aliases_of_flow(node)}
    return any(_is_decorated(node, names) for node in ast.walk(tree))


def _aliases_of_flow(node: ast.AST) -> Iterable[ast.alias]:
    """The names under which a statement imports `workflow`, or a module that has it."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "stepless":
        return [alias for alias in node.names if alias.name in ("workflow", "flow")]
    if isinstance(node, ast.Import):
        return [alias if alias.asname else ast.alias("stepless") for alias in node.names if alias.name == "stepless.flow"]
    return ()


def _is_decorated(node: ast.AST, names: Collection[str]) -> bool:
    """Whether a coroutine has a decorator `NAME(…)` or `NAME.….workflow(…)`."""
    if not isinstance(node, ast.AsyncFunctionDef):
        return False
    called = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(ast.unparse(each).partition(".")[0] in names for each in called)


def _imported(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def load_file(path: Path, root: Path | None = None) -> ModuleType:
    """Imports a Python file, unless it was imported under some name: as a module of `root`, or else of its own folder. Raises
    `ConfigError` with file and line."""
    path = path.resolve()
    if (loaded := _loaded_from(path)) is not None:
        return loaded
    root = root.resolve() if root is not None and path.is_relative_to(root.resolve()) else path.parent
    parts = path.relative_to(root).with_suffix("").parts
    name = ".".join(parts)
    if any("." in part for part in parts[:-1]):
        message = "the file cannot be imported: the name of its folder has a dot"
        raise ConfigError(message, code="module_not_loaded", place=str(path), mend="rename the folder")
    if name in sys.modules:
        message = f"another module named {name} is already loaded"
        raise ConfigError(message, code="module_not_loaded", place=str(path), mend="rename the file")
    place_on_path(root)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # SystemExit: a script that calls exit()
        mend = "fix the file, or install what it imports"
        message = f"the file cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(message, code="module_not_loaded", place=_place(error, path), mend=mend) from error


def _loaded_from(path: Path) -> ModuleType | None:
    """The module that was imported from a file."""
    for module in list(sys.modules.values()):
        known = getattr(module, "__file__", None)
        if known and known.endswith(path.name) and Path(known).resolve() == path:
            return module
    return None


def _place(error: BaseException, path: Path) -> str:
    """The file and line at which an import failed."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{error.filename or path}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)
