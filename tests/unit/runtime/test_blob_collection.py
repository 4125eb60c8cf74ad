"""`blobs collect`: shared values of former releases are removed when no run names them, over a file of that time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from stepless.adapters.sqlite.run_database import SqliteRunDatabase
from stepless.adapters.system import SystemClock
from stepless.cli import main
from stepless.core.stored.codec import decode_batch
from stepless.limits import COLLECT_STATE_MS
from stepless.ports import Batch, OpenStore, RunFilter
from stepless.runtime.blob_collection import Names, read_names, unnamed
from stepless.runtime.wiring.local import attached

GOLDEN = Path(__file__).parents[2] / "golden" / "1"
Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Runs that release 1 of the format wrote. Its values are stored by their hash alone."""
    return Path(shutil.copy(GOLDEN / "runs.sqlite", tmp_path / "runs.db"))


@pytest.fixture
def runs(file: Path) -> Iterator[OpenStore]:
    opened = SqliteRunDatabase(file).open()
    yield opened
    opened.close()


@pytest.fixture
def say(file: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    def run(*words: str) -> tuple[int, str, str]:
        code = main(["blobs", "collect", *words, "--db", str(file)])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def named_by_run(runs: OpenStore) -> dict[str, set[str]]:
    """The shared values that the logs name, by run."""
    found: dict[str, set[str]] = {}
    for head in runs.store.list_runs(RunFilter(), limit=1000).items:
        events = [event for batch in runs.store.read_log(head.run_id) for event in decode_batch(batch.data, batch.first)]
        keys = {key for event in events for key, _ in event.data.get("blobs", {}).values()}
        if keys:
            found[head.run_id] = keys
    return found


def read_all(runs: OpenStore) -> Names:
    names = Names()
    while not names.over:
        read_names(runs.store, runs.blobs, names)
    return names


def test_what_any_run_names_stays_and_the_rest_goes(runs: OpenStore, say: Say) -> None:
    named = named_by_run(runs)
    assert named and all("/" not in key for keys in named.values() for key in keys), "the file has shared values"
    lost = [runs.blobs.put(f"nothing names {number}".encode()) for number in range(3)]
    own = runs.blobs.put(b"of this release", "run_1")
    code, told, _ = say("--dry-run", "--json")
    assert (code, json.loads(told)["unnamed"], json.loads(told)["removed"]) == (0, 3, False)
    assert all(runs.blobs.get(key) for key in lost)
    assert say("--yes")[0] == 0
    assert [runs.blobs.get(key) for key in lost] == [None] * 3
    assert runs.blobs.get(own) is not None
    assert all(runs.blobs.get(key) is not None for keys in named.values() for key in keys)
    assert json.loads(say("--dry-run", "--json")[1])["unnamed"] == 0


def test_a_value_goes_with_the_last_run_that_names_it(runs: OpenStore, file: Path, say: Say) -> None:
    run_id, keys = next(iter(named_by_run(runs).items()))
    key = min(keys)
    head = runs.store.get_run(run_id)
    assert head is not None
    runs.store.create_run(head._replace(run_id="run_second"))
    for each in runs.store.read_log(run_id):
        runs.store.append("run_second", each)
    service = attached(str(file))
    try:
        service.service.erase(run_id)
        assert say("--yes")[0] == 0
        assert runs.blobs.get(key) is not None, "another run names it"
        service.service.erase("run_second")
        assert say("--yes")[0] == 0
        assert runs.blobs.get(key) is None
    finally:
        service.close()


def test_a_log_that_cannot_be_read_keeps_everything(runs: OpenStore, say: Say) -> None:
    lost = runs.blobs.put(b"nothing names this")
    run_id = runs.store.list_runs(RunFilter(), limit=1).items[0].run_id
    last = runs.store.read_log(run_id)[-1].last
    runs.store.append(run_id, Batch(last + 1, last + 1, b"damaged", 9))
    code, _, complaint = say("--yes")
    assert code == 2 and run_id in complaint and "cannot be read" in complaint
    assert runs.blobs.get(lost) is not None


def test_an_interrupted_command_continues_where_it_was(runs: OpenStore, say: Say, tmp_path: Path) -> None:
    lost, state = runs.blobs.put(b"nothing names this"), tmp_path / "state.json"
    whole, part = read_all(runs), Names()
    read_names(runs.store, runs.blobs, part, runs=4)
    assert not part.over and part.runs == 4
    kept = {**asdict(part), "named": sorted(part.named), "begun_ms": SystemClock().now_ms()}
    state.write_text(json.dumps(kept))  # as the command leaves it when it dies
    code, told, _ = say("--dry-run", "--state", str(state), "--json")
    assert (code, json.loads(told)["runs"], json.loads(told)["named"]) == (0, whole.runs, len(whole.named))
    again = json.loads(state.read_text())
    assert again["over"] and again["begun_ms"] == kept["begun_ms"] and again.keys() == kept.keys()
    code, told, _ = say("--yes", "--state", str(state), "--json")
    assert (code, json.loads(told)["runs"]) == (0, whole.runs)
    assert runs.blobs.get(lost) is None and not state.exists()


def test_a_state_of_yesterday_is_refused(say: Say, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    kept = {"named": [], "runs": 0, "cursor": None, "over": False, "unreadable": []}
    state.write_text(json.dumps({**kept, "begun_ms": SystemClock().now_ms() - COLLECT_STATE_MS - 1}))
    code, _, complaint = say("--yes", "--state", str(state))
    assert code == 2 and "too old" in complaint
    state.write_text("{}")
    assert say("--yes", "--state", str(state))[0] == 2


def test_without_a_word_nothing_is_removed(say: Say, runs: OpenStore) -> None:
    lost = runs.blobs.put(b"nothing names this")
    code, _, complaint = say()
    assert code == 2 and "--dry-run" in complaint and runs.blobs.get(lost) is not None


def test_many_pages_of_values_are_walked(runs: OpenStore) -> None:
    kept = set(read_all(runs).named)
    lost = {runs.blobs.put(str(number).encode()) for number in range(2_500)}
    names = read_all(runs)
    assert {key for page in unnamed(runs.blobs, names) for key in page} == lost - kept
