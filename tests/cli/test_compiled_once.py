"""A workflow is compiled once for each publication: its source, and the document that it became."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from called_code import counted
from flow_files import REFUND, of

from stepless.cli import main
from stepless.cli.dev.folder import Folder
from stepless.cli.dev.modules import Modules
from stepless.compile import compiler
from stepless.compile.stored import compile_stored
from stepless.flow.compiler.compiler import compile_function
from stepless.runtime.wiring.local import Local, local

Write = Callable[[str, str], str]
SOURCE, DOCUMENT, STORED = "the source", "the document", "what is stored"
COMPILERS = {SOURCE: compile_function, DOCUMENT: compiler._check, STORED: compile_stored}
HOOK = {"type": "webhook", "with": {"path": "/once", "auth": "none"}}


@pytest.fixture
def built() -> Iterator[Local]:
    made = local(None)
    yield made
    made.close()


def test_a_folder_compiles_each_workflow_in_python_once(
    write: Write, tmp_path: Path, built: Local
) -> None:
    source = of(REFUND, "co_folder")
    write("co_folder.py", source)
    modules = Modules(tmp_path, None)
    modules.load()
    folder = Folder(tmp_path, modules, built.service, 900)
    with counted(COMPILERS) as compiled:
        folder.publish_all()
    assert compiled == {SOURCE: 1, DOCUMENT: 1} and [served.number for served in folder.served] == [1]
    write("co_folder.py", source.replace("    receipt = await", '    await pay("first")\n    receipt = await', 1))
    modules.reload()
    with counted(COMPILERS) as compiled:
        folder.publish_all()  # its nodes keep the ids that they had
    assert compiled == {SOURCE: 1, DOCUMENT: 1} and [served.number for served in folder.served] == [2]


def test_the_command_that_publishes_compiles_it_once(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STEPLESS_URL", raising=False)
    path = write("co_publish.py", of(REFUND, "co_publish"))
    for _ in range(2):
        with counted(COMPILERS) as compiled:
            assert main(["publish", path, "--db", str(tmp_path / "runs.db")]) == 0
        assert compiled == {SOURCE: 1, DOCUMENT: 1}  # what it is sent to compiles the document in a thread of its own


def test_a_run_of_a_file_compiles_it_once_before_it_begins(write: Write) -> None:
    path = write("co_run.py", of(REFUND, "co_run"))
    with counted(COMPILERS) as compiled:
        assert main(["run", path, "-i", '{"id": "A-1", "amount": 4}']) == 0
    assert compiled[SOURCE] == 1 and compiled[DOCUMENT] == 1


def test_a_document_is_compiled_once_and_the_former_version_not_at_all(built: Local) -> None:
    for number in (1, 2):
        with counted(COMPILERS) as compiled:
            published = built.service.publish({"id": "once", "name": f"Version {number}", "nodes": {"hook": HOOK}})
        assert compiled == {DOCUMENT: 1} and published.version.number == number
