"""The mutants of `make check-mutants`: each changes one expression, stays Python, and is the same for the same seed. The tests
that are the likeliest to notice it come first, and none is left out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from relevance import order
from source_mutants import mutants

SAMPLES = [  # a line of code, and what may stand there instead
    ("x = a < b", {"x = (a <= b)"}),
    ("x = a is not None", {"x = (a is None)"}),
    ("x = a and not b", {"x = (a or not b)", "x = (a)", "x = a and (b)"}),
    ("x = n + 1", {"x = (n - 1)", "x = n + (2)"}),
    ("x = set.intersection(*sets)", {"x = (set.union(*sets))"}),
    ("x = a | b", {"x = (a & b)"}),
    ("x = f(flag=True)", {"x = f(flag=(False))"}),
    ("x = 'ä' if min(ns) else ''", {"x = 'ä' if (max(ns)) else ''"}),
    ("x: int = y", set()),
    ("x = f'{a < b}'", set()),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), SAMPLES)
def test_a_line_has_these_mutants(line: str, expected: set[str]) -> None:
    assert {one.source for one in mutants(line)} == expected


def test_a_handler_loses_its_last_error() -> None:
    [mutant] = mutants("try:\n    f()\nexcept (KeyError, ValueError) as error:\n    g(error)  # why\n")
    assert mutant.source == "try:\n    f()\nexcept ((KeyError,)) as error:\n    g(error)  # why\n"
    assert (mutant.line, mutant.before) == (3, "(KeyError, ValueError)")


def test_every_mutant_of_a_module_is_python_and_differs(root: Path) -> None:
    source = (root / "engine/stepless/runtime/session/budget.py").read_text()
    found = mutants(source)
    assert len(found) > 10 and found == mutants(source)
    assert len({one.source for one in found} | {source}) == len(found) + 1
    for one in found:
        assert ast.dump(ast.parse(one.source)) != ast.dump(ast.parse(source))
        assert one.source.count("\n") == source.count("\n")


PROJECT = {
    "engine/stepless/errors.py": "",
    "engine/stepless/core/fold.py": "from stepless import errors\n",
    "engine/stepless/core/stored/codec.py": "",
    "engine/stepless/core/stored/formats/json.py": "",
    "engine/stepless/runtime/loop.py": "def late() -> None:\n    from stepless.core.fold import fold\n",
    "engine/stepless/runtime/session/runner.py": "import stepless.runtime.loop\n",
    "tests/unit/core/test_fold.py": "from stepless.core import fold\n",
    "tests/unit/core/test_decide.py": "import pytest\n",
    "tests/unit/core/stored/test_codec.py": "",
    "tests/unit/runtime/test_loop.py": "from stepless.runtime.loop import late\n",
    "tests/unit/runtime/session/test_runner.py": "from stepless.runtime.session.runner import run\n",
    "tests/tools/machine/helper.py": "from stepless.core.fold import fold\n",
    "tests/api/conftest.py": "import helper\n",
    "tests/api/test_door.py": "",
    "tests/house/test_style.py": "from stepless.core.fold import fold\n",
    "tests/docs/test_pages.py": "",
}
NEAREST, ROOM, REACHING = range(3)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def ordered(project: Path, changed: str) -> list[list[str]]:
    return [[one.stem.removeprefix("test_") for one in part] for part in order(project, project / "engine/stepless" / changed)]


def test_the_tests_that_name_a_module_come_first_then_its_room_then_those_that_reach_it(project: Path) -> None:
    assert ordered(project, "core/fold.py") == [["fold"], ["codec", "decide"], ["loop", "door", "runner", "pages"]]


def test_the_tests_of_its_own_folder_count_as_the_nearest(project: Path) -> None:
    found = ordered(project, "core/stored/codec.py")
    assert found[NEAREST] == ["codec"] and set(found[ROOM]) == {"fold", "decide"}
    assert ordered(project, "core/stored/formats/json.py")[NEAREST] == ["codec"]
    found = ordered(project, "runtime/session/runner.py")
    assert found[NEAREST] == ["runner"] and found[ROOM] == ["loop"]


def test_a_module_without_a_room_is_looked_for_in_all_tests(project: Path) -> None:
    assert ordered(project, "errors.py") == [[], [], ["fold", "loop", "door", "runner", "pages", "codec", "decide"]]


@pytest.mark.check
def test_every_test_of_this_project_has_one_place(root: Path) -> None:
    changed = root / "engine/stepless/core/fold.py"
    found = order(root, changed)
    files = [one for one in root.glob("tests/*/**/test_*.py") if "house" not in one.parts]
    assert sorted([*found.nearest, *found.room, *found.reaching]) == sorted(files)
    assert root / "tests/unit/core/test_fold.py" in found.nearest
    assert all("core" in one.parts for one in found.room)
