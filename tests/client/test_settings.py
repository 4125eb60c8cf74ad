"""What a client is given, and what importing it costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from served_api import KEY, Served

from stepless.cli.reach import gateway
from stepless.client import AsyncClient, Client, InvalidSetting
from stepless.client.settings import KEY_VARIABLE, URL_VARIABLE, connection

ENGINE = Path(__file__).parents[2] / "engine"
LIST = "import sys, stepless.client; print(*sys.modules, sep='\\n')"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"url": "ftp://host"}, "setting_invalid"), ({"url": "host:80"}, "setting_invalid"),
    ({"url": "http://[::"}, "setting_invalid"),
    ({"key": "a\nb"}, "setting_invalid"), ({"timeout_s": 0}, "setting_invalid"), ({"timeout_s": 601}, "setting_invalid"),
    ({"retry_for_s": -1}, "setting_invalid"), ({"retry_for_s": 3601}, "setting_invalid"), ({"url": ""}, "setting_missing"),
]  # fmt: skip


def test_address_and_key_come_from_the_environment(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPLESS_URL", server.url)
    monkeypatch.setenv("STEPLESS_API_KEY", KEY)
    with Client() as client:
        assert client.start("echo", wait_s=20)["outcome"] is not None


def test_the_command_line_reads_the_same_variables() -> None:
    assert (gateway.URL_VARIABLE, gateway.KEY_VARIABLE) == (URL_VARIABLE, KEY_VARIABLE) == ("STEPLESS_URL", "STEPLESS_API_KEY")


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(("given", "code"), WRONG)
def test_a_wrong_setting_is_told_at_once(kind: type, given: dict[str, Any], code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEPLESS_URL", raising=False)
    with pytest.raises(InvalidSetting) as caught:
        kind(**{"url": "http://127.0.0.1:1", "key": KEY, **given})
    assert caught.value.code == code and caught.value.mend


@pytest.mark.parametrize(
    ("url", "trusted"), [("http://127.0.0.1:1", False), ("http://[::1]:1", False), ("https://flows.example.com", True)]
)
def test_proxies_of_the_environment_are_for_remote_servers(url: str, trusted: bool) -> None:
    assert connection(url, "", 1)["trust_env"] is trusted


@pytest.mark.parametrize("package", ["fastapi", "starlette", "boto3", "botocore", "pydantic", "uvicorn", "yaml", "sqlite3"])
def test_the_client_is_imported_without(package: str) -> None:
    assert package not in imported()


def test_of_the_engine_the_client_imports_limits_alone() -> None:
    own = {name for name in imported() if name.startswith("stepless.") and not name.startswith("stepless.client")}
    assert own == {"stepless.limits"}


def imported() -> frozenset[str]:
    said = subprocess.run(
        [sys.executable, "-c", LIST], env={**os.environ, "PYTHONPATH": str(ENGINE)}, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    return frozenset(said.stdout.split())
