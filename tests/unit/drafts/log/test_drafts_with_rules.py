"""Drafts with the real rules: people at several processes, checkpoints in between, and openings from what is stored."""

from __future__ import annotations

from random import Random

import pytest
from edits import Editor
from invariants import faults
from world import START, canonical

from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.log.records import Storage
from stepless.drafts.log.rules_adapter import Origin, Rules, typed
from stepless.drafts.rules.document import to_document
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.requests import EditRequest
from stepless.drafts.rules.state import Entities, snapshot
from stepless.ports import Draft

WF = Draft("w", 1)


def rules() -> Rules:
    return Rules(lambda workflow_id, origin: Origin(START if origin == {"version": 1} else {}), lambda type_: type_ == "loop")


class Person:
    """Edits over what this person has read so far."""

    def __init__(self, name: str, process: DraftLogs[Entities], rng: Random, first_letter: int) -> None:
        self.name = name
        self.process = process
        self._rng = rng
        self._editor = Editor(rng, first_letter)
        self._view = Entities(dict(rules().origin(WF, {"version": 1})))
        self._seq, self._n = 0, 0

    def read(self) -> None:
        for item in self.process.entries(WF, self._seq, self._rng.randrange(1, 9)):
            apply(self._view, typed(item).effects)
            self._seq = item.seq

    def edit(self) -> None:
        operation = self._editor.operation(self._view)
        if operation is not None:
            self._n += 1
            request = EditRequest(self.name, self._n, f"{self.name}-{self._n}", self._seq, [operation])
            made = self.process.commit(WF, request, self.name)
            assert isinstance(made, LogEntry), made
            while self._seq < made.seq:
                self.read()


@pytest.mark.parametrize("seed", range(12))
def test_every_process_and_every_opening_has_what_the_log_says(storage: Storage, drafts: MemoryDrafts, seed: int) -> None:
    rng = Random(seed)
    processes = [DraftLogs(storage, rules()) for _ in range(3)]
    processes[0].open("w", {"version": 1}, "ada")
    people = [Person(f"p{number}", rng.choice(processes), rng, 0x1000 + 0x400 * number) for number in range(4)]
    for _ in range(60):
        person = rng.choice(people)
        rng.choice([person.read, person.edit, person.edit])()
        if rng.random() < 0.15:
            rng.choice(processes).checkpoint("w")
        if rng.random() < 0.05:
            person.process = DraftLogs(storage, rules())
    expected = Entities(dict(rules().origin(WF, {"version": 1})))
    items = [item for after in (0, 500) for item in processes[0].entries(WF, after, 500)]
    assert len(items) > 20
    for item in items:
        apply(expected, typed(item).effects)
    wanted = canonical(snapshot(expected))
    assert not list(faults(expected))
    for process in (*processes, DraftLogs(storage, rules())):
        assert canonical(snapshot(process.current("w").state)) == wanted
    head = processes[0].head("w")
    assert head.checked > 0
    assert canonical(snapshot(processes[0].state_at(head, len(items)))) == wanted


def test_a_draft_that_was_opened_and_not_edited_is_its_document(storage: Storage) -> None:
    process = DraftLogs(storage, rules())
    process.open("w", {"version": 1}, "ada")
    assert canonical(to_document(snapshot(process.current("w").state))) == canonical(START)
