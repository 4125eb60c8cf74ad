"""The words of docs/understand/glossary.md bind the code: a word that the glossary has replaced is no name in it.

A name is read word by word: `read_intent` has `read` and `intent`. Only definitions and uses in code count; wire names in texts
stay what they are, since clients and stored records have them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

REPLACED = {
    "gesture": "operation", "gestures": "operations", "intent": "request", "intents": "requests",
    "room": "session, space, prefix or package", "rooms": "sessions",
    "judge": "validate", "judged": "validated", "judging": "validation",
    "crossed": "transformed", "crossing": "transformation",
    "mended": "fixed", "mending": "fix", "mends": "fixes",
    "sight": "readable names", "wholeness": "invariants", "digesting": "summaries", "remembering": "cache",
}  # fmt: skip
WIRE_NAMES = {
    "MAX_INTENT_BYTES", "MAX_INTENT_WRITES", "MAX_CROSSED_PAIRS",  # limits, whose names the console shares
    "MAX_ROOM_PEOPLE", "MAX_ROOM_OPS_PER_S", "MAX_AWS_ROOM_OPS_PER_S", "MAX_AWS_ROOM_PRESENCE_PER_S",
    "GesturesOut", "gestures",  # a schema of /openapi.json and its field
}  # fmt: skip
CODES = {"gesture_too_large"}  # which the console has as keys of a table
MODULES = {
    "beside", "known", "standing", "sharing", "holding", "described", "remembered", "nearest", "relatives", "resting", "cross",
    "here", "there", "planned", "complaints", "showing", "acting", "collecting", "delivering", "comparing",
    "passing", "imported", "soundness", "applicability",
}  # fmt: skip
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
ANY_REPLACED = re.compile("|".join(REPLACED), re.IGNORECASE)
TYPESCRIPT_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', re.DOTALL)  # texts and comments, which define no names
TYPESCRIPT_NAME = re.compile(r"[A-Za-z_$][\w$]*")


def words(name: str) -> set[str]:
    return {word.lower() for word in WORD.findall(name)}


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that code defines or uses, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield node.lineno, name
            case ast.alias(name=name, asname=other):
                yield node.lineno, other or name.rpartition(".")[2]


def faults(path: PurePosixPath, text: str) -> list[str]:
    found = {f"{path}: the module has the word {word!r}" for word in (REPLACED.keys() | MODULES) & words(path.stem)}
    tree = ast.parse(text) if ANY_REPLACED.search(text) else ast.Module([], [])  # parsing every file takes seconds
    for line, name in names(tree):
        if name not in WIRE_NAMES:
            for word in REPLACED.keys() & words(name):
                found.add(f"{path}:{line}: {name}: the glossary says {REPLACED[word]}, not {word}")
    return sorted(found)


def faults_of_typescript(path: PurePosixPath, text: str) -> list[str]:
    found = {f"{path}: the module has the word {word!r}" for word in REPLACED.keys() & words(path.stem)}
    for name in set(TYPESCRIPT_NAME.findall(TYPESCRIPT_TEXT.sub("", text))) - WIRE_NAMES - CODES:
        found |= {f"{path}: {name}: the glossary says {REPLACED[word]}, not {word}" for word in REPLACED.keys() & words(name)}
    return sorted(found)


def test_the_console_has_the_words_of_the_glossary(root: Path) -> None:
    source = root / "console" / "src"
    files = [file for file in source.rglob("*.ts*") if file.name not in ("contract.ts", "tables.ts")]  # those are generated
    assert len(files) > 200
    texts = {PurePosixPath(file.relative_to(root)): file.read_text("utf-8") for file in files}
    found = [fault for path, text in texts.items() for fault in faults_of_typescript(path, text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text", ["class Room {}", "const gestureRead = 1;", "open(room.session); // room", "`${intent.n}`"])
def test_a_replaced_word_of_the_console_is_found(text: str) -> None:
    path = PurePosixPath("console/src/editing/fold.ts")
    assert len(faults_of_typescript(path, text)) == 1
    assert faults_of_typescript(path, '"a room"; // a gesture\n/* an intent */ const mushroom = MAX_INTENT_BYTES;') == []


def test_the_engine_has_the_words_of_the_glossary(root: Path, files: list[Path]) -> None:
    paths = [(file, PurePosixPath(file.relative_to(root).as_posix())) for file in files if file.suffix == ".py"]
    code = [(file, path) for file, path in paths if path.parts[0] in ("engine", "functions")]
    assert len(code) > 500
    found = [fault for file, path in code for fault in faults(path, file.read_text("utf-8"))]
    assert not found, "\n".join(found)


REFUSED = (
    "def read_intent(): ...", "class Room: ...", "gesture = 1", "f(rooms=2)", "x.judged", "from a import crossing",
    "def f(room): ...",
)  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_replaced_word_is_found(text: str) -> None:
    assert len(faults(PurePosixPath("engine/stepless/core/fold.py"), text)) == 1


@pytest.mark.parametrize("text", ["{'gestures': 1}['room']", "from limits import MAX_INTENT_BYTES", "mushroom = intention = 1"])
def test_wire_names_pass(text: str) -> None:
    assert faults(PurePosixPath("engine/stepless/core/fold.py"), text) == []


def test_a_module_is_not_named_by_a_replaced_word() -> None:
    assert len(faults(PurePosixPath("engine/stepless/flow/beside.py"), "")) == 1


def test_no_wire_name_is_left_over(root: Path, files: list[Path]) -> None:
    code = [file for file in files if file.suffix == ".py" and file.relative_to(root).parts[0] == "engine"]
    texts = [text for file in code if any(name in (text := file.read_text("utf-8")) for name in WIRE_NAMES)]
    used = {name for text in texts for _, name in names(ast.parse(text))}
    assert used >= WIRE_NAMES
