"""A process that dies while a file comes into a draft: the next one that reads the file ends what it began."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from stepless.compile import parse
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.operations.bases import read_base
from stepless.drafts.operations.merging import Came, conflicts, settle, take_in
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.rules.state import prefix_of
from stepless.ports import Draft
from stepless.runtime.wiring.local import Local, local

TEXT = "id: w\nname: Ours\nnodes:\n  a: {type: manual}\n  b: {type: transform, after: a, with: {value: 1}}\n"
THEIRS = TEXT.replace("Ours", "Theirs").replace("value: 1", "value: 9")
CAME = Came(None, "w.yaml", parse(THEIRS), THEIRS, 0)
WRITES = ("append_op", "move_base")


class Death(BaseException):
    """The process is gone."""


class Dying:
    """The port of a process that dies at one of its writes, before or after it took effect. None: it lives."""

    def __init__(self, drafts: Any, at: int | None, after: bool) -> None:
        self._drafts = drafts
        self._at = at
        self._after = after
        self.writes: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._drafts, name)
        if name not in WRITES:
            return method

        def call(*given: Any) -> Any:
            self.writes.append(name)
            dies = len(self.writes) == self._at
            if dies and not self._after:
                raise Death
            made = method(*given)
            if dies:
                raise Death
            return made

        return call


@pytest.fixture
def made() -> Iterator[Local]:
    built = local(None)
    yield built
    built.close()


def process(made: Local, at: int | None = None, after: bool = False) -> tuple[DraftVerbs, Dying]:
    """A process over the same storage."""
    port: Any = Dying(made.world.drafts, at, after)
    return DraftVerbs(replace(made.world, drafts=port)), port


def opened(made: Local) -> str:
    """A draft in which a person has changed what the file will change, too. Returns the key of the block."""
    verbs, _ = process(made)
    verbs.open_document("w", parse(TEXT), TEXT, "ada")
    state = verbs.at("w").state
    key = next(key for key in state if prefix_of(key) == "block" and (state.get(key) or {})["id"] == "b")
    operations: Any = [{"writes": [["set", key, ["with", "value"], 5]]}]
    message = {"client": "c", "n": 1, "tag": "t", "base": 0, "gestures": operations}
    assert isinstance(verbs.submit(Draft("w", 1), message, "ada"), LogEntry)
    return key


def check(made: Local, key: str) -> None:
    """The file came in once: its name is taken, its value is a conflict, and it is the base."""
    verbs, _ = process(made)
    at, found = conflicts(verbs, "w")
    assert [(one["key"], one["base"], one["draft"], one["file"]) for one in found] == [(key, 1, 5, 9)]
    assert (at.state.get("doc") or {})["name"] == "Theirs" and at.seq == 2
    base = read_base(verbs, at.head)
    assert (base.file, base.text, base.seq) == ("w.yaml", THEIRS, 2)


def writes_of(made: Local) -> list[str]:
    opened(made)
    verbs, port = process(made)
    take_in(verbs, "w", CAME)
    return port.writes


def test_a_file_comes_in_by_an_item_and_then_a_base(made: Local) -> None:
    assert writes_of(made) == ["append_op", "move_base"]


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("at", [1, 2], ids=WRITES)
def test_who_reads_the_file_again_ends_what_a_dead_process_began(made: Local, at: int, after: bool) -> None:
    key = opened(made)
    dead, _ = process(made, at, after)
    with pytest.raises(Death):
        take_in(dead, "w", CAME)
    for _ in range(2):
        take_in(process(made)[0], "w", CAME)
        check(made, key)


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
def test_a_conflict_whose_decision_was_cut_off_is_open_or_decided(made: Local, after: bool) -> None:
    key = opened(made)
    take_in(process(made)[0], "w", CAME)
    dead, _ = process(made, 1, after)
    with pytest.raises(Death):
        settle(dead, "w", key, ["with", "value"], "draft")
    verbs, _ = process(made)
    assert len(conflicts(verbs, "w")[1]) == (0 if after else 1)
    if not after:
        settle(verbs, "w", key, ["with", "value"], "draft")
    at, left = conflicts(verbs, "w")
    assert not left and (at.state.get(key) or {})["with"]["value"] == 5
