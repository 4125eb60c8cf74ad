"""`runs erase`: confirmation, dry run, and what it prints."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.fixture
def ended(say: Any, hello: str) -> str:
    assert say("publish", hello)[0] == 0
    code, told, _ = say("start", "hello", "--go", "--json")
    assert code == 0
    return str(json.loads(told)["run_id"])


def test_without_a_terminal_a_run_is_erased_only_with_yes(say: Any, ended: str) -> None:
    code, told, complaint = say("runs", "erase", ended)
    assert code == 2 and "--yes" in complaint and told == ""
    assert say("runs", "show", ended)[0] == 0
    assert say("runs", "erase", ended, "--yes")[0] == 0
    code, _, complaint = say("runs", "show", ended)
    assert code == 2 and "was erased" in complaint


def test_a_dry_run_erases_nothing_and_names_what_stays(say: Any, ended: str) -> None:
    code, told, _ = say("runs", "rerun", ended, "--json")
    again = json.loads(told)["run_id"]
    code, told, _ = say("runs", "erase", ended, "--dry-run")
    assert code == 0 and "would be erased" in told and f"Reruns that stay: {again}" in told
    assert say("runs", "show", ended)[0] == 0
    code, told, _ = say("runs", "erase", ended, "--yes", "--json")
    assert (code, json.loads(told)["reruns"]) == (0, [again])
    code, _, complaint = say("runs", "erase", again, "--yes")
    assert code == 2 and "has not ended" in complaint


def test_force_is_passed_on(say: Any, ended: str) -> None:
    assert say("runs", "erase", ended, "--dry-run", "--force")[0] == 0
    assert say("runs", "erase", ended, "--yes", "--force")[0] == 0
    assert say("runs", "show", ended)[0] == 2
