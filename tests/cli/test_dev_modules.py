"""Which modules `stepless dev` treats as the author's own, and how it loads them again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stepless.cli.dev.modules import Modules
from stepless.errors import ConfigError
from stepless.nodes.function import names
from stepless.nodes.function.registry import find

Write = Callable[[str, str], str]
OWN = "from stepless import function\n\n@function('dev_modules.{0}')\ndef {0}() -> int:\n    return {1}\n"


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    """Nothing of it stays after a test."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("dev_modules_"):
            del sys.modules[name]


def value(name: str) -> object:
    return find(f"dev_modules.{name}").callable()


def test_a_folder_with_an_environment_in_it_owns_its_own_files_alone(write: Write, tmp_path: Path) -> None:
    for place in (".venv/lib/site-packages", "lib/site-packages"):
        (tmp_path / place).mkdir(parents=True)
        write(f"{place}/dev_modules_{place[0].strip('.') or 'v'}.py", "X = 1\n")
        sys.path.append(str(tmp_path / place))
    write("dev_modules_own.py", "import dev_modules_v, dev_modules_l\n" + OWN.format("own", 1))
    modules = Modules(tmp_path, None)
    modules.load()
    assert {"dev_modules_own", "dev_modules_v", "dev_modules_l"} <= set(sys.modules)
    assert [Path(path).name for path in modules.files()] == ["dev_modules_own.py"]


def test_modules_that_are_named_are_own_wherever_they_are(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "else").mkdir()
    write("else/dev_modules_named.py", OWN.format("named", 1))
    monkeypatch.syspath_prepend(str(tmp_path / "else"))
    (tmp_path / "flows").mkdir()
    modules = Modules(tmp_path / "flows", "dev_modules_named")
    modules.load_named()
    assert [Path(path).name for path in modules.files()] == ["dev_modules_named.py"] and value("named") == 1


def test_loading_again_takes_what_is_new_and_forgets_what_is_gone(write: Write, tmp_path: Path) -> None:
    write("dev_modules_a.py", OWN.format("first", 1))
    modules = Modules(tmp_path, None)
    modules.load()
    under_way = find("dev_modules.first").callable
    others = {name for name in names() if not name.startswith("dev_modules.")}
    write("dev_modules_a.py", OWN.format("second", 22))
    modules.reload()
    assert value("second") == 22 and under_way() == 1
    assert {name for name in names() if name.startswith("dev_modules.")} >= {"dev_modules.second"}
    assert "dev_modules.first" not in names() and others <= names()


def test_what_cannot_be_loaded_leaves_everything_as_it_was(write: Write, tmp_path: Path) -> None:
    write("dev_modules_b.py", OWN.format("stays", 1))
    modules = Modules(tmp_path, None)
    modules.load()
    before = sys.modules["dev_modules_b"]
    write("dev_modules_b.py", OWN.format("comes", 22) + "raise RuntimeError('in the middle')\n")
    with pytest.raises(ConfigError, match=r"in the middle") as refused:
        modules.reload()
    assert refused.value.place.endswith("dev_modules_b.py:6")
    assert value("stays") == 1 and "dev_modules.comes" not in names() and sys.modules["dev_modules_b"] is before


def test_a_script_that_ends_itself_is_no_module(write: Write, tmp_path: Path) -> None:
    write("dev_modules_c.py", "import sys\nimport stepless\nsys.exit(3)\n")
    with pytest.raises(ConfigError, match="SystemExit: 3") as refused:
        Modules(tmp_path, None).load()
    assert refused.value.place.endswith("dev_modules_c.py:3")
