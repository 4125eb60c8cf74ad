"""Implements `init`: creates a new project: a workflow, its functions, a test, and the files that deploy them."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from stepless.cli.terminal.field_docs import described
from stepless.cli.terminal.formatting import put_json
from stepless.cli.verbs.files.packing import wheel_of
from stepless.compile import json_schema
from stepless.errors import InvalidRequest, StoreUnusable
from stepless.nodes import KINDS
from stepless.runtime import origin

_KEPT: Final = Path(__file__).parents[2] / "project"
_FUNCTIONS: Final = ("api", "runner", "sweeper", "deadletter", "trigger", "sandbox")
_SHARED: Final = ("template.yaml", *(f"functions/{name}/app.py" for name in _FUNCTIONS))  # the engine's own
_DEPLOY: Final = ("__main__", "account", "fingerprint", "samconfig", "values")  # what `make deploy` runs: deploy/ in a project
_ACTION: Final = ".github/actions/publish/action.yml"
_OWN: Final = (
    "README.md", "Makefile", "samconfig.toml", "requirements.txt", "requirements-dev.txt", "pyproject.toml", "gitignore",
    "github.yml", "vscode.json", "workflows/refund.yaml", "workflows/refunds.py", "tests/test_refund.py",
)  # fmt: skip
_IN_PYTHON: Final = ("workflows/refunds.py", "tests/test_refund.py")  # with --python these replace all of both folders
_WHEELS: Final = "wheels"
_RENAMED: Final[Mapping[str, str]] = {
    "gitignore": ".gitignore", "github.yml": ".github/workflows/workflows.yml", "vscode.json": ".vscode/settings.json",
}  # fmt: skip


def init(arguments: argparse.Namespace) -> int:
    """Writes all files of the project, or none: an existing file is never overwritten."""
    folder = Path(arguments.folder)
    files = dict(_files(arguments.python))
    existing = [name for name in files if (folder / name).exists()]
    if existing:
        listed = ", ".join(existing[:3]) + (f" and {len(existing) - 3} more" if len(existing) > 3 else "")
        mend = "give an empty folder, or a new one: `stepless init my-workflows`"
        raise InvalidRequest(f"files already exist: {listed}", code="project_exists", place=str(folder), mend=mend)
    try:
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    except OSError as error:
        message, place = f"the file cannot be written: {error.strerror or error}", str(error.filename or folder)
        raise InvalidRequest(message, code="file_not_written", place=place, mend="check the path") from error
    if arguments.json:
        put_json({"folder": str(folder), "files": sorted(files)})
    else:
        _print_next_steps(folder, sorted(files), _workflow(arguments.python))
    return 0


def _workflow(python: bool) -> str:
    return "workflows/refunds.py" if python else "workflows/refund.yaml"


def _print_next_steps(folder: Path, names: list[str], workflow: str) -> None:
    for name in names:
        print(f"  {folder / name}")
    there = "" if folder == Path() else f"  cd {folder}\n"
    print(f"\nNext steps:\n{there}  pip install -r requirements-dev.txt\n  python -m pytest")
    print(f"  stepless run {workflow} -i '{{\"order_id\": \"A-1\", \"amount\": 400}}'\n  stepless dev workflows")
    print("\nREADME.md describes how to deploy it.")


def _files(python: bool) -> Iterator[tuple[str, bytes]]:
    """Every file as its name in the project and its content. `python` writes the workflow in Python."""
    shared = dict(_shared())
    wheel = _wheel(shared)
    for name in _OWN:
        if python and name.startswith(("workflows/", "tests/")) and name not in _IN_PYTHON:
            continue
        data = _read(_KEPT / "python" / name if python and name in _IN_PYTHON else _KEPT / name)
        if python and name == "README.md":
            data = data.replace(_workflow(False).encode(), _workflow(True).encode())
        if name.startswith("requirements"):
            data = _required(data.decode(), next(iter(wheel), "")).encode()
        yield _RENAMED.get(name, name), data
    yield "workflow.schema.json", (json.dumps(described(json_schema(KINDS)), indent=2) + "\n").encode()
    yield from shared.items()
    yield from wheel.items()


def _shared() -> Iterator[tuple[str, bytes]]:
    """The engine's own files. A wheel packs them; a checkout has them at the top."""
    top = _KEPT if (_KEPT / "template.yaml").exists() else Path(__file__).parents[5]
    for path in (top / "template.yaml", top / _ACTION, *sorted((top / "functions").glob("*/*.py"))):
        yield path.relative_to(top).as_posix(), _read(path)
    for name in _DEPLOY:  # a package has them as texts: pytest takes the modules of its plug-ins' packages for plug-ins
        path = top / "deploy" / f"{name}.txt" if top == _KEPT else top / "infrastructure" / "deploy" / f"{name}.py"
        yield f"deploy/{name}.py", _read(path)


def _wheel(shared: Mapping[str, bytes]) -> dict[str, bytes]:
    """This copy as a wheel inside the project, unless it was installed from a place that other machines can reach. A local path
    works on no other machine, and a package index may have another package of this name."""
    found, where = origin.installed(), origin.place()
    if found is None or (where and not origin.is_local(where)):
        return {}
    kept = {f"{origin.NAME}/cli/project/{_packed(name)}": data for name, data in shared.items()}
    name, data = wheel_of(found, Path(__file__).parents[3], kept)
    return {f"{_WHEELS}/{name}": data}


def _packed(name: str) -> str:
    return name.removesuffix(".py") + ".txt" if name.startswith("deploy/") else name


def _required(text: str, wheel: str) -> str:
    """The requirements with `stepless[EXTRA]` replaced by a source that an installer can find."""
    if wheel:
        return re.sub(r"^stepless(\[\w+\])$", rf"./{wheel}\1", text, flags=re.MULTILINE)
    return re.sub(r"^(stepless\[\w+\])$", lambda line: f"{line[0]} @ {origin.place()}", text, flags=re.MULTILINE)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        mend = "install Stepless again"
        raise StoreUnusable("the installation is incomplete", code="file_not_read", place=str(path), mend=mend) from error
