"""The examples from which a workflow is begun in the console."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepless.compile import compile_document, parse
from stepless.compile.compiler import check_document
from stepless.nodes import KINDS

FOLDER = Path(__file__).resolve().parents[2] / "console/src/source/examples"
EXAMPLES = sorted(FOLDER.glob("*.yaml"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_published_as_it_is(path: Path) -> None:
    document = parse(path.read_text())
    assert list(check_document(document, KINDS)) == []
    assert compile_document(document, KINDS)
