"""Checks a page of documentation as a reader would use it: every block of code is run, or checked against what it names, in order
and in one folder. A block of an unknown language fails.

Commands in `bash` and `console` are run; those in `sh` are only checked against the programs that they call. Words after the
language of a block: a file's name (also possible in the first line, `# hello.yaml`) writes the block to that file; `broken` is a
workflow that must be refused; `fails` is a test that must fail; `picture` is a drawing; `refused`, `warned`, `lifted` and
`compiled` are examples of sources of flows, which are compiled (`flow_blocks`).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import flow_blocks
import yaml
from forms import INSIGHTS, faults, functions_of
from pages import Block, commands
from terminal import Terminal, agrees, plain

from stepless.compile import check_document, parse
from stepless.model.findings import Severity
from stepless.nodes import KINDS

OF_A_DEPLOYMENT = ("docs/run/operations.md",)
CHANGES_THE_MACHINE = ("make", "aws", "sam", "pip")  # or needs an account: only its form is checked
MAX_PICTURE_COLUMNS = 105
LOOKING = ("stepless runs show", "stepless runs list")  # at what a server is about to do: looked at again, up to
LOOKS = 30  # times


class Reader:
    """Handles each block of a page by its language."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder = folder
        self.terminal = Terminal(folder, state)
        self.said: str | None = None

    def read(self, block: Block) -> None:
        do = LANGUAGES.get(block.language)
        assert do is not None, f"{block.place}: there is no check for a block of {block.language or 'no language'}"
        if block.file is not None:
            (self.folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / block.file).write_text(block.text, "utf-8")
        do(self, block)

    def workflow(self, block: Block) -> None:
        content = yaml.safe_load(block.text) if block.language == "yaml" else json.loads(block.text)
        if not isinstance(content, dict) or "nodes" not in content:
            assert "broken" not in block.marks, block.place
            return
        findings = check_document(parse(block.text), KINDS)
        if "broken" in block.marks:
            assert any(finding.severity is Severity.ERROR for finding in findings), f"{block.place}: the workflow has no error"
        else:
            assert list(findings) == [], block.place

    def python(self, block: Block) -> None:
        if flow_blocks.mark_of(block) is not None:
            flow_blocks.check(block, self.folder)
            return
        compile(block.text, block.place, "exec")
        name = block.file
        if name is None:
            self.said, code = self.terminal.python(block.text)
            assert code == 0, f"{block.place}: {self.said}"
        elif name.rpartition("/")[2].startswith("test_"):
            self.said, code = self.terminal.run(f"pytest -q --color=no {name}")
            assert (code == 1) == ("fails" in block.marks) and code in (0, 1), f"{block.place}: {self.said}"

    def toml(self, block: Block) -> None:
        assert tomllib.loads(block.text), block.place

    def console(self, block: Block) -> None:
        """Commands after `$ `, each with its output. A command without output on the page may print anything."""
        for command, shown in commands(block.text):
            if judged_by_form(command):
                assert list(faults(command)) == [], block.place
                continue
            shown = self.terminal.here(shown)  # noqa: PLW2901
            for _ in range(LOOKS if command.startswith(LOOKING) else 1):
                said, _ = self.terminal.run(command)
                if not shown or agrees(shown, said):
                    break
            else:
                raise AssertionError(f"{block.place}: {command}\n" + "\n".join(plain(said)))

    def bash(self, block: Block) -> None:
        """Commands that must succeed; on a page about a deployment they are only shown."""
        if block.page in OF_A_DEPLOYMENT:
            self.form(block)
            return
        for command, _ in commands(block.text):
            if judged_by_form(command):
                assert list(faults(command)) == [], block.place
                continue
            said, code = self.terminal.run(command)
            assert code == 0, f"{block.place}: {command}\n{said}"
            self.said = said

    def form(self, block: Block) -> None:
        """Commands that are shown and not run: the things that they name must exist."""
        for command, _ in commands(block.text):
            assert list(faults(command, functions_of(block.text))) == [], block.place

    def text(self, block: Block) -> None:
        """A drawing, or the output of the block before it."""
        if "picture" in block.marks:
            assert all(len(line) <= MAX_PICTURE_COLUMNS for line in block.text.splitlines()), block.place
            return
        assert self.said is not None, f"{block.place}: no command was run before this output"
        assert agrees(block.text, self.said), f"{block.place}\n" + "\n".join(plain(self.said))


LANGUAGES: Mapping[str, Callable[[Reader, Block], None]] = {
    "yaml": Reader.workflow,
    "json": Reader.workflow,
    "python": Reader.python,
    "console": Reader.console,
    "bash": Reader.bash,
    "sh": Reader.form,
    "text": Reader.text,
    "toml": Reader.toml,
}


def judged_by_form(command: str) -> bool:
    words = command.split()
    first = next((word for word in words if "=" not in word), "")
    elsewhere = any(word in command for word in ("$URL", "https://", "-m venv"))
    return first.rpartition("/")[2] in {*CHANGES_THE_MACHINE, *INSIGHTS} or elsewhere or ".venv/" in command
