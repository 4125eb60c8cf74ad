"""`init`: a project to begin with: a workflow, its functions, a test, and what deploys them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from stepless.cli.showing import put_json
from stepless.errors import InvalidRequest, StoreUnusable

_KEPT: Final = Path(__file__).with_name("project")
_FUNCTIONS: Final = ("api", "runner", "sweeper", "deadletter", "trigger", "sandbox")
_SHARED: Final = ("template.yaml", *(f"functions/{name}/app.py" for name in _FUNCTIONS))  # the engine's own
_OWN: Final = (
    "README.md", "Makefile", "samconfig.toml", "requirements.txt", "requirements-dev.txt", "pyproject.toml", "gitignore",
    "workflows/refund.yaml", "workflows/refunds.py", "tests/test_refund.py",
)  # fmt: skip
_RENAMED: Final[Mapping[str, str]] = {"gitignore": ".gitignore"}


def init(arguments: argparse.Namespace) -> int:
    """Writes the project, or nothing: a file that is there already is never touched."""
    folder = Path(arguments.folder)
    files = dict(_files())
    standing = [name for name in files if (folder / name).exists()]
    if standing:
        told = ", ".join(standing[:3]) + (f" and {len(standing) - 3} more" if len(standing) > 3 else "")
        mend = "give an empty folder, or a new one: `stepless init my-workflows`"
        raise InvalidRequest(f"there are files already: {told}", code="project_exists", place=str(folder), mend=mend)
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        message, place = f"it cannot be written: {error.strerror or error}", str(error.filename or folder)
        raise InvalidRequest(message, code="file_not_written", place=place, mend="check the path") from error
    if arguments.json:
        put_json({"folder": str(folder), "files": sorted(files)})
    else:
        _tell(folder, sorted(files))
    return 0


def _tell(folder: Path, names: list[str]) -> None:
    for name in names:
        print(f"  {folder / name}")
    there = "" if folder == Path() else f"  cd {folder}\n"
    print(f"\nNow:\n{there}  pip install -r requirements-dev.txt\n  python -m pytest")
    print("  stepless run workflows/refund.yaml -i '{\"order_id\": \"A-1\", \"amount\": 400}'\n  stepless dev workflows")
    print("\nREADME.md says how to deploy it.")


def _files() -> Iterator[tuple[str, str]]:
    """Every file with its content, by its name in the project."""
    for name in _OWN:
        text = _read(_KEPT / name)
        yield _RENAMED.get(name, name), text.replace("{version}", _version()) if name.startswith("requirements") else text
    # The engine's own: packed into the wheel; in a checkout they lie at the top.
    shared = _KEPT if (_KEPT / "template.yaml").exists() else Path(__file__).parents[3]
    for path in (shared / "template.yaml", *sorted((shared / "functions").glob("*/*.py"))):
        yield path.relative_to(shared).as_posix(), _read(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        mend = "install Stepless again"
        raise StoreUnusable("the installation is incomplete", code="file_not_read", place=str(path), mend=mend) from error


def _version() -> str:
    try:
        return version("stepless")
    except PackageNotFoundError:  # run from its source, without being installed
        return "0.1.0"
