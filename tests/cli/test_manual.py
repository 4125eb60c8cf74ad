"""Every command has a help text, is in docs/run/cli.md with valid examples, and can be completed by shells."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from stepless.cli import main
from stepless.cli.command.main import VERBS, parser
from stepless.cli.command.manual import render

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = re.compile(r"^ *(?:\w+=\S+ )*stepless (.+)$")
SHELL = re.compile(r" +#.*| *[|<>&]+.*")  # what is the shell's: comments, pipes, files


def examples(text: str) -> list[list[str]]:
    found = [EXAMPLE.match(line) for line in text.splitlines()]
    return [shlex.split(SHELL.sub("", match[1])) for match in found if match is not None]


@pytest.mark.parametrize("words", [*(verb.words for verb in VERBS), "", "runs", "keys", "workflows"])
@pytest.mark.parametrize("columns", ["60", "80"])
def test_the_help_has_examples_and_fits(
    words: str, columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main([*words.split(), "--help"]) == 0
    told = capsys.readouterr().out
    assert "examples:\n  stepless" in told
    shown = told.split("examples:\n")
    assert [line for line in shown[0].splitlines() if len(line) > int(columns)] == []
    assert [line for line in shown[1].splitlines() if len(line) > 100] == []  # commands are not wrapped


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.words.replace(" ", "-"))
def test_a_verb_takes_its_own_examples(verb: object) -> None:
    assert any(parser().parse_args(_joined(words)).verb is verb for words in examples(verb.examples))  # type: ignore[attr-defined]


def test_all_examples_can_be_read() -> None:
    told = render() + (ROOT / "engine/stepless/cli/project/README.md").read_text()
    read = [parser().parse_args(_joined(words)).verb.words for words in examples(told)]
    assert {verb.words for verb in VERBS} == set(read)


def _joined(words: list[str]) -> list[str]:
    return [f"{word}=yes" if word == "--approve" else word for word in words]


def test_the_page_is_made_from_the_verbs() -> None:
    assert (ROOT / "docs/run/cli.md").read_text() == render(), "python -m stepless.cli.command.manual > docs/run/cli.md"


def test_a_verb_that_does_not_exist_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "lst"]) == 2
    told = capsys.readouterr().err
    assert "lst" in told and "[usage]" in told and "stepless runs --help" in told
    assert main(["runs", "lst", "--json"]) == 2
    assert capsys.readouterr().err.startswith('{"error": {"code": "usage"')


def test_a_refused_argument_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "ksh"]) == 2
    assert "shell must be one of `bash`, `zsh`, `fish`, not `ksh`" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_every_verb(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for verb in VERBS for word in verb.words.split())
    file = tmp_path / f"stepless.{shell}"
    file.write_text(script)
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n", str(file)], check=True, timeout=60)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here: install it")
def test_bash_completes_verbs_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "stepless.bash"
    script.write_text(capsys.readouterr().out)

    def completed(*words: str) -> set[str]:
        asked = f'. {script}; f=$(complete -p stepless | sed "s/.*-F \\([^ ]*\\).*/\\1/"); COMP_WORDS=({" ".join(words)}); '
        asked += f"COMP_CWORD={len(words) - 1}; $f stepless '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        ended = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, timeout=60)
        return set(ended.stdout.split())

    assert completed("stepless", "ru") == {"run", "runs"}
    assert {"resume", "rerun", "redeliver", "release"} >= completed("stepless", "runs", "re") >= {"resume", "rerun"}
    assert completed("stepless", "runs", "list", "--sta") == {"--status"}
