"""API keys and signing keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import PATIENCE_S, ROOT

from stepless.cli import main
from stepless.cli.verbs.admin.api_keys import rotated_text
from stepless.errors import InvalidRequest
from stepless.limits import MAX_SIGNING_KEYS
from stepless.ports import Message
from stepless.runtime.access.tokens import Claims, Signer, parse_keys
from stepless.runtime.wiring.local import attached, local

Say = Callable[..., tuple[int, str, str]]
CLAIMS = Claims("run_1", "boss", 2**50)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = str(tmp_path / "runs.db")
    local(path).close()
    return path


@pytest.fixture
def say(file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    monkeypatch.delenv("STEPLESS_URL", raising=False)

    def run(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--db", file])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_a_key_is_made_listed_rotated_and_revoked(say: Say) -> None:
    made = json.loads(say("keys", "create", "shop", "--role", "run", "--role", "approve", "--json")[1])
    assert made["roles"] == ["approve", "run"] and made["secret"].startswith("slk_")
    told = say("keys", "list")[1]
    assert made["id"] in told and "never" in told and made["secret"] not in told
    _, told, _ = say("keys", "rotate", made["id"])
    assert "slk_" in told and made["secret"] not in told and "old secret" in told
    assert "is revoked" in say("keys", "revoke", made["id"])[1]
    assert say("keys", "list", "--json")[1] == ""
    code, _, complaint = say("keys", "revoke", made["id"])
    assert code == 2 and "[unknown_key]" in complaint


def test_rotating_asks_which_key_is_meant(say: Say) -> None:
    for words in ([], ["key_1", "--signing"]):
        code, _, complaint = say("keys", "rotate", *words)
        assert code == 2 and "`keys rotate --signing` for the key that signs links" in complaint


def test_links_of_an_older_signing_key_stay_valid(say: Say, file: str) -> None:
    tokens = []
    for _ in range(MAX_SIGNING_KEYS):
        built = attached(file)
        tokens.append(built.service.signer.sign(CLAIMS))
        built.close()
        code, told, _ = say("keys", "rotate", "--signing", "--json")
        assert code == 0 and json.loads(told)["signs"] == json.loads(told)["opens"][0]
    built = attached(file)
    try:
        assert all(built.service.signer.verify(token, 0) == CLAIMS for token in tokens[1:])
        assert built.service.signer.sign(CLAIMS) not in tokens
        with pytest.raises(Exception, match="not valid"):  # the oldest was dropped
            built.service.signer.verify(tokens[0], 0)
    finally:
        built.close()


@pytest.mark.parametrize("kept", ['{"first": "abc"}', "first:abc"])
def test_the_keys_of_a_deployment_go_through(kept: str) -> None:
    keys = parse_keys(rotated_text(kept))
    assert len(keys) == 2 and keys[1].id == "first" and len(keys[0].secret) == 64
    token = Signer(parse_keys(kept)).sign(CLAIMS)
    assert Signer(keys).verify(token, 0) == CLAIMS


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", "{", '{"a": 1}', "a:" + "b" * 20_000])
def test_what_is_no_keys_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="the text is not a list of signing keys"):
        rotated_text(text)


def test_they_are_read_from_standard_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stepless", "keys", "rotate", "--signing", "-"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    ended = subprocess.run(
        command, input="first:abc", env=environment, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    assert json.loads(ended.stdout)["first"] == "abc"


def test_signing_keys_behind_a_url_are_not_touched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "rotate", "--signing", "--url", "http://127.0.0.1:9"]) == 2
    assert "docs/run/operations.md" in capsys.readouterr().err


def test_a_hint_to_a_file_makes_its_run_due(file: str) -> None:
    built = attached(file)
    try:
        world = built.service.world
        built.service.publish({"id": "hello", "nodes": {"a": {"type": "manual"}}})
        run_id = built.service.start("hello", {}).run_id
        world.queue.send(Message(run_id, "signal"))
        assert [head.run_id for head in world.store.list_due(world.clock.now_ms(), limit=10)] == [run_id]
    finally:
        built.close()
