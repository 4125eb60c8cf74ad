"""A folder with subfolders is read whole: by `stepless dev`, `validate` and `publish`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stepless.cli import main
from stepless.cli.reach.files import documents_in
from stepless.cli.reach.tree import files_in, tree
from stepless.errors import InvalidRequest
from stepless.limits import MAX_SOURCE_FOLDER_DEPTH, MAX_SOURCE_FOLDERS
from stepless.nodes.function import replacing_registrations

Serve = Callable[..., Any]

CALLS = """
id: {id}
nodes:
  start: {{type: manual}}
  call: {{type: function, after: start, with: {{call: {call}}}}}
"""
STEPS = """
from stepless import function
from sub_words import WORD

@function("{name}")
def word() -> str:
    return WORD
"""


@pytest.fixture(autouse=True)
def _unloads_modules() -> Iterator[None]:
    """Removes the modules and registrations of a test after it."""
    before, path = set(sys.modules), list(sys.path)
    with replacing_registrations({}):
        yield
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("orders", "refunds", "sub_words", "sub_flows"):
            del sys.modules[name]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two subfolders with modules of one name, and folders that hold no source of the author."""
    texts = {
        "sub_words.py": 'WORD = "said"\n',
        "top.yaml": CALLS.format(id="top", call="orders.word"),
        "orders/order.yaml": CALLS.format(id="order", call="orders.word"),
        "orders/steps.py": STEPS.format(name="orders.word"),
        "refunds/deep/refund.yaml": CALLS.format(id="refund", call="refunds.word"),
        "refunds/steps.py": STEPS.format(name="refunds.word"),
        ".hidden/hidden.yaml": CALLS.format(id="hidden", call="no.such"),
        "node_modules/package/flow.yaml": CALLS.format(id="package", call="no.such"),
        "venv/pyvenv.cfg": "home = /usr",
        "venv/lib/flow.yaml": CALLS.format(id="installed", call="no.such"),
        "functions/api/app.py": "from stepless.runtime.wiring.aws import nothing_of_this_name\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def names(folder: Path, paths: list[Path]) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in paths]


def test_validate_reads_every_subfolder(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(project)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{project}/{name}: fine" for name in ("orders/order.yaml", "refunds/deep/refund.yaml", "top.yaml")]


def test_a_fault_in_a_subfolder_is_told_with_its_path(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "orders" / "order.yaml").write_text(CALLS.format(id="order", call="orders.wrod"))
    assert main(["validate", str(project)]) == 2
    assert f"{project}/orders/order.yaml:5: error: no function is registered as `orders.wrod`" in capsys.readouterr().err


def test_publish_publishes_every_subfolder(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", str(project), "--db", str(tmp_path / "a.db")]) == 0
    said = capsys.readouterr().out
    assert [name for name in ("order", "refund", "top") if f"{name} " not in said] == []


def test_dev_serves_and_watches_every_subfolder(project: Path, serve: Serve) -> None:
    dev = serve()
    assert sorted(each["id"] for each in dev.client.get("/workflows").json()["workflows"]) == ["order", "refund", "top"]
    started = dev.client.post("/workflows/refund/runs", json={}, headers={"Prefer": "wait=20"}).json()
    assert started["outcome"]["outputs"] == {"call": "said"}
    later = project / "orders" / "later"
    later.mkdir()
    (later / "late.yaml").write_text(CALLS.format(id="late", call="orders.word"))
    assert "late published as version 1" in dev.child.until("published as")
    (project / "sub_words.py").write_text('WORD = "changed"\n')
    dev.child.until("loaded again")
    started = dev.client.post("/workflows/late/runs", json={}, headers={"Prefer": "wait=20"}).json()
    assert started["outcome"]["outputs"] == {"call": "changed"}


def test_folders_without_sources_of_the_author_are_left_out(project: Path) -> None:
    (project / "again").symlink_to(project)
    (project / "link.yaml").symlink_to(project / "top.yaml")
    expected = ["link.yaml", "orders/order.yaml", "refunds/deep/refund.yaml", "top.yaml"]
    assert names(project, documents_in(project)) == expected


def test_a_folder_of_too_many_folders_is_refused(tmp_path: Path) -> None:
    for number in range(MAX_SOURCE_FOLDERS - 1):
        (tmp_path / f"f{number:04}").mkdir()
    assert tree(tmp_path, (".yaml",)).unread is None
    (tmp_path / "last").mkdir()
    with pytest.raises(InvalidRequest) as refused:
        files_in(tmp_path, (".yaml",))
    assert (refused.value.code, refused.value.place) == ("folder_too_large", os.fspath(tmp_path / "last"))


def test_a_folder_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    deepest = tmp_path.joinpath(*["d"] * MAX_SOURCE_FOLDER_DEPTH)
    deepest.mkdir(parents=True)
    (deepest / "a.yaml").write_text("id: a\nnodes: {}\n")
    assert files_in(tmp_path, (".yaml",)) == [deepest / "a.yaml"]
    (deepest / "d").mkdir()
    with pytest.raises(InvalidRequest, match="inside each other"):
        files_in(tmp_path, (".yaml",))
