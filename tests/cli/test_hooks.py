"""`hooks try`: the request that a sender would send, to a server or a file, or as a curl command."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.cli import main
from stepless.model.triggers.webhook_schemes import SCHEMES
from stepless.runtime.triggers import ecdsa
from stepless.runtime.wiring.local import local

Say = Callable[..., tuple[int, str, str]]
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def hooked(auth: Any, name: str = "w", **more: Any) -> dict[str, Any]:
    params = {"path": f"/{name}", "auth": auth, **more}
    nodes = {"n": {"type": "webhook", "with": params}, "got": {"type": "transform", "after": "n", "with": {"value": "<n>"}}}
    return {"id": name, "env": ["KEY"], "nodes": nodes}


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", SECRET)


@pytest.fixture
def publish(tmp_path: Path) -> Callable[..., None]:
    def put(*documents: dict[str, Any]) -> None:
        built = local(str(tmp_path / "runs.db"))
        for document in documents:
            built.service.publish(document)
        built.close()

    return put


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "sendgrid"])
def test_each_scheme_accepts_what_is_sent(scheme: str, say: Say, publish: Any) -> None:
    publish(hooked({"scheme": scheme, "secret": ["${KEY}"]}))
    code, told, complaint = say("hooks", "try", "/w", "--json")
    answer = json.loads(told or complaint)
    assert (code, answer["status"]) == (0, 202), answer
    assert answer["run_id"].startswith("run_") and SCHEMES[scheme].header in answer["headers"]


@pytest.mark.parametrize("auth", [
    {"hmac": "${KEY}", "template": "{method} {url} {body}", "algorithm": "sha512"}, {"bearer": "${KEY}"}, "none",
])  # fmt: skip
def test_so_do_the_other_forms_of_auth(auth: Any, say: Say, publish: Any) -> None:
    publish(hooked(auth, method=["PUT", "POST"]))
    code, told, _ = say("hooks", "try", "w", "--body", '{"a":  1}', "--query", "x=1&x=2")
    assert code == 0 and told.startswith("PUT /hooks/w?x=1&x=2  202  run_")


def test_a_request_that_is_refused_is_told_with_code_1(say: Say, publish: Any) -> None:
    publish(hooked({"hmac": "${KEY}"}, schema={"type": "object", "required": ["order"]}))
    code, told, _ = say("hooks", "try", "/hooks/w")
    assert code == 1 and "422" in told and "schema_violated" in told
    code, told, _ = say("hooks", "try", "/w", "--body", '{"order": 1}', "--secret", "wrong")
    assert code == 1 and "bad_signature" in told and SECRET not in told


def test_a_private_key_is_made_and_its_public_key_is_told(say: Say, publish: Any, tmp_path: Path, monkeypatch: Any) -> None:
    publish(hooked({"scheme": "sendgrid", "secret": "${KEY}"}))
    file = tmp_path / "key.pem"
    code, _, complaint = say("hooks", "try", "/w")
    assert code == 2 and "--private-key" in complaint
    code, _, complaint = say("hooks", "try", "/w", "--private-key", str(file))
    public = ecdsa.public_of(file.read_text())
    assert code == 1 and public in complaint and "${KEY}" in complaint and file.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("KEY", public)
    code, told, complaint = say("hooks", "try", "/w", "--private-key", str(file))
    assert (code, complaint) == (0, "") and "202" in told
    file.write_text("nonsense")
    assert say("hooks", "try", "/w", "--private-key", str(file))[0] == 2


@pytest.mark.parametrize(("words", "told"), [
    (["/none"], "unknown_hook"), (["many"], "give one of its paths: /a, /b"), (["none"], "unknown_workflow"),
    (["/w", "--body", "@missing.json"], "missing.json"),
])  # fmt: skip
def test_what_cannot_be_sent_is_bad_input(words: list[str], told: str, say: Say, publish: Any) -> None:
    both = hooked("none", "many")
    both["nodes"] |= {name: {"type": "webhook", "with": {"path": f"/{name}", "auth": "none"}} for name in ("a", "b")}
    del both["nodes"]["n"], both["nodes"]["got"]
    publish(hooked("none"), both)
    code, _, complaint = say("hooks", "try", *words)
    assert code == 2 and told.lower() in complaint.lower()


def test_without_its_secret_nothing_is_sent(say: Say, publish: Any, monkeypatch: Any) -> None:
    publish(hooked({"hmac": "${KEY}"}))
    monkeypatch.delenv("KEY")
    code, _, complaint = say("hooks", "try", "/w")
    assert code == 2 and "Set KEY in the environment, or give --secret" in complaint


@pytest.mark.parametrize("body", [b'{"it\'s": "$HOME `x` \\" ! \xc3\xbc"}', bytes(range(256)), b"@a", b""])
def test_the_printed_command_sends_the_same_bytes(body: bytes, say: Say, publish: Any, tmp_path: Path) -> None:
    """The command is run with a program in place of curl that stores what curl would send."""
    publish(hooked({"scheme": "github", "secret": "${KEY}"}))
    (tmp_path / "body").write_bytes(body)
    code, told, _ = say("hooks", "try", "/w", "--body", f"@{tmp_path / 'body'}", "--print")
    assert code == 0 and SECRET not in told
    curl = tmp_path / "curl"
    curl.write_text(
        '#!/bin/sh\nwhile [ $# -gt 0 ]; do if [ "$1" = --data-binary ]; then'
        f' if [ "$2" = @- ]; then cat; else printf %s "$2"; fi > {shlex.quote(str(tmp_path / "sent"))}; fi; shift; done\n'
    )
    curl.chmod(0o755)
    subprocess.run(["sh", "-c", told], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=True)
    assert ((tmp_path / "sent").read_bytes() if body else b"") == body


def test_a_server_is_called_without_the_api_key(serve: Any, write: Any, capsys: Any, monkeypatch: Any) -> None:
    write("w.json", json.dumps(hooked({"scheme": "trello", "secret": "${KEY}"})))
    server = serve(KEY=SECRET)
    monkeypatch.setenv("KEY", SECRET)
    url = str(server.client.base_url).rstrip("/")
    assert main(["hooks", "try", "/w", "--body", '{"action": {"id": "a1"}}', "--url", url, "--key", "k", "--json"]) == 0
    run_id = json.loads(capsys.readouterr().out)["run_id"]
    seen = server.client.get(f"/runs/{run_id}").json()["inputs"]
    assert "authorization" not in seen["headers"] and seen["body"] == {"action": {"id": "a1"}}
